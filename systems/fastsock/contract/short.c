/* Connections of a few round trips of one byte each: connect, that many trips, close. What a connection costs while it is short.
 *
 *   short TRIPS      prints the median time of 400 connections
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 400 };
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static int order(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return x < y ? -1 : x > y; }

int main(int argc, char **argv)
{
    static double times[CONNECTIONS];
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0), one = 1, trips = argc > 1 ? atoi(argv[1]) : 1;
    char c = 0;
    pid_t child;
    if (bind(l, (struct sockaddr *)&a, len) || listen(l, 10) || getsockname(l, (struct sockaddr *)&a, &len)) return 1;
    child = fork();
    if (child == 0) {
        for (int i = 0; i < CONNECTIONS; i++) {
            int fd = accept(l, NULL, NULL);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            while (read(fd, &c, 1) == 1) if (write(fd, &c, 1) != 1) _exit(1);
            close(fd);
        }
        _exit(0);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        double begun = now();
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&a, len)) return 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (int trip = 0; trip < trips; trip++) if (write(fd, &c, 1) != 1 || read(fd, &c, 1) != 1) return 1;
        close(fd);
        times[i] = now() - begun;
    }
    qsort(times, CONNECTIONS, sizeof *times, order);
    printf("%d trips: %.1f us\n", trips, times[CONNECTIONS / 2] * 1e6);
    waitpid(child, NULL, 0);
    return 0;
}
