/* Begun by the case passed_on in place of its last program: loads the library as a system does that has it in all programs, and tells what that took of what was left.
 * The file's mode decides whether it may do more than whoever begins it.
 * secure exec x DESCRIPTOR COUNT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = argc > 3 ? atoi(argv[3]) : -1, (*ways)(int);
    void *library = dlopen(LIBRARY, RTLD_NOW);
    if (!library || !(*(void **)&ways = dlsym(library, "fastsock_fast_ways"))) return 2;
    printf("secure %d, ways %d, told %d\n", getauxval(AT_SECURE) != 0, ways(fd), getenv("FASTSOCK_LEFT") != NULL);
    fflush(stdout);
    return write(fd, "okay", 4) == 4 ? 0 : 3;
}
