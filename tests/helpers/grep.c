/* SPDX-License-Identifier: MPL-2.0
 * `grep -Fnx TEXT FILE` for Windows: a small program, because Wine 8's findstr does nothing and a
 * start of Python takes as long as a copy. */

#include <stdio.h>
#include <string.h>

static char line[1 << 16];

int main(int count, char **words)
{
    int number, matches = 0;
    FILE *file;

    if (count != 4 || strcmp(words[1], "-Fnx") != 0 || !(file = fopen(words[3], "rb"))) {
        fprintf(stderr, "usage: grep -Fnx TEXT FILE\n");
        return 2;
    }
    for (number = 1; fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (strcmp(line, words[2]) == 0) {
            printf("%d:%s\n", number, line);
            matches++;
        }
    }
    return matches == 0;
}
