/* What the cases have in common. */
#include "cases.h"

const char *self;
volatile sig_atomic_t signals;

void die(const char *what)
{
    printf("FAILED %s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(1);
}
/* The program is started again and again: libc's own names for what failed are enough. */
const char *name(int e)
{
    return e == EAGAIN ? "EAGAIN" : e == EPIPE ? "EPIPE" : e == ECONNRESET ? "ECONNRESET" : e == EINTR ? "EINTR"
         : e == EBADF ? "EBADF" : e == 0 ? "0" : "other";
}
unsigned char byte_at(unsigned long i) { return (unsigned char)(i * 2654435761u >> 13); }
void fill(unsigned char *to, size_t n, unsigned long from) { for (size_t i = 0; i < n; i++) to[i] = byte_at(from + i); }
void check(const unsigned char *got, size_t n, unsigned long from)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != byte_at(from + i)) { printf("FAILED byte %lu\n", from + i); fflush(stdout); _exit(1); }
}
void all_out(int fd, const void *p, size_t n)
{
    const char *c = p;
    while (n) { ssize_t w = send(fd, c, n, MSG_NOSIGNAL); MUST(w > 0); c += w; n -= (size_t)w; }
}
void all_in(int fd, void *p, size_t n)
{
    char *c = p;
    while (n) { ssize_t r = read(fd, c, n); if (r == 0) errno = 0; MUST(r > 0); c += r; n -= (size_t)r; }
}
/* Bytes until the end, checked. */
unsigned long to_end(int fd, unsigned long from)
{
    unsigned char buffer[7001];
    unsigned long total = 0;
    for (;;) {
        ssize_t r = recv(fd, buffer, sizeof buffer, 0);
        MUST(r >= 0);
        if (r == 0) return total;
        check(buffer, (size_t)r, from + total);
        total += (unsigned long)r;
    }
}
void stream_out(int fd, unsigned long from, unsigned long n, size_t most)
{
    unsigned char *buffer = malloc(most);
    for (unsigned long at = 0; at < n;) {
        size_t len = 1 + (at * 7919) % most;
        if (len > n - at) len = n - at;
        fill(buffer, len, from + at);
        all_out(fd, buffer, len);
        at += len;
    }
    free(buffer);
}
void stream_in(int fd, unsigned long from, unsigned long n)
{
    unsigned char buffer[30000];
    for (unsigned long at = 0; at < n;) {
        size_t want = sizeof buffer < n - at ? sizeof buffer : n - at;
        ssize_t r = recv(fd, buffer, want, 0);
        MUST(r > 0);
        check(buffer, (size_t)r, from + at);
        at += (unsigned long)r;
    }
}
void sync_send(int fd) { all_out(fd, "s", 1); }
void sync_wait(int fd) { char c; all_in(fd, &c, 1); MUST(c == 's'); }
void nap(int ms) { struct timespec t = {ms / 1000, ms % 1000 * 1000000L}; while (nanosleep(&t, &t)) ; }
double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
void count(int s) { (void)s; signals++; }
void set_nonblocking(int fd) { MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0); }
/* Bytes until no more fit. */
unsigned long fill_up(int fd, unsigned long from)
{
    unsigned char buffer[5000];
    unsigned long total = 0;
    struct pollfd p = {fd, POLLOUT, 0};
    ssize_t w;
    do {
        fill(buffer, sizeof buffer, from + total);
        w = send(fd, buffer, sizeof buffer, MSG_NOSIGNAL);
        if (w > 0) total += (unsigned long)w;
        MUST(w > 0 || errno == EAGAIN);
        /* What is on its way in the kernel may make room yet. */
    } while (w > 0 || poll(&p, 1, 50) == 1);
    return total;
}
int waits(int e, int ms) { struct epoll_event got[4]; int n = epoll_wait(e, got, 4, ms); printf(" %d", n); if (n > 0) printf(":%x/%u", got[0].events, got[0].data.u32); return n; }
void in_set(int e, int op, int fd, unsigned events, unsigned word)
{
    struct epoll_event want = {events, {.u32 = word}};
    MUST(epoll_ctl(e, op, fd, &want) == 0);
}
/* A listener of the case's own, and whoever connects to it. */
int door(int fd, int server, int backlog, struct sockaddr_in *a)
{
    socklen_t len = sizeof *a;
    int l = -1;
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET; a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (server) {
        l = socket(AF_INET, SOCK_STREAM, 0);
        MUST(bind(l, (struct sockaddr *)a, len) == 0 && listen(l, backlog) == 0 && getsockname(l, (struct sockaddr *)a, &len) == 0);
        all_out(fd, a, sizeof *a);
    } else all_in(fd, a, sizeof *a);
    return l;
}
/* Waits until so many bytes can be read: what comes when the connection has gone back to the kernel is told of beside what is in the ring. */
void all_there(int fd, int n) { for (int there = 0; there < n; nap(1)) MUST(ioctl(fd, FIONREAD, &there) == 0); }
/* The call that begins programs and gives a descriptor of the process (glibc 2.39); where there is none of its name, the usual one does. */
const char *begin_by;
static pid_t begin(const char *path, posix_spawn_file_actions_t *actions, char *const argv[])
{
    extern char **environ;
    int (*call)(int *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]) = NULL, fd, failed = ENOSYS;
    char line[200];
    pid_t child = -1;
    FILE *f;
    if (begin_by) *(void **)&call = dlsym(RTLD_DEFAULT, begin_by);
    if (call) failed = call(&fd, path, actions, NULL, argv, environ);
    if (failed == ENOSYS) { MUST(posix_spawn(&child, path, actions, NULL, argv, environ) == 0); return child; }
    MUST(failed == 0);
    snprintf(line, sizeof line, "/proc/self/fdinfo/%d", fd);
    MUST((f = fopen(line, "r")) != NULL);
    while (fgets(line, sizeof line, f)) sscanf(line, "Pid: %d", &child);
    fclose(f);
    close(fd);
    return child;
}
/* A program that knows nothing of the library: it reads the bytes from `from` to `all` by this descriptor, once it is told to where `told` is one. */
pid_t begin_reader(int number, unsigned long from, unsigned long all, int told, posix_spawn_file_actions_t *actions)
{
    char path[500], word[4][20], *end, *argv[] = {path, word[0], word[1], word[2], told < 0 ? NULL : word[3], NULL};
    snprintf(path, sizeof path, "%s", self);
    MUST((end = strrchr(path, '/')) != NULL);
    snprintf(end, 50, "/fastsock-reader");
    snprintf(word[0], sizeof word[0], "%d", number);
    snprintf(word[1], sizeof word[1], "%lu", all);
    snprintf(word[2], sizeof word[2], "%lu", from);
    snprintf(word[3], sizeof word[3], "%d", told);
    return begin(path, actions, argv);
}
void ended(pid_t child)
{
    int status;
    MUST(waitpid(child, &status, 0) == child);
    printf(" status %x\n", (unsigned)status);
}
/* A system call that no library sees. */
long by_instruction(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
int connected(struct sockaddr_in *a)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    MUST(s >= 0 && connect(s, (struct sockaddr *)a, sizeof *a) == 0);
    return s;
}
int fast_now(int fd)
{
    int (*is_fast)(int);
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    return is_fast && is_fast(fd);
}
/* A conversation, after which a connection that can be fast is. */
void warm(int fd, int server)
{
    for (int i = 0; i < 64; i++) {
        char c = (char)i, d;
        if (!server) all_out(fd, &c, 1);
        all_in(fd, &d, 1);
        MUST(d == c);
        if (server) all_out(fd, &c, 1);
    }
    fprintf(stderr, "%s\n", fast_now(fd) ? "fast" : "kernel");
}
