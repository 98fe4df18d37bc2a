/* Libraries side by side, in turns: round trips and streams over TCP connections between processes, with plain blocking calls.
 *
 *   bench [pin|free|one] [pairs=N] [rounds=N] [ms=N] [slices=N] [works=r1,w64,s4096,...] NAME=[LIBRARY][,VARIABLE=VALUE...] ...
 *
 * Each pair of processes has a connection. pin: each side has a CPU, the same for all pairs; one: all have the same CPU; free: the system says. A work is
 * r (round trip), w (round trip for which the server computes 5 to 20 us) or s (stream), and a size in bytes. Each round starts every NAME anew, with
 * its library loaded (none: the kernel's TCP) and its variables set, and measures each work in slices of some milliseconds. Printed are medians of
 * rounds: time for a message of a pair [quartiles], of the median slice and of the best tenth; the median and 99th percentile of a trip; how often the
 * sender gave up or lost its CPU for a message, and how much CPU time it used; and how many times as much NAME moved as the first.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, WARM = 300, TIMES = 1 << 16, ROUNDS = 200 };
enum { GO_ON, CONFIRM, ANSWER, WORK, NEXT };
struct work { char kind; size_t size; };
static struct work works[MOST];
static int count, pairs = 1, slices = 20;
static double window = 0.002;
static const char *mode = "pin";

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static int order(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return x < y ? -1 : x > y; }
static double part(double *all, size_t n, double p) { qsort(all, n, sizeof *all, order); return n ? all[(size_t)((double)(n - 1) * p)] : 0; }
static void out(int fd, const char *p, size_t n) { while (n) { ssize_t m = write(fd, p, n); if (m <= 0) _exit(1); p += m; n -= (size_t)m; } }
static void in(int fd, char *p, size_t n) { while (n) { ssize_t m = read(fd, p, n); if (m <= 0) _exit(1); p += m; n -= (size_t)m; } }
static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}
static void place(int side) { if (!strcmp(mode, "pin")) pin(side); else if (!strcmp(mode, "one")) pin(0); }
static void compute(unsigned *seed)
{
    double until = now() + (5 + (double)((*seed = *seed * 1103515245 + 12345) >> 16 & 15)) * 1e-6;
    while (now() < until) {}
}

static void serve(int l)
{
    static char buffer[1 << 20];
    unsigned seed = 1;
    int one = 1, fd = accept(l, NULL, NULL);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (int w = 0; w < count; w++)
        for (;;) {
            in(fd, buffer, works[w].size);
            if (buffer[0] == WORK) compute(&seed);
            if (buffer[0] == CONFIRM) out(fd, buffer, 1);
            if (buffer[0] == ANSWER || buffer[0] == WORK) out(fd, buffer, works[w].size);
            if (buffer[0] == NEXT) break;
        }
    _exit(0);
}

/* Tells the parent for each work what main prints. */
static void ask(struct sockaddr_in *a, int pair, volatile int *ready, int report)
{
    static char buffer[1 << 20];
    static double times[TIMES], rates[1 << 14];
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)a, sizeof *a)) _exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (int w = 0; w < count; w++) {
        size_t size = works[w].size, n = 0;
        int trip = works[w].kind != 's', chunk = trip ? 1 : (int)((128 << 10) / size) + 1;
        double total = 0, spent = 0;
        struct rusage was, is;
        for (int i = 0; w == 0 && i < WARM; i++) { buffer[0] = ANSWER; out(fd, buffer, size); in(fd, buffer, size); }
        for (int i = 0; i < 20; i++) { buffer[0] = CONFIRM; out(fd, buffer, size); in(fd, buffer, 1); }
        __sync_fetch_and_add(&ready[w], 1);
        while (ready[w] < pairs) sched_yield();
        getrusage(RUSAGE_SELF, &was);
        for (int s = 0; s < slices; s++) {
            double begun = now(), last = begun, moved = 0;
            while (last - begun < window) {
                buffer[0] = trip ? works[w].kind == 'w' ? WORK : ANSWER : GO_ON;
                for (int i = 0; i < chunk; i++) { out(fd, buffer, size); if (trip) in(fd, buffer, size); }
                double next = now();
                if (trip && n < TIMES) times[n++] = (next - last) * 1e6;
                last = next;
                moved += chunk;
            }
            if (!trip) { buffer[0] = CONFIRM; out(fd, buffer, size); in(fd, buffer, 1); moved++; last = now(); }
            rates[s] = moved / (last - begun);
            total += moved;
            spent += last - begun;
        }
        getrusage(RUSAGE_SELF, &is);
        double gave_up = (double)(is.ru_nvcsw - was.ru_nvcsw) / total, lost = (double)(is.ru_nivcsw - was.ru_nivcsw) / total;
        double used = ((double)(is.ru_utime.tv_sec + is.ru_stime.tv_sec - was.ru_utime.tv_sec - was.ru_stime.tv_sec) + (double)(is.ru_utime.tv_usec + is.ru_stime.tv_usec - was.ru_utime.tv_usec - was.ru_stime.tv_usec) * 1e-6) / total;
        buffer[0] = NEXT;
        out(fd, buffer, size);
        double all = total / spent, half = part(rates, (size_t)slices, 0.5), best = part(rates, (size_t)slices, 0.9);
        char line[200];
        int len = snprintf(line, sizeof line, "%d %d %g %g %g %g %g %g %g %g\n", w, pair, all, half, best, part(times, n, 0.5), part(times, n, 0.99), gave_up, lost, used * 1e6);
        if (write(report, line, (size_t)len) != len) _exit(1);
    }
    _exit(0);
}

static void measure(int report)
{
    volatile int *ready = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int p = 0; p < pairs; p++) {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof a;
        int l = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(l, (struct sockaddr *)&a, len) || listen(l, 1) || getsockname(l, (struct sockaddr *)&a, &len)) _exit(1);
        if (fork() == 0) { place(1); serve(l); }
        if (fork() == 0) { place(0); ask(&a, p, ready, report); }
        close(l);
    }
    while (wait(NULL) > 0) {}
}

/* What the processes of one NAME find in their environment. FASTSOCK_AFTER: so that the warm-up suffices. */
static void choose(const char *side)
{
    char *list = strdup(side), *item = strsep(&list, ",");
    if (*item) setenv("LD_PRELOAD", item, 1);
    setenv("FASTSOCK_AFTER", "32", 0);
    while ((item = strsep(&list, ","))) putenv(item);
}

static void read_works(const char *list)
{
    for (count = 0; *list && count < MOST; count++) {
        char *end;
        works[count] = (struct work){.kind = *list, .size = strtoul(list + 1, &end, 10)};
        list = *end ? end + 1 : end;
    }
}

int main(int argc, char **argv)
{
    static double found[MOST][MOST][8][ROUNDS];
    const char *names[MOST], *libraries[MOST];
    int sides = 0, rounds = 5, report = -1;
    read_works("r1,r4096,r65536,s64,s1024,s4096,s65536,s1048576");
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) { mode = argv[i]; continue; }
        value++;
        if (!strncmp(argv[i], "pairs=", 6)) pairs = atoi(value);
        else if (!strncmp(argv[i], "rounds=", 7)) rounds = atoi(value);
        else if (!strncmp(argv[i], "slices=", 7)) slices = atoi(value);
        else if (!strncmp(argv[i], "ms=", 3)) window = atof(value) / 1e3;
        else if (!strncmp(argv[i], "works=", 6)) read_works(value);
        else if (!strncmp(argv[i], "report=", 7)) report = atoi(value);
        else { libraries[sides] = value; names[sides++] = strndup(argv[i], (size_t)(value - 1 - argv[i])); }
    }
    if (report >= 0) { measure(report); return 0; }
    char number[20];
    for (int r = 0; r < rounds; r++)
        for (int s = 0; s < sides; s++) {
            int ends[2];
            if (pipe(ends)) return 1;
            pid_t child = fork();
            if (child == 0) {
                char *args[MOST + 8];
                int n = 0;
                close(ends[0]);
                snprintf(number, sizeof number, "report=%d", ends[1]);
                choose(libraries[s]);
                for (int i = 0; i < argc; i++) args[n++] = argv[i];
                args[n++] = number;
                args[n] = NULL;
                execv("/proc/self/exe", args);
                _exit(1);
            }
            close(ends[1]);
            FILE *f = fdopen(ends[0], "r");
            int w, p;
            double v[8], sum[MOST][8] = {{0}};
            while (fscanf(f, "%d %d %lf %lf %lf %lf %lf %lf %lf %lf", &w, &p, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) == 10)
                for (int k = 0; k < 8; k++) sum[w][k] += v[k];
            fclose(f);
            waitpid(child, NULL, 0);
            for (w = 0; w < count; w++) for (int k = 0; k < 8; k++) found[s][w][k][r] = k < 3 ? sum[w][k] : sum[w][k] / pairs;
        }
    printf("%s, %d pair%s, %d rounds; us a message of each pair: whole, median slice, best tenth; p50 and p99 of a trip; ratio of the whole to the first\n", mode, pairs, pairs > 1 ? "s" : "", rounds);
    for (int w = 0; w < count; w++) {
        double first = 0;
        for (int s = 0; s < sides; s++) {
            double v[8];
            for (int k = 0; k < 8; k++) v[k] = part(found[s][w][k], (size_t)rounds, 0.5);
            double low = part(found[s][w][0], (size_t)rounds, 0.25), high = part(found[s][w][0], (size_t)rounds, 0.75);
            if (s == 0) first = v[0];
            printf("  %c %-8zu %-8s %9.3f [%.3f %.3f] %9.3f %9.3f  p50 %8.2f p99 %9.2f  gave up %.3f lost %.3f cpu %.3f  x %.2f\n", works[w].kind, works[w].size, names[s], 1e6 * pairs / v[0],
                   1e6 * pairs / high, 1e6 * pairs / low, 1e6 * pairs / v[1], 1e6 * pairs / v[2], v[3], v[4], v[5], v[6], v[7], v[0] / first);
        }
    }
    return 0;
}
