/* What a round trip of one byte costs whose receiver sleeps, by how it is woken, without any library around it: the most that a layer above can reach.
 *
 *   doorbells [ROUNDS] [MS]     two processes, each on a CPU of its own; `taskset -c 0 doorbells` puts both on one
 *
 * tcp: the kernel's TCP, blocking, with TCP_NODELAY. futex: a word in shared memory that the sender sets and wakes. event: a read of an event descriptor.
 * both: a poll of an event descriptor and of an idle TCP connection, then a read of the former, as a library has to wait that must learn of the peer's end. The four take
 * turns in windows of some milliseconds. Printed are medians over rounds: the window's time for a trip in us, its median trip and 99th percentile, and how many times tcp's
 * time the others' is (below 1: less).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TCP, FUTEX, EVENT, BOTH, WAYS, MOST = 1 << 16, ROUNDS = 500 };
static const char *names[WAYS] = { "tcp", "futex", "event", "both" };
static struct { _Alignas(128) _Atomic uint32_t turn; } *word[2];
static int event[2], sock[2];

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static int order(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return x < y ? -1 : x > y; }
static double part(double *all, size_t n, double p) { qsort(all, n, sizeof *all, order); return n ? all[(size_t)((double)(n - 1) * p)] : 0; }
static void check(int good, const char *what) { if (!good) { perror(what); exit(1); } }

/* Side `me` tells the other of byte `value`. */
static void tell(int way, int me, uint8_t value)
{
    uint64_t one = 1;
    if (way == TCP) { check(write(sock[me], &value, 1) == 1, "write"); return; }
    atomic_store(&word[1 - me]->turn, value);
    if (way == FUTEX) syscall(SYS_futex, &word[1 - me]->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    else check(write(event[1 - me], &one, 8) == 8, "write to an event descriptor");
}

/* Side `me` waits for the next byte, `last` having been the latest. It never looks before it sleeps. */
static uint8_t hear(int way, int me, uint8_t last)
{
    uint64_t count;
    uint8_t value = 0;
    if (way == TCP) { check(read(sock[me], &value, 1) == 1, "read"); return value; }
    if (way == FUTEX) {
        while (atomic_load(&word[me]->turn) == last) syscall(SYS_futex, &word[me]->turn, FUTEX_WAIT, (uint32_t)last, NULL, NULL, 0);
        return (uint8_t)atomic_load(&word[me]->turn);
    }
    if (way == BOTH) {
        struct pollfd ask[2] = { { sock[me], POLLIN, 0 }, { event[me], POLLIN, 0 } };
        check(poll(ask, 2, -1) > 0, "poll");
    }
    check(read(event[me], &count, 8) == 8, "read of an event descriptor");
    return (uint8_t)atomic_load(&word[me]->turn);
}

static void pin(int side)
{
    cpu_set_t may, set;
    sched_getaffinity(0, sizeof may, &may);
    if (CPU_COUNT(&may) < 2) return;
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && found++ == side) { CPU_ZERO(&set); CPU_SET(cpu, &set); sched_setaffinity(0, sizeof set, &set); return; }
}

int main(int argc, char **argv)
{
    static double trips[MOST], whole[WAYS][ROUNDS], middle[WAYS][ROUNDS], slow[WAYS][ROUNDS], times[WAYS][ROUNDS];
    int rounds = argc > 1 ? atoi(argv[1]) : 25, one = 1, l = socket(AF_INET, SOCK_STREAM, 0);
    double window = (argc > 2 ? atof(argv[2]) : 5) * 1e-3;
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    if (rounds < 1 || rounds > ROUNDS || window <= 0) { fprintf(stderr, "usage: doorbells [ROUNDS up to %d] [MS]\n", ROUNDS); return 2; }
    check(!bind(l, (struct sockaddr *)&a, sizeof a) && !listen(l, 1) && !getsockname(l, (struct sockaddr *)&a, &len), "listen");
    for (int s = 0; s < 2; s++) {
        word[s] = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        check(word[s] != MAP_FAILED && (event[s] = eventfd(0, 0)) >= 0, "memory and event descriptors");
    }
    check((sock[0] = socket(AF_INET, SOCK_STREAM, 0)) >= 0 && !connect(sock[0], (struct sockaddr *)&a, len) && (sock[1] = accept(l, NULL, NULL)) >= 0, "connect");
    for (int s = 0; s < 2; s++) setsockopt(sock[s], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    pid_t parent = getpid(), child = fork();
    check(child >= 0, "fork");
    if (!child) {
        /* Answers each byte in the way that it came; byte 255 is the last of a way. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) return 0;
        pin(1);
        for (int r = 0; r < rounds; r++)
            for (int w = 0; w < WAYS; w++)
                for (uint8_t last = 0;;) {
                    last = hear(w, 1, last);
                    uint8_t said = last;
                    if (said == 255) { atomic_store(&word[1]->turn, 0); last = 0; }
                    tell(w, 1, said);
                    if (said == 255) break;
                }
        return 0;
    }
    pin(0);
    for (int r = 0; r < rounds; r++)
        for (int w = 0; w < WAYS; w++) {
            uint8_t value = 0, last = 0;
            size_t n = 0;
            double begun = now(), before = begun;
            while (before - begun < window && n < MOST) {
                value = value % 254 + 1;
                tell(w, 0, value);
                last = hear(w, 0, last);
                check(last == value, "another byte came back");
                double after = now();
                trips[n++] = after - before;
                before = after;
            }
            whole[w][r] = (before - begun) / (double)n;
            times[w][r] = whole[w][r] / whole[TCP][r];
            middle[w][r] = part(trips, n, 0.5);
            slow[w][r] = part(trips, n, 0.99);
            tell(w, 0, 255);
            while (hear(w, 0, last) != 255) {}
            atomic_store(&word[0]->turn, 0);
        }
    for (int w = 0; w < WAYS; w++) {
        size_t n = (size_t)rounds;
        printf("%-6s %8.2f us a trip, median trip %8.2f, 99th percentile %9.2f; times tcp's %5.2f", names[w], part(whole[w], n, 0.5) * 1e6, part(middle[w], n, 0.5) * 1e6, part(slow[w], n, 0.5) * 1e6, part(times[w], n, 0.5));
        printf(" [%.2f %.2f]\n", part(times[w], n, 0.25), part(times[w], n, 0.75));
    }
    waitpid(child, NULL, 0);
    return 0;
}
