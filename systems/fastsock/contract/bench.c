/* Round trips of one byte and a stream, over a TCP connection between two processes, with plain blocking calls.
 *
 *   bench [PIN]      prints the median round trip, and the speed of streams and what they cost the sender; with an argument the two processes have CPUs of their own
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIPS = 20000 };
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static int order(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return x < y ? -1 : x > y; }
static void all(ssize_t (*move)(int, void *, size_t), int fd, char *p, size_t n)
{
    while (n) { ssize_t m = move(fd, p, n); if (m <= 0) _exit(1); p += m; n -= (size_t)m; }
}
static ssize_t out(int fd, void *p, size_t n) { return write(fd, p, n); }
static ssize_t in(int fd, void *p, size_t n) { return read(fd, p, n); }
static void pin(int on, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (on) sched_setaffinity(0, sizeof set, &set);
}

int main(int argc, char **argv)
{
    static double times[TRIPS];
    static const size_t sizes[] = {64, 1024, 4096, 65536, 1048576};
    char *buffer = calloc(1, 1 << 20), c = 0;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0), one = 1, fd;
    pid_t child;
    (void)argv;
    if (!buffer || bind(l, (struct sockaddr *)&a, len) || listen(l, 1) || getsockname(l, (struct sockaddr *)&a, &len)) return 1;
    child = fork();
    if (child == 0) {
        pin(argc > 1, 1);
        fd = accept(l, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (int i = 0; i < TRIPS; i++) { all(in, fd, &c, 1); all(out, fd, &c, 1); }
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t total = sizes[s] < 1000 ? 64 << 20 : 1 << 30;
            for (size_t got = 0; got < total; got += sizes[s]) all(in, fd, buffer, sizes[s]);
            all(out, fd, &c, 1);
        }
        _exit(0);
    }
    pin(argc > 1, 0);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&a, len)) return 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (int i = 0; i < TRIPS; i++) {
        double begun = now();
        all(out, fd, &c, 1);
        all(in, fd, &c, 1);
        times[i] = now() - begun;
    }
    qsort(times, TRIPS, sizeof *times, order);
    printf("round trip %.2f us (p99 %.2f)", times[TRIPS / 2] * 1e6, times[TRIPS / 100 * 99] * 1e6);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t total = sizes[s] < 1000 ? 64 << 20 : 1 << 30;
        double begun = now(), worked = cpu();
        for (size_t sent = 0; sent < total; sent += sizes[s]) all(out, fd, buffer, sizes[s]);
        all(in, fd, &c, 1);
        printf("\n  %7zu B %6.3f GB/s, %6.2f GB for a second of the sender's CPU", sizes[s], (double)total / (now() - begun) / 1e9,
               (double)total / (cpu() - worked) / 1e9);
    }
    printf("\n");
    waitpid(child, NULL, 0);
    return 0;
}
