#!/bin/busybox sh
# SPDX-License-Identifier: MPL-2.0
# The first process of a virtual machine: runs the script of the shared folder in the host's own file
# system, which is read-only here, and switches the machine off, whatever happens.
set -eu

trap '/bin/busybox poweroff -f' EXIT
host=/host
mount() { /bin/busybox mount "$@"; }
mkdir() { /bin/busybox mkdir "$@"; }

mkdir -p /dev "$host"
mount -t devtmpfs none /dev
exec </dev/null >/dev/console 2>&1
while read -r module; do
    /bin/busybox insmod "/modules/$module"
done </modules/order

share() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144,$2" "$1" "$3"; }
share root ro,cache=loose "$host"
mount -t devtmpfs none "$host/dev"
mount -t proc none "$host/proc"
mount -t sysfs none "$host/sys"
mount -t cgroup2 none "$host/sys/fs/cgroup"
# What the machine may write. The host's own files in there are not seen.
mount -t tmpfs none "$host/run"
mkdir "$host/run/lock" "$host/run/tmp" "$host/run/share"
share share rw "$host/run/share"

export HOME=/run TMPDIR=/run/tmp LANG=C.UTF-8
code=0
/bin/busybox chroot "$host" /bin/bash -eu /run/share/run || code=$?
echo "$code" >"$host/run/share/code"
