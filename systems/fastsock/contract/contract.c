/* What the sockets interface promises, as a program: a server and a client that go through the cases in step and print what they saw.
 * It knows nothing of libfastsock.so, but for asking at the end of a warm-up whether the connection is fast (to standard error).
 * What is printed to standard output must be the same with and without the library, on either side.
 *
 *   contract server CASE     prints its port, serves one connection
 *   contract client CASE PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *self;

static void die(const char *what)
{
    printf("FAILED %s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(1);
}
#define MUST(x) do { if (!(x)) die(#x); } while (0)

/* The program is started again and again: libc's own names for what failed are enough. */
static const char *name(int e)
{
    return e == EAGAIN ? "EAGAIN" : e == EPIPE ? "EPIPE" : e == ECONNRESET ? "ECONNRESET" : e == EINTR ? "EINTR"
         : e == EBADF ? "EBADF" : e == 0 ? "0" : "other";
}
static unsigned char byte_at(unsigned long i) { return (unsigned char)(i * 2654435761u >> 13); }
static void fill(unsigned char *to, size_t n, unsigned long from) { for (size_t i = 0; i < n; i++) to[i] = byte_at(from + i); }
static void check(const unsigned char *got, size_t n, unsigned long from)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != byte_at(from + i)) { printf("FAILED byte %lu\n", from + i); fflush(stdout); _exit(1); }
}
static void all_out(int fd, const void *p, size_t n)
{
    const char *c = p;
    while (n) { ssize_t w = send(fd, c, n, MSG_NOSIGNAL); MUST(w > 0); c += w; n -= (size_t)w; }
}
static void all_in(int fd, void *p, size_t n)
{
    char *c = p;
    while (n) { ssize_t r = read(fd, c, n); if (r == 0) errno = 0; MUST(r > 0); c += r; n -= (size_t)r; }
}
/* Bytes until the end, checked. */
static unsigned long to_end(int fd, unsigned long from)
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
static void stream_out(int fd, unsigned long from, unsigned long n, size_t most)
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
static void stream_in(int fd, unsigned long from, unsigned long n)
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
static void sync_send(int fd) { all_out(fd, "s", 1); }
static void sync_wait(int fd) { char c; all_in(fd, &c, 1); MUST(c == 's'); }
static void nap(int ms) { struct timespec t = {ms / 1000, ms % 1000 * 1000000L}; while (nanosleep(&t, &t)) ; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }

/* A conversation, after which a connection that can be fast is. */
static void warm(int fd, int server)
{
    int (*is_fast)(int);
    for (int i = 0; i < 64; i++) {
        char c = (char)i, d;
        if (!server) all_out(fd, &c, 1);
        all_in(fd, &d, 1);
        MUST(d == c);
        if (server) all_out(fd, &c, 1);
    }
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    fprintf(stderr, "%s\n", is_fast && is_fast(fd) ? "fast" : "kernel");
}

/* The cases. `server` says which side this is. */
static void echo(int fd, int server)
{
    static const size_t sizes[] = {1, 2, 7, 8, 63, 64, 65, 1000, 4096, 65535, 65536, 65537, 131072, 1000000};
    unsigned char *buffer = malloc(1000000);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!server) { fill(buffer, sizes[i], i); all_out(fd, buffer, sizes[i]); memset(buffer, 0, sizes[i]); }
        all_in(fd, buffer, sizes[i]);
        check(buffer, sizes[i], i);
        if (server) all_out(fd, buffer, sizes[i]);
        else printf("echo %zu\n", sizes[i]);
    }
    free(buffer);
}
static void stream(int fd, int server)
{
    if (!server) { stream_out(fd, 5, 30000000, 100000); shutdown(fd, SHUT_WR); printf("end %zd\n", read(fd, &server, 1)); }
    else printf("streamed %lu\n", to_end(fd, 5));
}
static void lists(int fd, int server)
{
    unsigned char a[300], b[5000], c[70000];
    struct iovec v[4] = {{a, sizeof a}, {NULL, 0}, {b, sizeof b}, {c, sizeof c}};
    size_t total = sizeof a + sizeof b + sizeof c;
    struct msghdr m = {0};
    m.msg_iov = v; m.msg_iovlen = 4;
    if (!server) {
        fill(a, sizeof a, 0); fill(b, sizeof b, sizeof a); fill(c, sizeof c, sizeof a + sizeof b);
        printf("writev %zd\n", writev(fd, v, 4));
        printf("sendmsg %zd\n", sendmsg(fd, &m, 0));
        sync_wait(fd);
    } else {
        char from[128];
        ssize_t r;
        m.msg_name = from; m.msg_namelen = sizeof from;
        r = recvmsg(fd, &m, MSG_WAITALL);
        printf("recvmsg %zd name %u flags %d\n", r, m.msg_namelen, m.msg_flags);
        check(a, sizeof a, 0); check(b, sizeof b, sizeof a); check(c, sizeof c, sizeof a + sizeof b);
        memset(a, 0, sizeof a);
        for (size_t got = 0; got < total;) {
            unsigned char p[10], q[1000];
            struct iovec w[2] = {{p, sizeof p}, {q, sizeof q}};
            r = readv(fd, w, 2);
            MUST(r > 0);
            check(p, r < 10 ? (size_t)r : 10, got);
            if (r > 10) check(q, (size_t)r - 10, got + 10);
            got += (size_t)r;
        }
        sync_send(fd);
        printf("readv all\n");
    }
}
static void half_close(int fd, int server)
{
    if (!server) {
        stream_out(fd, 0, 100000, 5000);
        MUST(shutdown(fd, SHUT_WR) == 0);
        printf("answer %lu\n", to_end(fd, 77));
        printf("send after shutdown %zd", send(fd, "x", 1, MSG_NOSIGNAL));
        printf(" %s\n", name(errno));
    } else {
        printf("question %lu\n", to_end(fd, 0));
        printf("end again %zd\n", recv(fd, &server, 1, 0));
        stream_out(fd, 77, 300000, 50000);
    }
}
static void peek(int fd, int server)
{
    if (!server) { all_out(fd, "hello", 5); sync_wait(fd); nap(30); all_out(fd, "abc", 3); nap(30); all_out(fd, "defg", 4); sync_wait(fd); }
    else {
        char b[16] = {0};
        int n = 0;
        ssize_t r = recv(fd, b, 5, MSG_PEEK | MSG_WAITALL);
        printf("peek %zd %.5s\n", r, b);
        MUST(ioctl(fd, FIONREAD, &n) == 0);
        printf("fionread %d\n", n);
        memset(b, 0, sizeof b);
        r = recv(fd, b, 2, MSG_PEEK);
        printf("peek %zd %s\n", r, b);
        r = recv(fd, b, sizeof b, 0);
        printf("recv %zd %.5s\n", r, b);
        printf("none %zd", recv(fd, b, sizeof b, MSG_DONTWAIT));
        printf(" %s\n", name(errno));
        printf("peek none %zd", recv(fd, b, sizeof b, MSG_DONTWAIT | MSG_PEEK));
        printf(" %s\n", name(errno));
        sync_send(fd);
        memset(b, 0, sizeof b);
        r = recv(fd, b, 7, MSG_WAITALL);
        printf("all %zd %s\n", r, b);
        printf("zero %zd\n", recv(fd, b, 0, MSG_DONTWAIT));
        printf("zero sent %zd\n", send(fd, b, 0, 0));
        sync_send(fd);
    }
}
static void nonblocking(int fd, int server)
{
    unsigned long total = 0;
    unsigned char buffer[5000];
    if (!server) {
        ssize_t w;
        char c;
        MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0);
        printf("recv %zd", recv(fd, &c, 1, 0));
        printf(" %s\n", name(errno));
        do {
            fill(buffer, sizeof buffer, total);
            w = send(fd, buffer, sizeof buffer, 0);
            if (w > 0) total += (unsigned long)w;
        } while (w > 0 && total < 100000000);
        printf("full %zd %s\n", w, name(errno));
        MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) == 0);
        stream_out(fd, total, 5000000 - total % 1000000, 5000);
        total += 5000000 - total % 1000000;
        MUST(shutdown(fd, SHUT_WR) == 0);
        all_in(fd, buffer, sizeof total);
        printf("same total %d\n", memcmp(buffer, &total, sizeof total) == 0);
    } else {
        nap(100);
        total = to_end(fd, 0);
        all_out(fd, &total, sizeof total);
    }
}
static void timeouts(int fd, int server)
{
    if (!server) { sync_wait(fd); sync_send(fd); sync_wait(fd); }
    else {
        struct timeval limit = {0, 60000}, none = {0, 0};
        char c;
        double begun = now();
        MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
        printf("late %zd", recv(fd, &c, 1, 0));
        printf(" %s", name(errno));
        printf(" %d\n", now() - begun >= 0.055);
        MUST(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0);
        sync_send(fd);
        sync_wait(fd);
        sync_send(fd);
    }
}
static volatile sig_atomic_t signals;
static void count(int s) { (void)s; signals++; }
static void signalled(int fd, int server)
{
    if (!server) { sync_wait(fd); nap(250); sync_send(fd); }
    else {
        struct sigaction a = {0};
        struct itimerval in = {{0, 0}, {0, 50000}};
        char c;
        a.sa_handler = count;
        MUST(sigaction(SIGALRM, &a, NULL) == 0 && setitimer(ITIMER_REAL, &in, NULL) == 0);
        printf("interrupted %zd", recv(fd, &c, 1, 0));
        printf(" %s %d\n", name(errno), (int)signals);
        a.sa_flags = SA_RESTART;
        MUST(sigaction(SIGALRM, &a, NULL) == 0 && setitimer(ITIMER_REAL, &in, NULL) == 0);
        sync_send(fd);
        sync_wait(fd);
        printf("restarted %d\n", (int)signals);
    }
}
static void reset(int fd, int server)
{
    char buffer[100];
    if (!server) {
        ssize_t r;
        all_out(fd, "unread", 6);
        sync_wait(fd);
        r = recv(fd, buffer, sizeof buffer, 0);
        printf("recv %zd %s\n", r, r < 0 ? name(errno) : "");
        r = recv(fd, buffer, sizeof buffer, 0);
        printf("recv %zd\n", r);
    } else { nap(50); sync_send(fd); nap(50); }
}
static void broken_pipe(int fd, int server)
{
    if (server) return;
    {
        char c;
        printf("end %zd\n", recv(fd, &c, 1, 0));
        signals = 0;
        signal(SIGPIPE, count);
        printf("first %zd\n", send(fd, "x", 1, 0));
        nap(30);
        printf("second %zd", write(fd, "x", 1));
        printf(" %s %d\n", name(errno), (int)signals);
    }
}
static void duplicates(int fd, int server)
{
    if (!server) {
        int two = dup(fd), three = fcntl(fd, F_DUPFD, 100), null = open("/dev/null", O_RDWR);
        stream_out(fd, 0, 1000, 10);
        close(fd);
        stream_out(two, 1000, 1000, 10);
        MUST(dup2(null, two) == two);
        stream_out(three, 2000, 100000, 1000);
        sync_wait(three);
        MUST(dup3(null, three, O_CLOEXEC) == three);
        printf("null %zd\n", write(three, "x", 1));
    } else { stream_in(fd, 0, 102000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
}
static void forks(int fd, int server)
{
    if (!server) {
        stream_out(fd, 0, 400000, 3000);
        sync_wait(fd); sync_wait(fd);
        stream_out(fd, 0, 1000, 10);
        printf("rest %lu\n", to_end(fd, 9));
    } else {
        pid_t child;
        int status;
        stream_in(fd, 0, 100000);
        child = fork();
        if (child == 0) { stream_in(fd, 100000, 100000); sync_send(fd); _exit(0); }
        waitpid(child, &status, 0);
        printf("child %d\n", status);
        stream_in(fd, 200000, 200000);
        sync_send(fd);
        child = fork();
        if (child == 0) { stream_in(fd, 0, 1000); nap(50); stream_out(fd, 9, 200000, 1000); _exit(0); }
        close(fd);
        waitpid(child, &status, 0);
        printf("child %d\n", status);
    }
}
static void polled(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 1000, 1000); sync_wait(fd); nap(50); stream_out(fd, 1000, 1000, 1000); nap(50); }
    else {
        struct pollfd p = {fd, POLLIN | POLLOUT, 0};
        nap(50);
        printf("poll %d", poll(&p, 1, 1000)); printf(" %x\n", p.revents);
        stream_in(fd, 0, 500);
        p.events = POLLIN;
        printf("poll %d", poll(&p, 1, 1000)); printf(" %x\n", p.revents);
        stream_in(fd, 500, 500);
        printf("poll %d\n", poll(&p, 1, 20));
        sync_send(fd);
        printf("poll %d", poll(&p, 1, 5000)); printf(" %x\n", p.revents);
        stream_in(fd, 1000, 1000);
        printf("poll %d", poll(&p, 1, 5000)); printf(" %x\n", p.revents);
        printf("end %lu\n", to_end(fd, 0));
    }
}
static void selected(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 1000, 1000); sync_wait(fd); nap(50); stream_out(fd, 1000, 1000, 1000); }
    else {
        fd_set r, w;
        for (int round = 0; round < 2; round++) {
            struct timeval limit = {5, 0}, brief = {0, 20000};
            if (!round) nap(50);
            FD_ZERO(&r); FD_ZERO(&w); FD_SET(fd, &r);
            if (!round) FD_SET(fd, &w);
            printf("select %d", select(fd + 1, &r, &w, NULL, &limit));
            printf(" %d %d\n", FD_ISSET(fd, &r) != 0, FD_ISSET(fd, &w) != 0);
            stream_in(fd, (unsigned long)round * 1000, 1000);
            if (round) break;
            FD_ZERO(&r); FD_SET(fd, &r);
            printf("select %d\n", select(fd + 1, &r, NULL, NULL, &brief));
            sync_send(fd);
        }
        printf("end %lu\n", to_end(fd, 0));
    }
}
static void epolled(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 1000, 1000); sync_wait(fd); nap(50); stream_out(fd, 1000, 1000, 1000); sync_wait(fd); }
    else {
        int e = epoll_create1(0);
        struct epoll_event want = {EPOLLIN, {.u32 = 7}}, got[4];
        nap(50);
        MUST(epoll_ctl(e, EPOLL_CTL_ADD, fd, &want) == 0);
        printf("epoll %d", epoll_wait(e, got, 4, 1000)); printf(" %x %u\n", got[0].events, got[0].data.u32);
        stream_in(fd, 0, 400);
        printf("level %d\n", epoll_wait(e, got, 4, 1000));
        stream_in(fd, 400, 600);
        printf("empty %d\n", epoll_wait(e, got, 4, 20));
        sync_send(fd);
        printf("epoll %d", epoll_wait(e, got, 4, 5000)); printf(" %x\n", got[0].events);
        stream_in(fd, 1000, 1000);
        sync_send(fd);
        printf("epoll %d", epoll_wait(e, got, 4, 5000)); printf(" %x\n", got[0].events);
        printf("end %lu\n", to_end(fd, 0));
    }
}
static void files(int fd, int server)
{
    if (!server) {
        FILE *f = tmpfile();
        unsigned char b[50000];
        off_t at = 0;
        fill(b, sizeof b, 3000);
        MUST(fwrite(b, 1, sizeof b, f) == sizeof b && fflush(f) == 0);
        stream_out(fd, 0, 3000, 100);
        for (size_t left = sizeof b; left;) { ssize_t n = sendfile(fd, fileno(f), &at, left); MUST(n > 0); left -= (size_t)n; }
        stream_out(fd, 53000, 100000, 1000);
        sync_wait(fd);
        stream_in(fd, 1, 20000);
        fclose(f);
    } else {
        int p[2];
        unsigned char b[20000];
        MUST(pipe(p) == 0);
        stream_in(fd, 0, 2000);
        for (size_t got = 0; got < 5000;) {
            ssize_t n = splice(fd, NULL, p[1], NULL, 5000 - got, 0);
            MUST(n > 0);
            all_in(p[0], b, (size_t)n);
            check(b, (size_t)n, 2000 + got);
            got += (size_t)n;
        }
        stream_in(fd, 7000, 146000);
        sync_send(fd);
        fill(b, sizeof b, 1);
        all_out(fd, b, sizeof b);
        printf("spliced, end %lu\n", to_end(fd, 0));
    }
}
static void program(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 1000, 100); sync_wait(fd); stream_out(fd, 1000, 50000, 1000); shutdown(fd, SHUT_WR); printf("answer %lu\n", to_end(fd, 4)); }
    else {
        char number[16];
        stream_in(fd, 0, 1000);
        fflush(stdout);
        sync_send(fd);
        snprintf(number, sizeof number, "%d", fd);
        execl(self, self, "exec", "x", number, (char *)NULL);
        die("exec");
    }
}
static void spawned(int fd, int server)
{
    if (!server) { program(fd, 0); return; }
    {
        char number[16];
        char *argv[] = {(char *)self, "exec", "x", number, NULL};
        pid_t child;
        int status;
        stream_in(fd, 0, 1000);
        fflush(stdout);
        snprintf(number, sizeof number, "%d", fd);
        child = fork();
        if (child == 0) { sync_send(fd); execv(self, argv); _exit(9); }
        close(fd);
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
}
static void killed(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 20000, 100); sync_wait(fd); fflush(stdout); kill(getpid(), SIGKILL); }
    else { stream_in(fd, 0, 20000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
}
struct both { int fd; unsigned long from; };
static void *reader(void *p) { struct both *b = p; stream_in(b->fd, b->from, 8000000); return NULL; }
static void threads(int fd, int server)
{
    struct both b = {fd, server ? 0 : 99};
    pthread_t t;
    MUST(pthread_create(&t, NULL, reader, &b) == 0);
    stream_out(fd, server ? 99 : 0, 8000000, 70000);
    pthread_join(t, NULL);
    printf("both ways\n");
}
static void urgent(int fd, int server)
{
    if (!server) { all_out(fd, "abc", 3); MUST(send(fd, "X", 1, MSG_OOB) == 1); all_out(fd, "def", 3); sync_wait(fd); }
    else {
        char b[8] = {0}, c = 0;
        double begun = now();
        while (recv(fd, &c, 1, MSG_OOB) != 1 && now() - begun < 10) nap(1);
        all_in(fd, b, 6);
        printf("urgent %c, then %s\n", c, b);
        sync_send(fd);
    }
}
static void streams(int fd, int server)
{
    FILE *f;
    char line[100];
    if (server) sync_wait(fd);
    else sync_send(fd);
    MUST((f = fdopen(fd, "r+")) != NULL);
    setvbuf(f, NULL, _IOLBF, 1000);
    for (int i = 0; i < 100; i++) {
        if (!server) { fprintf(f, "line %d\n", i); fflush(f); }
        MUST(fgets(line, sizeof line, f));
        if (server) { fputs(line, f); fflush(f); }
    }
    printf("last %s", line);
    if (!server) { fclose(f); return; }
    printf("end %d\n", fgets(line, sizeof line, f) == NULL);
    fclose(f);
}
static void passed(int fd, int server)
{
    if (!server) { stream_in(fd, 0, 3000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
    else {
        int pair[2], status;
        char control[CMSG_SPACE(sizeof(int))] = {0}, c = 'x';
        struct iovec v = {&c, 1};
        struct msghdr m = {0};
        pid_t child;
        MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        stream_out(fd, 0, 1000, 100);
        m.msg_iov = &v; m.msg_iovlen = 1; m.msg_control = control; m.msg_controllen = sizeof control;
        child = fork();
        if (child == 0) {
            int got;
            close(fd); close(pair[0]);
            MUST(recvmsg(pair[1], &m, 0) == 1);
            memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof got);
            stream_out(got, 1000, 2000, 100);
            sync_wait(got);
            _exit(0);
        }
        CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
        CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
        CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
        MUST(sendmsg(pair[0], &m, 0) == 1);
        close(fd);
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
}
static void linger(int fd, int server)
{
    if (!server) {
        struct linger l = {1, 0};
        sync_wait(fd);
        MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l) == 0);
        close(fd);
    } else {
        char c;
        ssize_t r;
        sync_send(fd);
        r = recv(fd, &c, 1, 0);
        printf("recv %zd %s\n", r, name(errno));
        printf("recv %zd\n", recv(fd, &c, 1, 0));
    }
}

static const struct { const char *name; void (*run)(int, int); } cases[] = {
    {"echo", echo}, {"stream", stream}, {"lists", lists}, {"half_close", half_close}, {"peek", peek},
    {"nonblocking", nonblocking}, {"timeouts", timeouts}, {"signalled", signalled}, {"reset", reset},
    {"broken_pipe", broken_pipe}, {"duplicates", duplicates}, {"forks", forks}, {"polled", polled},
    {"selected", selected}, {"epolled", epolled}, {"files", files}, {"program", program}, {"spawned", spawned},
    {"killed", killed}, {"threads", threads}, {"urgent", urgent}, {"streams", streams}, {"passed", passed},
    {"linger", linger},
};

int main(int argc, char **argv)
{
    struct sockaddr_in a = {0};
    socklen_t len = sizeof a;
    int fd = -1, server;
    self = argv[0];
    alarm(60);
    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) puts(cases[i].name);
        return 0;
    }
    if (argc < 3) return 2;
    if (!strcmp(argv[1], "exec")) {
        /* The new program of the cases program and spawned. */
        fd = atoi(argv[3]);
        printf("in the new program %lu\n", to_end(fd, 1000));
        stream_out(fd, 4, 70000, 1000);
        return 0;
    }
    server = !strcmp(argv[1], "server");
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (server) {
        int l = socket(AF_INET, SOCK_STREAM, 0);
        MUST(l >= 0 && bind(l, (struct sockaddr *)&a, len) == 0 && listen(l, 5) == 0);
        MUST(getsockname(l, (struct sockaddr *)&a, &len) == 0);
        printf("%d\n", ntohs(a.sin_port));
        fflush(stdout);
        MUST((fd = accept(l, NULL, NULL)) >= 0);
        close(l);
    } else {
        MUST((fd = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
        a.sin_port = htons((unsigned short)atoi(argv[3]));
        MUST(connect(fd, (struct sockaddr *)&a, len) == 0);
    }
    { int one = 1; MUST(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0); }
    warm(fd, server);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[2])) {
            signal(SIGPIPE, SIG_DFL);
            cases[i].run(fd, server);
            fflush(stdout);
            return 0;
        }
    return 2;
}
