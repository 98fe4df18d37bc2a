/* Calls as programs make them that are compiled with checks of their buffers (Debian's are): the C library has names of its own for these. */
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
#include "cases.h"
#if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL < 2
#error "the C library's headers check no buffers"
#endif

/* How much is asked for the compiler is not to know, how much room there is it knows. */
void fortified(int fd, int server)
{
    volatile size_t n = 3;
    volatile nfds_t one = 1;
    struct pollfd p[2] = {{fd, POLLIN, 0}, {-1, 0, 0}};
    struct timespec t = {50, 0}, none = {0, 0};
    char b[8] = {0}, c[8] = {0}, d[8] = {0}, e[8] = {0};
    if (server) { sync_wait(fd); all_out(fd, "abcdefghi", 9); sync_wait(fd); dprintf(fd, "%zu", n); sync_wait(fd); return; }
    printf("poll %d", poll(p, one, 0)); printf(" %d\n", ppoll(p, one, &none, NULL));
    sync_send(fd);
    printf("poll %d", poll(p, one, 50000)); printf(" %d\n", ppoll(p, one, &t, NULL));
    all_there(fd, 9);
    printf("recv %zd", recv(fd, b, n, 0)); printf(" read %zd", read(fd, c, n)); printf(" recvfrom %zd", recvfrom(fd, d, n, 0, NULL, NULL));
    printf(" %s %s %s\n", b, c, d);
    fprintf(stderr, "%s\n", fast_now(fd) ? "fast" : "kernel");
    sync_send(fd);
    printf("recv %zd", recv(fd, e, n - 2, 0)); printf(" %s\n", e);
    sync_send(fd);
}
