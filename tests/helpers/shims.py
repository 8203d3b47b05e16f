# SPDX-License-Identifier: MPL-2.0
"""A storage driver that is slow, has one lock, or shows files late: put before the C library's calls.

Seed 003's drivers, without a kernel of their own. Each look at a name sleeps, so that how many looks
are done at once does not depend on the machine's CPUs or on what else they do; a lock around the
sleep lets one process after the other look.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from storage_lab import needs, run

DELAY_US = 50

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

long shim_looks;
static long delay_us, hidden_ms;
static pthread_mutex_t *lock;
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_path[4096];
static long last_ms, last_thread;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_mutexattr_t kind;
    delay_us = number("SHIM_DELAY_US");
    hidden_ms = number("SHIM_HIDDEN_MS");
    if (!number("SHIM_LOCK"))
        return;
    lock = mmap(0, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lock == MAP_FAILED)
        abort();
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    /* Members of a crew are killed, maybe while they hold it. */
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    /* Such a lock is handed to whoever waits: no process takes it again and again. */
    pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    if (pthread_mutex_init(lock, &kind))
        abort();
}

static void wait_for_driver(void)
{
    struct timespec delay = {0, delay_us * 1000};
    __atomic_add_fetch(&shim_looks, 1, __ATOMIC_RELAXED);
    if (lock && pthread_mutex_lock(lock) == EOWNERDEAD)
        pthread_mutex_consistent(lock);
    if (delay_us)
        nanosleep(&delay, 0);
    if (lock)
        pthread_mutex_unlock(lock);
}

static int is_hidden(const char *path)
{
    int hidden;
    if (!hidden_ms)
        return 0;
    pthread_mutex_lock(&last_lock);
    hidden = !strcmp(path, last_path) && syscall(SYS_gettid) != last_thread
        && now_ms() < last_ms + hidden_ms;
    pthread_mutex_unlock(&last_lock);
    return hidden;
}

static int opened(int descriptor, const char *path, int flags)
{
    if (hidden_ms && descriptor >= 0 && (flags & O_EXCL) && strlen(path) < sizeof last_path) {
        pthread_mutex_lock(&last_lock);
        strcpy(last_path, path);
        last_ms = now_ms();
        last_thread = syscall(SYS_gettid);
        pthread_mutex_unlock(&last_lock);
    }
    return descriptor;
}

#define LOOK(NAME, DECLARED, GIVEN)                                  \
    int NAME DECLARED                                                \
    {                                                                \
        int (*next) DECLARED = dlsym(RTLD_NEXT, #NAME);              \
        wait_for_driver();                                           \
        if (is_hidden(path)) {                                       \
            errno = ENOENT;                                          \
            return -1;                                               \
        }                                                            \
        return next GIVEN;                                           \
    }

#define OPEN(NAME)                                                   \
    int NAME(const char *path, int flags, ...)                       \
    {                                                                \
        int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #NAME); \
        va_list rest;                                                \
        int mode;                                                    \
        va_start(rest, flags);                                       \
        mode = va_arg(rest, int);                                    \
        va_end(rest);                                                \
        wait_for_driver();                                           \
        return opened(next(path, flags, mode), path, flags);         \
    }

LOOK(stat, (const char *path, struct stat *found), (path, found))
LOOK(stat64, (const char *path, struct stat64 *found), (path, found))
LOOK(__xstat, (int version, const char *path, struct stat *found), (version, path, found))
LOOK(__xstat64, (int version, const char *path, struct stat64 *found), (version, path, found))
OPEN(open)
OPEN(open64)
"""

IS_USED = """
import ctypes, os
os.stat("/")
print(ctypes.c_long.in_dll(ctypes.CDLL(None), "shim_looks").value)
"""


@dataclass(frozen=True)
class Shim:
    library: Path

    def environment(self, *, lock: bool = False, hidden_ms: int = 0) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self.library),
            "SHIM_DELAY_US": str(DELAY_US),
            "SHIM_LOCK": str(int(lock)),
            "SHIM_HIDDEN_MS": str(hidden_ms),
        }


def built(folder: Path) -> Shim:
    """The library, if this machine can make it and its Python looks at files by the C library."""
    needs("gcc")
    source, library = folder / "shim.c", folder / "shim.so"
    source.write_text(SOURCE)
    run("gcc", "-O1", "-Wall", "-shared", "-fPIC", "-o", library, source, "-ldl", "-pthread")
    shim = Shim(library)
    asked = subprocess.run(
        [sys.executable, "-c", IS_USED],
        env={**os.environ, **shim.environment()},
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0 or int(asked.stdout) == 0:
        pytest.skip("needs a Python whose calls of stat can be taken by LD_PRELOAD")
    return shim
