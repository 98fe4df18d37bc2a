/* Begins another program, with the descriptors and the environment that it was begun with: linked statically, a program that no library is loaded into.
 * passer FILE PROGRAM WORD...: every number from 3 to 999 means this file from then on, unless FILE is -. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    if (strcmp(argv[1], "-"))
        for (int n = 3, file = atoi(argv[1]); n < 1000; n++)
            if (dup2(file, n) != n) return 3;
    execv(argv[2], argv + 2);
    return 4;
}
