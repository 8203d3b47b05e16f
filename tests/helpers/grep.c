/* SPDX-License-Identifier: MPL-2.0
 * `grep -Fnx TEXT FILE` for Windows: a small program, because Wine 8's findstr does nothing and a
 * start of Python takes as long as a copy. */

#include <stdio.h>
#include <string.h>
#include <windows.h>

static char line[1 << 16], text[1 << 16];

int wmain(int count, wchar_t **words)
{
    int number, matches = 0;
    FILE *file;

    if (count != 4 || wcscmp(words[1], L"-Fnx") != 0 || !(file = _wfopen(words[3], L"rb"))) {
        fprintf(stderr, "usage: grep -Fnx TEXT FILE\n");
        return 2;
    }
    WideCharToMultiByte(CP_UTF8, 0, words[2], -1, text, sizeof text, NULL, NULL);
    for (number = 1; fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (strcmp(line, text) == 0) {
            printf("%d:%s\n", number, line);
            matches++;
        }
    }
    return matches == 0;
}
