/* What a fast connection costs: opens N connections between two processes, makes TRIPS round trips of SIZE bytes on each, one after the other, and
 * prints what memory and time each took.
 *
 *   cc -O2 contract/many.c -o many; FASTSOCK_AFTER=8 LD_PRELOAD=libfastsock.so ./many N TRIPS SIZE
 *
 * Memory: that of the whole system which is shared (Shmem of /proc/meminfo), so nobody else should take or give back much meanwhile; and page tables of
 * both processes (VmPTE). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(x) do { if (!(x)) { perror(#x); exit(1); } } while (0)

static long figure(const char *file, const char *key)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen(file, "r");
    MUST(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, key, strlen(key))) sscanf(line + strlen(key), ": %ld", &kib);
    fclose(f);
    return kib;
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static void all(int fd, char *p, long n, int out)
{
    while (n) { ssize_t did = out ? write(fd, p, (size_t)n) : read(fd, p, (size_t)n); MUST(did > 0); p += did; n -= did; }
}
static void trips(int fd, int server, long count, long size, char *buffer)
{
    while (count--) { all(fd, buffer, size, !server); all(fd, buffer, size, server); }
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    long n = atol(argv[1]), count = atol(argv[2]), size = atol(argv[3]), fast = 0;
    int server = argc > 4, one = 1, *fds = calloc((size_t)n, sizeof *fds);
    char *buffer = calloc(1, (size_t)size), port[16];
    struct sockaddr_in a = {0};
    socklen_t len = sizeof a;
    struct rlimit most;
    MUST(fds && buffer);
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int l = server ? atoi(argv[4]) : socket(AF_INET, SOCK_STREAM, 0);
    if (server) {
        for (long i = 0; i < n; i++) MUST((fds[i] = accept(l, NULL, NULL)) >= 0 && !setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
        for (long i = 0; i < n; i++) trips(fds[i], 1, count, size, buffer);
        MUST(read(fds[0], buffer, 1) == 1);
        printf("page tables of the server %.1f KiB a connection\n", (double)figure("/proc/self/status", "VmPTE") / (double)n);
        return 0;
    }
    MUST(!bind(l, (struct sockaddr *)&a, len) && !listen(l, 4096) && !getsockname(l, (struct sockaddr *)&a, &len));
    snprintf(port, sizeof port, "%d", l);
    pid_t child = fork();
    if (!child) { execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], port, (char *)NULL); _exit(1); }
    close(l);
    for (long i = 0; i < n; i++) {
        MUST((fds[i] = socket(AF_INET, SOCK_STREAM, 0)) >= 0 && !connect(fds[i], (struct sockaddr *)&a, len));
        MUST(!setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
    }
    long shared = figure("/proc/meminfo", "Shmem"), tables = figure("/proc/self/status", "VmPTE");
    double begun = now();
    for (long i = 0; i < n; i++) trips(fds[i], 0, count, size, buffer);
    double took = now() - begun;
    int (*is_fast)(int);
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    for (long i = 0; i < n; i++) fast += is_fast && is_fast(fds[i]);
    printf("%ld connections, %ld fast, %ld trips of %ld B: %.1f us, shared memory %.1f KiB, page tables %.1f KiB a connection\n", n, fast, count, size,
           took * 1e6 / (double)n, (double)(figure("/proc/meminfo", "Shmem") - shared) / (double)n,
           (double)(figure("/proc/self/status", "VmPTE") - tables) / (double)n);
    fflush(stdout);
    MUST(write(fds[0], "", 1) == 1);
    waitpid(child, NULL, 0);
    return 0;
}
