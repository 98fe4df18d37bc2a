/* Takes the bytes up to so many of the cases' stream from a descriptor, and answers there: linked statically, a program that no library is loaded into.
 * reader DESCRIPTOR COUNT [FROM PIPE]: those before FROM are somebody else's; it begins when there is a byte in the pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    unsigned char b[4096];
    int fd = argc > 1 ? atoi(argv[1]) : -1;
    unsigned long at = argc > 3 ? strtoul(argv[3], NULL, 10) : 0, all = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc > 4 && read(atoi(argv[4]), b, 1) != 1) return 2;
    while (at < all) {
        ssize_t r = read(fd, b, all - at < sizeof b ? all - at : sizeof b);
        if (r <= 0) return 3;
        for (ssize_t i = 0; i < r; i++, at++)
            if (b[i] != (unsigned char)(at * 2654435761u >> 13)) return 4;
    }
    return write(fd, "okay", 4) == 4 ? 0 : 5;
}
