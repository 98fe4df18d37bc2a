/* A connection for each transaction: connect, one message there, one back, close. The server makes its listener itself and accepts one
 * connection after the other, as the paper's programs did.
 *
 *   rate COUNT [BYTES [level|edge]]     prints the time of a transaction and the CPU time that both processes used for it
 *
 * With a third word the server is an event loop: a set of epoll holds its listener and its connection, by level or by edge.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static double used(int who) { struct rusage u; getrusage(who, &u); return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6; }
static int all(int fd, char *p, size_t n) { while (n) { ssize_t r = read(fd, p, n); if (r <= 0) return 0; p += r; n -= (size_t)r; } return 1; }

/* The server's part of a transaction, in a set. */
static int serve(int e, int l, char *buffer, size_t bytes, unsigned how)
{
    struct epoll_event event = {EPOLLIN | how, {.u32 = 1}}, got;
    size_t have = 0;
    int fd;
    if (epoll_wait(e, &got, 1, -1) != 1 || got.data.u32 != 0 || (fd = accept4(l, NULL, NULL, SOCK_NONBLOCK)) < 0) return 0;
    if (epoll_ctl(e, EPOLL_CTL_ADD, fd, &event)) return 0;
    for (;;) {
        ssize_t r;
        /* The next connection may wait beside this one. */
        do if (epoll_wait(e, &got, 1, -1) != 1) return 0; while (got.data.u32 != 1);
        while ((r = read(fd, buffer + have % bytes, bytes - have % bytes)) > 0) {
            have += (size_t)r;
            if (have % bytes) continue;
            memset(buffer, buffer[0] + 1, bytes);
            if (write(fd, buffer, bytes) != (ssize_t)bytes) return 0;
        }
        if (r == 0) return !close(fd);
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int count = argc > 1 ? atoi(argv[1]) : 10000, told[2], fast = 0;
    size_t bytes = argc > 2 ? (size_t)atoi(argv[2]) : 1;
    char *buffer = calloc(1, bytes);
    int (*is_fast)(int);
    double begun, mine;
    pid_t child;
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    if (pipe(told)) return 1;
    if ((child = fork()) == 0) {
        int l = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(l, (struct sockaddr *)&a, len) || listen(l, 64) || getsockname(l, (struct sockaddr *)&a, &len)) _exit(1);
        if (write(told[1], &a, sizeof a) != sizeof a) _exit(1);
        if (argc > 3) {
            struct epoll_event event = {EPOLLIN, {.u32 = 0}};
            int e = epoll_create1(EPOLL_CLOEXEC);
            if (epoll_ctl(e, EPOLL_CTL_ADD, l, &event)) _exit(1);
            for (int i = 0; i < count; i++) if (!serve(e, l, buffer, bytes, strcmp(argv[3], "edge") ? 0 : (unsigned)EPOLLET | EPOLLRDHUP)) _exit(1);
            _exit(0);
        }
        for (int i = 0; i < count; i++) {
            int fd = accept(l, NULL, NULL);
            if (fd < 0 || !all(fd, buffer, bytes)) _exit(1);
            memset(buffer, buffer[0] + 1, bytes);
            if (write(fd, buffer, bytes) != (ssize_t)bytes || read(fd, buffer, 1) != 0 || close(fd)) _exit(1);
        }
        _exit(0);
    }
    if (read(told[0], &a, sizeof a) != sizeof a) return 1;
    begun = now();
    mine = used(RUSAGE_SELF);
    for (int i = 0; i < count; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&a, len)) { perror("connect"); return 1; }
        memset(buffer, i, bytes);
        if (write(fd, buffer, bytes) != (ssize_t)bytes || !all(fd, buffer, bytes)) { printf("connection %d ended\n", i); return 1; }
        if (buffer[bytes - 1] != (char)(i + 1)) { printf("connection %d has somebody else's byte\n", i); return 1; }
        fast += is_fast && is_fast(fd);
        close(fd);
    }
    begun = now() - begun;
    mine = used(RUSAGE_SELF) - mine;
    { int status; waitpid(child, &status, 0); if (status) { printf("server: %d\n", status); return 1; } }
    printf("%.2f us a transaction, CPU time %.2f us, %.1f%% fast\n", begun / count * 1e6, (mine + used(RUSAGE_CHILDREN)) / count * 1e6, 100.0 * fast / count);
    return 0;
}
