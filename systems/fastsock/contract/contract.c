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
#include <sys/eventfd.h>
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

/* Waiting for one of several. Masks are printed as they come. */
static int waits(int e, int ms) { struct epoll_event got[4]; int n = epoll_wait(e, got, 4, ms); printf(" %d", n); if (n > 0) printf(":%x/%u", got[0].events, got[0].data.u32); return n; }
static void in_set(int e, int op, int fd, unsigned events, unsigned word)
{
    struct epoll_event want = {events, {.u32 = word}};
    MUST(epoll_ctl(e, op, fd, &want) == 0);
}
static void set_nonblocking(int fd) { MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0); }
/* Bytes until no more fit. */
static unsigned long fill_up(int fd, unsigned long from)
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
static void changed(int fd, int server)
{
    if (!server) { sync_send(fd); sync_wait(fd); nap(60); stream_out(fd, 0, 3000, 3000); sync_wait(fd); return; }
    {
        int e = epoll_create1(0);
        sync_wait(fd);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLOUT, 1);
        printf("room"); waits(e, 1000);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN, 2);
        printf(" nothing"); waits(e, 20);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT, 3);
        printf(" both"); waits(e, 1000);
        stream_in(fd, 0, 1000);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN, 4);
        printf(" rest"); waits(e, 1000);
        in_set(e, EPOLL_CTL_MOD, fd, 0, 5);
        printf(" none"); waits(e, 20);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN, 6);
        stream_in(fd, 1000, 2000);
        printf(" read"); waits(e, 20);
        MUST(epoll_ctl(e, EPOLL_CTL_DEL, fd, NULL) == 0);
        printf(" gone %d", epoll_ctl(e, EPOLL_CTL_DEL, fd, NULL)); printf(" %d", errno == ENOENT);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 7);
        { struct epoll_event again = {EPOLLIN, {0}}; printf(" twice %d", epoll_ctl(e, EPOLL_CTL_ADD, fd, &again)); printf(" %d", errno == EEXIST); }
        sync_send(fd);
        printf(" end"); waits(e, 5000); printf("\n");
        close(e);
    }
}
static void edges(int fd, int server)
{
    if (!server) {
        /* Each by one call: one edge. */
        unsigned char b[100];
        for (int i = 0; i < 4; i++) { sync_wait(fd); nap(40); fill(b, sizeof b, (unsigned long)i * 100); all_out(fd, b, sizeof b); }
        sync_wait(fd);
    } else {
        int e = epoll_create1(0);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, 9);
        printf("first"); waits(e, 1000); printf(" no more"); waits(e, 20);
        /* Room alone may be told again by the kernel whenever the peer acknowledges something. */
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET | EPOLLRDHUP, 9);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000); printf(" told once"); waits(e, 20);
        stream_in(fd, 0, 40);
        printf(" part read"); waits(e, 20);
        sync_send(fd);
        printf(" more bytes"); waits(e, 5000);
        stream_in(fd, 40, 160);
        printf(" read"); waits(e, 20);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET, 10);
        sync_send(fd);
        printf(" third"); waits(e, 5000);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLET, 11);
        printf(" again by a change"); waits(e, 1000); printf(" once"); waits(e, 20);
        stream_in(fd, 200, 100);
        sync_send(fd);
        printf(" fourth"); waits(e, 5000);
        stream_in(fd, 300, 100);
        sync_send(fd);
        printf(" end"); waits(e, 5000); printf("\n");
    }
}
static void once(int fd, int server)
{
    if (!server) { for (int i = 0; i < 3; i++) { sync_wait(fd); nap(40); stream_out(fd, (unsigned long)i * 10, 10, 10); } sync_wait(fd); }
    else {
        int e = epoll_create1(0);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, 1);
        sync_send(fd);
        printf("bytes"); waits(e, 5000); printf(" no more"); waits(e, 20);
        stream_in(fd, 0, 10);
        sync_send(fd); nap(80);
        printf(" not armed"); waits(e, 20);
        { struct epoll_event again = {EPOLLIN, {0}}; printf(" twice %d", epoll_ctl(e, EPOLL_CTL_ADD, fd, &again)); printf(" %d", errno == EEXIST); }
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 2);
        printf(" armed"); waits(e, 1000);
        stream_in(fd, 10, 10);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 3);
        printf(" empty"); waits(e, 20);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000);
        stream_in(fd, 20, 10);
        sync_send(fd); nap(60);
        printf(" not armed"); waits(e, 20);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLONESHOT, 4);
        printf(" end"); waits(e, 5000); printf("\n");
    }
}
static void exclusive(int fd, int server)
{
    if (!server) { sync_wait(fd); nap(40); stream_out(fd, 0, 100, 100); sync_wait(fd); nap(40); stream_out(fd, 100, 100, 100); sync_wait(fd); }
    else {
        int e = epoll_create1(0), f = epoll_create1(0);
        struct epoll_event want = {EPOLLIN, {0}};
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, 1);
        printf("change %d", epoll_ctl(e, EPOLL_CTL_MOD, fd, &want)); printf(" %d", errno == EINVAL);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000);
        in_set(f, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, 2);
        printf(" two sets"); waits(e, 1000); waits(f, 1000);
        stream_in(fd, 0, 100);
        printf(" empty"); waits(e, 20); waits(f, 20);
        sync_send(fd); nap(80);
        printf(" bytes"); waits(e, 5000);
        stream_in(fd, 100, 100);
        sync_send(fd);
        printf(" end"); waits(e, 5000); printf("\n");
    }
}
static void nested(int fd, int server)
{
    if (!server) { for (int i = 0; i < 3; i++) { sync_wait(fd); nap(40); stream_out(fd, (unsigned long)i * 100, 100, 100); } sync_wait(fd); }
    else {
        int e = epoll_create1(0), outer = epoll_create1(0);
        struct pollfd p = {e, POLLIN, 0};
        fd_set r;
        struct timeval brief = {0, 20000};
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 1);
        in_set(outer, EPOLL_CTL_ADD, e, EPOLLIN, 2);
        printf("quiet"); waits(outer, 20); printf(" %d", poll(&p, 1, 20));
        sync_send(fd);
        printf(" outer"); waits(outer, 5000); printf(" inner"); waits(e, 1000);
        printf(" still"); waits(outer, 1000); printf(" %d", poll(&p, 1, 1000));
        stream_in(fd, 0, 100);
        printf(" read"); waits(outer, 20); printf(" %d", poll(&p, 1, 20));
        sync_send(fd);
        printf(" poll %d", poll(&p, 1, 5000)); printf(":%x", (unsigned)p.revents); printf(" inner"); waits(e, 1000);
        stream_in(fd, 100, 100);
        FD_ZERO(&r); FD_SET(e, &r);
        printf(" select %d", select(e + 1, &r, NULL, NULL, &brief));
        sync_send(fd);
        FD_ZERO(&r); FD_SET(e, &r); brief.tv_sec = 5;
        printf(" select %d", select(e + 1, &r, NULL, NULL, &brief));
        stream_in(fd, 200, 100);
        printf(" inner"); waits(e, 20);
        sync_send(fd);
        printf(" end"); waits(outer, 5000); printf("\n");
    }
}
static void mixed(int fd, int server)
{
    if (!server) { sync_wait(fd); nap(40); stream_out(fd, 0, 100, 100); sync_wait(fd); stream_out(fd, 100, 100, 100); sync_wait(fd); }
    else {
        int p[2], e = epoll_create1(0);
        struct pollfd f[4] = {{-1, POLLIN, 0}, {fd, POLLIN | POLLPRI, 0}, {0, POLLIN, 0}, {9999, POLLIN, 0}};
        fd_set r, w;
        struct timeval limit = {5, 0};
        MUST(pipe(p) == 0);
        f[2].fd = p[0];
        printf("poll %d", poll(f, 3, 20));
        printf(" wrong %d", poll(f, 4, 1000)); printf(":%x", (unsigned)f[3].revents);
        MUST(write(p[1], "x", 1) == 1);
        printf(" pipe %d", poll(f, 3, 1000)); printf(":%x:%x", (unsigned)f[1].revents, (unsigned)f[2].revents);
        sync_send(fd);
        MUST(poll(f + 1, 1, 10000) == 1);
        printf(" both %d", poll(f, 3, 1000)); printf(":%x:%x", (unsigned)f[1].revents, (unsigned)f[2].revents);
        FD_ZERO(&r); FD_ZERO(&w); FD_SET(fd, &r); FD_SET(p[0], &r); FD_SET(fd, &w); FD_SET(p[1], &w);
        printf(" select %d", select(1000, &r, &w, NULL, &limit));
        printf(" %d%d%d%d", FD_ISSET(fd, &r) != 0, FD_ISSET(p[0], &r) != 0, FD_ISSET(fd, &w) != 0, FD_ISSET(p[1], &w) != 0);
        in_set(e, EPOLL_CTL_ADD, p[0], EPOLLIN, 1);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 2);
        { struct epoll_event got[4]; printf(" epoll %d", epoll_wait(e, got, 4, 1000)); printf(" one %d", epoll_wait(e, got, 1, 1000)); }
        stream_in(fd, 0, 100);
        printf(" pipe"); waits(e, 1000);
        { char c; MUST(read(p[0], &c, 1) == 1); }
        printf(" none"); waits(e, 20);
        /* The pipe while the connection is awaited, from a child. */
        if (fork() == 0) { nap(30); MUST(write(p[1], "y", 1) == 1); _exit(0); }
        printf(" pipe"); waits(e, 5000);
        { char c; MUST(read(p[0], &c, 1) == 1); }
        sync_send(fd);
        printf(" bytes"); waits(e, 5000);
        stream_in(fd, 100, 100);
        wait(NULL);
        close(p[1]);
        printf(" hang-up %d", poll(f + 1, 2, 1000)); printf(":%x", (unsigned)f[2].revents);
        sync_send(fd);
        /* Below 64: the kernel looks no further than its table of descriptors, which is that long at least. */
        FD_ZERO(&r); FD_SET(50, &r);
        printf(" bad %d", select(900, &r, NULL, NULL, &limit)); printf(" %s\n", name(errno));
    }
}

/* A listener of the case's own, and whoever connects to it. */
static int door(int fd, int server, int backlog, struct sockaddr_in *a)
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
static int connected(struct sockaddr_in *a)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    MUST(s >= 0 && connect(s, (struct sockaddr *)a, sizeof *a) == 0);
    return s;
}
static void room(int fd, int server)
{
    /* The way that fills up can't say when it has. */
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), beside = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(beside >= 0);
    if (!server) {
        for (int i = 0; i < 3; i++) {
            unsigned long total, at = 0;
            unsigned char buffer[20000];
            sync_wait(beside);
            nap(100);
            /* Until the server says how much it was. */
            struct pollfd p = {fd, POLLIN, 0};
            while (poll(&p, 1, 600) == 1) { ssize_t r = recv(fd, buffer, sizeof buffer, 0); MUST(r > 0); check(buffer, (size_t)r, at); at += (unsigned long)r; }
            all_out(fd, &at, sizeof at);
            all_in(fd, &total, sizeof total);
            printf("all %d\n", total == at);
        }
    } else {
        int e = epoll_create1(0);
        struct pollfd p = {fd, POLLOUT, 0};
        set_nonblocking(fd);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT, 1);
        printf("free"); waits(e, 1000);
        for (int i = 0; i < 3; i++) {
            unsigned long total = fill_up(fd, 0), got = 0;
            fd_set w;
            struct timeval limit = {5, 0}, brief = {0, 10000};
            printf(" full %d", poll(&p, 1, 10));
            FD_ZERO(&w); FD_SET(fd, &w);
            printf("%d", select(fd + 1, NULL, &w, NULL, &brief));
            waits(e, 10);
            sync_send(beside);
            if (i == 0) { printf(" poll %d", poll(&p, 1, 5000)); printf(":%x", (unsigned)p.revents); }
            if (i == 1) { FD_ZERO(&w); FD_SET(fd, &w); printf(" select %d", select(fd + 1, NULL, &w, NULL, &limit)); }
            if (i == 2) { printf(" epoll"); waits(e, 5000); }
            in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN, 2);
            waits(e, 5000);
            MUST(recv(fd, &got, sizeof got, 0) == sizeof got && got == total);
            all_out(fd, &total, sizeof total);
            in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT, 1);
        }
        printf("\n");
    }
}
/* Conversations by sets alone, on a second connection that was in its set before it was made, by a connect that does not wait. */
static void early(int fd, int server)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int e = epoll_create1(0), s, error = 1;
    int (*is_fast)(int);
    unsigned char b[3000];
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    if (server) {
        int l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        MUST(bind(l, (struct sockaddr *)&a, len) == 0 && listen(l, 5) == 0 && getsockname(l, (struct sockaddr *)&a, &len) == 0);
        all_out(fd, &a, sizeof a);
        in_set(e, EPOLL_CTL_ADD, l, EPOLLIN, 1);
        printf("listener"); waits(e, 5000);
        MUST((s = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0);
        MUST(epoll_ctl(e, EPOLL_CTL_DEL, l, NULL) == 0);
        in_set(e, EPOLL_CTL_ADD, s, EPOLLIN, 2);
    } else {
        all_in(fd, &a, sizeof a);
        s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        in_set(e, EPOLL_CTL_ADD, s, EPOLLIN, 1);
        MUST(connect(s, (struct sockaddr *)&a, len) == 0 || errno == EINPROGRESS);
        in_set(e, EPOLL_CTL_MOD, s, EPOLLOUT, 1);
        printf("connected"); waits(e, 5000);
        len = sizeof error;
        MUST(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &len) == 0);
        printf(" %d", error);
        in_set(e, EPOLL_CTL_MOD, s, EPOLLIN, 2);
    }
    for (unsigned long i = 0; i < 200; i++) {
        size_t n = 1 + i * 13;
        if (!server) { fill(b, n, i); all_out(s, b, n); }
        for (size_t got = 0; got < n;) {
            struct epoll_event ev[2];
            ssize_t r;
            MUST(epoll_wait(e, ev, 2, 10000) == 1 && ev[0].events == EPOLLIN && ev[0].data.u32 == 2);
            r = recv(s, b + got, n - got, 0);
            MUST(r > 0);
            got += (size_t)r;
        }
        check(b, n, i);
        if (server) all_out(s, b, n);
    }
    printf(" talked");
    fprintf(stderr, "%s\n", is_fast && is_fast(s) ? "fast" : "kernel");
    if (!server) { close(s); sync_wait(fd); printf("\n"); }
    else { printf(" end"); waits(e, 5000); close(s); printf(" closed"); waits(e, 20); printf("\n"); sync_send(fd); }
}
static void set_forked(int fd, int server)
{
    if (!server) { for (int i = 0; i < 3; i++) { sync_wait(fd); nap(40); stream_out(fd, (unsigned long)i * 100, 100, 100); } sync_wait(fd); nap(40); printf("end %zd\n", send(fd, "x", 1, 0)); }
    else {
        int e = epoll_create1(0), status;
        pid_t child;
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 1);
        sync_send(fd);
        printf("before"); waits(e, 5000);
        stream_in(fd, 0, 100);
        fflush(stdout);
        child = fork();
        if (child == 0) {
            /* The parent's set, the child's own, and poll. */
            int own = epoll_create1(0);
            struct pollfd p = {fd, POLLIN, 0};
            in_set(own, EPOLL_CTL_ADD, fd, EPOLLIN, 3);
            sync_send(fd);
            printf(" child's"); waits(own, 5000); printf(" parent's"); waits(e, 5000); printf(" poll %d", poll(&p, 1, 1000));
            stream_in(fd, 100, 100);
            printf(" read"); waits(own, 20); waits(e, 20); printf(" %d", poll(&p, 1, 20));
            close(own);
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        printf(" child %d", status);
        sync_send(fd);
        printf(" after"); waits(e, 5000);
        stream_in(fd, 200, 100);
        printf(" read"); waits(e, 20);
        fflush(stdout);
        child = fork();
        if (child == 0) { close(e); close(fd); _exit(0); }
        waitpid(child, &status, 0);
        printf(" child closed"); waits(e, 20);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000); printf("\n");
    }
}
static void set_outlives(int fd, int server)
{
    if (!server) { for (int i = 0; i < 2; i++) { sync_wait(fd); nap(40); stream_out(fd, (unsigned long)i * 100, 100, 100); } printf("end %lu\n", to_end(fd, 0)); }
    else {
        int e = epoll_create1(0), two = dup(fd), three = fcntl(fd, F_DUPFD, 50), f;
        in_set(e, EPOLL_CTL_ADD, two, EPOLLIN, 2);
        sync_send(fd);
        printf("bytes"); waits(e, 5000);
        stream_in(fd, 0, 100);
        /* The descriptor that is in the set goes, what it means stays: so does the entry. */
        close(two);
        close(fd);
        sync_send(three);
        printf(" bytes"); waits(e, 5000);
        stream_in(three, 100, 100);
        printf(" read"); waits(e, 20);
        f = dup(e);
        close(e);
        printf(" other descriptor"); waits(f, 20);
        close(three);
        printf(" closed"); waits(f, 50);
        /* The numbers again, for something else. */
        { int p[2]; MUST(pipe(p) == 0 && write(p[1], "x", 1) == 1); in_set(f, EPOLL_CTL_ADD, p[0], EPOLLIN, 5); printf(" pipe"); waits(f, 1000); printf("\n"); }
    }
}
struct crew { int fd, e, got[2]; pthread_mutex_t lock; unsigned long next; };
struct member { struct crew *crew; int number; };
static void *works(void *p)
{
    struct member *m = p;
    struct crew *c = m->crew;
    for (;;) {
        struct epoll_event ev;
        unsigned char b[64];
        ssize_t r;
        int n = epoll_wait(c->e, &ev, 1, 10000);
        MUST(n == 1);
        if (ev.data.u32 == 99) return NULL;
        pthread_mutex_lock(&c->lock);
        while ((r = recv(c->fd, b, sizeof b, MSG_DONTWAIT)) > 0) { check(b, (size_t)r, c->next); c->next += (unsigned long)r; c->got[m->number]++; }
        MUST(r < 0 && errno == EAGAIN);
        if (c->next == 64000) { int stop = eventfd(1, 0); in_set(c->e, EPOLL_CTL_ADD, stop, EPOLLIN, 99); }
        else { if (c->next % 640 == 0) sync_send(c->fd); in_set(c->e, EPOLL_CTL_MOD, c->fd, EPOLLIN | EPOLLONESHOT, 1); }
        pthread_mutex_unlock(&c->lock);
    }
}
static void crew(int fd, int server)
{
    if (!server) {
        for (unsigned long i = 0; i < 100; i++) { stream_out(fd, i * 640, 640, 64); if (i < 99) sync_wait(fd); }
        sync_wait(fd);
    } else {
        struct crew c = {fd, epoll_create1(0), {0, 0}, PTHREAD_MUTEX_INITIALIZER, 0};
        struct member m[2] = {{&c, 0}, {&c, 1}};
        pthread_t t[2];
        in_set(c.e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, 1);
        for (int i = 0; i < 2; i++) MUST(pthread_create(&t[i], NULL, works, &m[i]) == 0);
        for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
        printf("all %lu\n", c.next);
        sync_send(fd);
    }
}
/* One thread waits for bytes, one for room, on the same descriptor. */
static void *polls_in(void *p)
{
    int fd = *(int *)p;
    unsigned char b[7000];
    for (unsigned long at = 0; at < 3000000;) {
        struct pollfd f = {fd, POLLIN, 0};
        ssize_t r;
        MUST(poll(&f, 1, 10000) == 1 && f.revents == POLLIN);
        r = recv(fd, b, sizeof b, MSG_DONTWAIT);
        MUST(r > 0);
        check(b, (size_t)r, at);
        at += (unsigned long)r;
    }
    return NULL;
}
static void two_waits(int fd, int server)
{
    pthread_t t;
    unsigned char b[9000];
    (void)server;
    MUST(pthread_create(&t, NULL, polls_in, &fd) == 0);
    for (unsigned long at = 0; at < 3000000;) {
        struct pollfd f = {fd, POLLOUT, 0};
        size_t n = sizeof b < 3000000 - at ? sizeof b : 3000000 - at;
        ssize_t w;
        MUST(poll(&f, 1, 10000) == 1 && f.revents == POLLOUT);
        fill(b, n, at);
        w = send(fd, b, n, MSG_DONTWAIT);
        MUST(w > 0 || errno == EAGAIN);
        if (w > 0) at += (unsigned long)w;
    }
    pthread_join(t, NULL);
    printf("both ways\n");
}
static void interrupted(int fd, int server)
{
    if (!server) { sync_wait(fd); nap(30); sync_send(fd); sync_wait(fd); return; }
    {
        struct sigaction a = {0};
        struct itimerval in = {{0, 0}, {0, 40000}};
        int e = epoll_create1(0);
        struct epoll_event got;
        struct pollfd p = {fd, POLLIN, 0};
        struct timespec long_time = {5, 0};
        fd_set r;
        sigset_t alarm_only, none;
        a.sa_handler = count;
        a.sa_flags = SA_RESTART;
        signals = 0;
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 1);
        MUST(sigaction(SIGALRM, &a, NULL) == 0);
        MUST(setitimer(ITIMER_REAL, &in, NULL) == 0);
        printf("epoll %d", epoll_wait(e, &got, 1, 5000)); printf(" %s", name(errno));
        MUST(setitimer(ITIMER_REAL, &in, NULL) == 0);
        printf(" poll %d", poll(&p, 1, 5000)); printf(" %s", name(errno));
        MUST(setitimer(ITIMER_REAL, &in, NULL) == 0);
        FD_ZERO(&r); FD_SET(fd, &r);
        printf(" select %d", select(fd + 1, &r, NULL, NULL, NULL)); printf(" %s %d", name(errno), (int)signals);
        sigemptyset(&alarm_only); sigemptyset(&none); sigaddset(&alarm_only, SIGALRM);
        MUST(sigprocmask(SIG_BLOCK, &alarm_only, NULL) == 0 && setitimer(ITIMER_REAL, &in, NULL) == 0);
        nap(60);
        printf(" blocked %d", poll(&p, 1, 20));
        printf(" ppoll %d", ppoll(&p, 1, &long_time, &none)); printf(" %s %d", name(errno), (int)signals);
        MUST(setitimer(ITIMER_REAL, &in, NULL) == 0);
        printf(" pselect %d", pselect(fd + 1, &r, NULL, NULL, &long_time, &none)); printf(" %s %d", name(errno), (int)signals);
        MUST(setitimer(ITIMER_REAL, &in, NULL) == 0);
        printf(" epoll_pwait %d", epoll_pwait(e, &got, 1, 5000, &none)); printf(" %s %d", name(errno), (int)signals);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000); printf("\n");
        sync_wait(fd);
        sync_send(fd);
    }
}
static void endings(int fd, int server)
{
    if (!server) {
        sync_wait(fd); nap(40);
        stream_out(fd, 0, 100, 100);
        MUST(shutdown(fd, SHUT_WR) == 0);
        printf("end %lu\n", to_end(fd, 0));
    } else {
        int e = epoll_create1(0);
        struct pollfd p = {fd, POLLIN | POLLRDHUP | POLLOUT, 0};
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP, 1);
        sync_send(fd);
        { struct pollfd h = {fd, POLLRDHUP, 0}; MUST(poll(&h, 1, 10000) == 1); }
        printf("bytes and end"); waits(e, 5000); printf(" poll %d", poll(&p, 1, 1000)); printf(":%x", (unsigned)p.revents);
        stream_in(fd, 0, 100);
        printf(" end"); waits(e, 1000); printf(" poll %d", poll(&p, 1, 1000)); printf(":%x", (unsigned)p.revents);
        printf(" recv %zd", recv(fd, &p, 1, 0));
        in_set(e, EPOLL_CTL_MOD, fd, 0, 2);
        printf(" nothing"); waits(e, 20);
        MUST(shutdown(fd, SHUT_WR) == 0);
        printf(" both ends"); waits(e, 1000); printf("\n");
    }
}
static void killed_in_set(int fd, int server)
{
    if (!server) { sync_wait(fd); nap(40); kill(getpid(), SIGKILL); }
    else {
        int e = epoll_create1(0);
        struct pollfd p = {fd, POLLIN, 0};
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP, 1);
        sync_send(fd);
        printf("killed"); waits(e, 5000); printf(" poll %d", poll(&p, 1, 1000)); printf(":%x", (unsigned)p.revents);
        printf(" end %lu\n", to_end(fd, 0));
    }
}

/* Connections for one transaction each, to a listener of the case's own: those that are closed may be used again. */
static int fast_now(int fd)
{
    int (*is_fast)(int);
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    return is_fast && is_fast(fd);
}
static int option(int fd, int level, int what) { int v = -1; socklen_t len = sizeof v; MUST(getsockopt(fd, level, what, &v, &len) == 0); return v; }
static int port_of(int fd, int peer)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    MUST((peer ? getpeername : getsockname)(fd, (struct sockaddr *)&a, &len) == 0);
    return ntohs(a.sin_port);
}
static int client_errors(int s) { ssize_t r = recv(s, &s, 1, 0); return r < 0 ? errno : r == 0 ? 0 : -1; }
/* One transaction of a kind, on an accepted (or connected) socket. */
static void transact(int s, int server, int i)
{
    unsigned char b[5000];
    size_t n = 1 + (size_t)i * 31 % sizeof b;
    char c;
    switch (i % 12) {
    case 3:  /* half-close */
        if (!server) { stream_out(s, (unsigned)i, n, 100); MUST(shutdown(s, SHUT_WR) == 0); MUST(to_end(s, (unsigned)i) == n); }
        else { MUST(to_end(s, (unsigned)i) == n); stream_out(s, (unsigned)i, n, 3000); }
        break;
    case 5:  /* the server closes first, with bytes unread */
        if (server) { all_in(s, &c, 1); all_out(s, &c, 1); all_in(s, &c, 1); }
        else { all_out(s, "a", 1); all_in(s, &c, 1); all_out(s, "bcd", 3); printf(" %d:%s", i, name(client_errors(s))); }
        break;
    case 7: {  /* a reset by the client */
        struct linger l = {1, 0};
        if (!server) { all_out(s, "a", 1); all_in(s, &c, 1); MUST(setsockopt(s, SOL_SOCKET, SO_LINGER, &l, sizeof l) == 0); }
        else { all_in(s, &c, 1); all_out(s, &c, 1); printf(" %d:%s", i, name(client_errors(s))); }
        break; }
    case 9:  /* sends after the other side's close */
        if (server) { all_in(s, &c, 1); all_out(s, &c, 1); }
        else {
            all_out(s, "a", 1); all_in(s, &c, 1);
            printf(" %d:%d", i, client_errors(s));
            printf(",%zd", send(s, "b", 1, MSG_NOSIGNAL));
            nap(5);
            printf(",%zd", send(s, "c", 1, MSG_NOSIGNAL));
            printf(",%s", name(errno));
        }
        break;
    case 10: {  /* waited for by poll and by a set */
        struct pollfd p = {s, POLLIN | POLLRDHUP, 0};
        int e = epoll_create1(0);
        in_set(e, EPOLL_CTL_ADD, s, EPOLLIN | EPOLLRDHUP, 1);
        if (!server) { all_out(s, "a", 1); MUST(poll(&p, 1, 10000) == 1); all_in(s, &c, 1); /* The kernel may tell for a moment that there is something, before it tells that it is the end. */ do { p.revents = 0; MUST(poll(&p, 1, 10000) == 1); } while (p.revents == POLLIN); printf(" %d:%x", i, (unsigned)p.revents); }
        else { printf(" %d", i); waits(e, 10000); all_in(s, &c, 1); all_out(s, &c, 1); }
        close(e);
        break; }
    default:
        fill(b, n, (unsigned)i);
        if (!server) { all_out(s, b, n); memset(b, 0, n); }
        all_in(s, b, n);
        check(b, n, (unsigned)i);
        if (server) all_out(s, b, n);
        /* Who closes first. */
        if ((i / 12) % 2 == server) MUST(read(s, b, 1) == 0);
    }
}
enum { AGAIN = 240 };
static void again(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 50, &a), fast = 0, two;
    for (int i = 0; i < AGAIN; i++) {
        struct sockaddr_in from = {0};
        socklen_t len = sizeof from;
        int s = server ? (i % 4 == 1 ? accept4(l, (struct sockaddr *)&from, &len, SOCK_CLOEXEC) : accept(l, (struct sockaddr *)&from, &len)) : connected(&a);
        MUST(s >= 0);
        if (server) MUST(len == sizeof from && ntohs(from.sin_port) == port_of(s, 1) && port_of(s, 0) == ntohs(a.sin_port));
        else MUST(port_of(s, 1) == ntohs(a.sin_port));
        MUST(option(s, IPPROTO_TCP, TCP_NODELAY) == 0 && option(s, SOL_SOCKET, SO_ERROR) == 0);
        MUST(!(fcntl(s, F_GETFL) & O_NONBLOCK) && (fcntl(s, F_GETFD) & FD_CLOEXEC) == (server && i % 4 == 1 ? FD_CLOEXEC : 0));
        if (i % 3 == 0) { int one = 1; MUST(setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0); }
        /* Both name the same connection. */
        { int mine = port_of(s, server), theirs; if (!server) all_out(s, &mine, sizeof mine); else { all_in(s, &theirs, sizeof theirs); MUST(mine == theirs); } }
        transact(s, server, i);
        fast += fast_now(s);
        if (i % 7 == 6) { two = dup(s); close(s); s = two; }
        if (i % 11 == 4) MUST(fcntl(s, F_SETFL, O_NONBLOCK) == 0);
        close(s);
    }
    /* The same over and over. */
    for (int i = 0; i < 2 * AGAIN; i++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s >= 0);
        transact(s, server, 0);
        fast += fast_now(s);
        close(s);
    }
    printf(" done\n");
    fprintf(stderr, "%s\n", fast >= 20 ? "fast" : "kernel");
    if (!server) {
        /* A socket of another family does not connect there. */
        int other = socket(AF_INET6, SOCK_STREAM, 0);
        printf("family %d\n", other < 0 || (connect(other, (struct sockaddr *)&a, sizeof a) != 0 && (errno == EAFNOSUPPORT || errno == EINVAL)));
        close(other);
    }
    if (!server) { sync_wait(fd); int s = socket(AF_INET, SOCK_STREAM, 0); printf("closed %d", connect(s, (struct sockaddr *)&a, sizeof a)); printf(" %d\n", errno == ECONNREFUSED); }
    else { close(l); sync_send(fd); }
}
/* Several at a time: they are accepted in the order in which they were connected, and no more are connected than the server lets wait. */
static void again_order(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 8, &a), s[6], fast = 0;
    for (int round = 0; round < 60; round++) {
        unsigned char c;
        if (!server) {
            for (int i = 0; i < 6; i++) { s[i] = connected(&a); c = (unsigned char)i; all_out(s[i], &c, 1); }
            sync_send(fd);
            for (int i = 0; i < 6; i++) { all_in(s[i], &c, 1); MUST(c == i); fast += fast_now(s[i]); close(s[i]); }
        } else {
            sync_wait(fd);
            for (int i = 0; i < 6; i++) { MUST((s[i] = accept(l, NULL, NULL)) >= 0); all_in(s[i], &c, 1); if (c != i) { printf("FAILED accepted %d instead of %d in round %d\n", c, i, round); fflush(stdout); _exit(1); } }
            for (int i = 0; i < 6; i++) { c = (unsigned char)i; all_out(s[i], &c, 1); MUST(read(s[i], &c, 1) == 0); fast += fast_now(s[i]); close(s[i]); }
        }
    }
    printf("in order");
    /* Nobody accepts. */
    if (!server) {
        int some[40], n = 0, pending = 0;
        for (; n < 40 && !pending; n++) {
            struct pollfd p;
            MUST((some[n] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) >= 0);
            pending = connect(some[n], (struct sockaddr *)&a, sizeof a) != 0;
            p.fd = some[n]; p.events = POLLOUT; p.revents = 0;
            if (pending) { MUST(errno == EINPROGRESS); pending = poll(&p, 1, 100) == 0; }
        }
        printf(" full %d", pending);
        for (int i = 0; i < n; i++) close(some[i]);
        sync_send(fd);
    } else sync_wait(fd);
    printf("\n");
    fprintf(stderr, "%s\n", fast >= 20 ? "fast" : "kernel");
}
/* The server forks between, and its children accept. */
static void again_forked(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 20, &a), fast = 0, status;
    for (int i = 0; i < 80; i++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s >= 0);
        transact(s, server, 0);
        fast += fast_now(s);
        close(s);
    }
    fprintf(stderr, "%s\n", fast >= 5 ? "fast" : "kernel");
    if (!server) {
        sync_wait(fd);
        for (int i = 0; i < 40; i++) { int s = connected(&a); transact(s, 0, 0); close(s); }
        sync_wait(fd);
        if (fork() == 0) { for (int i = 0; i < 40; i++) { int s = connected(&a); transact(s, 0, 0); close(s); } _exit(0); }
        wait(&status);
        printf("child %d\n", status);
    } else {
        pid_t child = fork();
        if (child == 0) { for (int i = 0; i < 40; i++) { int s = accept(l, NULL, NULL); MUST(s >= 0); transact(s, 1, 0); close(s); } _exit(0); }
        sync_send(fd);
        waitpid(child, &status, 0);
        printf("child %d\n", status);
        sync_send(fd);
        for (int i = 0; i < 40; i++) { int s = accept(l, NULL, NULL); MUST(s >= 0); transact(s, 1, 0); close(s); }
    }
}
/* The listener is waited for by select, poll, and in the end by a set. */
static void again_polled(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 20, &a), fast = 0, e = epoll_create1(0);
    if (server) set_nonblocking(l);
    for (int i = 0; i < 120; i++) {
        int s;
        if (server) {
            struct pollfd p = {l, POLLIN, 0};
            fd_set r;
            if (i == 80) in_set(e, EPOLL_CTL_ADD, l, EPOLLIN, 1);
            if (i >= 80) { struct epoll_event got; MUST(epoll_wait(e, &got, 1, 10000) == 1); }
            else if (i % 2) { MUST(poll(&p, 1, 10000) == 1 && p.revents == POLLIN); }
            else { FD_ZERO(&r); FD_SET(l, &r); MUST(select(l + 1, &r, NULL, NULL, NULL) == 1 && FD_ISSET(l, &r)); }
            s = accept(l, NULL, NULL);
            MUST(s >= 0);
            MUST(i % 10 != 5 || (accept(l, NULL, NULL) < 0 && errno == EAGAIN));
        } else s = connected(&a);
        transact(s, server, 0);
        fast += fast_now(s);
        close(s);
        /* Not before the server has made its set. */
        if (i == 79) { if (server) { in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 9); MUST(epoll_ctl(e, EPOLL_CTL_DEL, fd, NULL) == 0); } }
    }
    printf("all\n");
    fprintf(stderr, "%s\n", fast >= 5 ? "fast" : "kernel");
}

/* Threads that connect, and threads that accept. */
enum { EACH = 150, CALLERS = 6, ACCEPTERS = 3 };
struct caller { struct sockaddr_in a; unsigned number; };
static void *calls(void *p)
{
    struct caller *c = p;
    for (unsigned i = 0; i < EACH; i++) {
        unsigned out = c->number * 1000 + i, in;
        int s = connected(&c->a);
        all_out(s, &out, sizeof out);
        all_in(s, &in, sizeof in);
        MUST(in == ~out);
        close(s);
    }
    return NULL;
}
static void *accepts(void *p)
{
    int *share = p;
    for (int i = 0; i < share[1]; i++) {
        unsigned word, answer;
        char c;
        int s = accept(share[0], NULL, NULL);
        MUST(s >= 0);
        all_in(s, &word, sizeof word);
        answer = ~word;
        all_out(s, &answer, sizeof answer);
        if (word % 3 == 0) MUST(read(s, &c, 1) == 0);
        close(s);
    }
    return NULL;
}
static void again_threads(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 50, &a), share[2] = {l, CALLERS * EACH / ACCEPTERS};
    struct caller c[CALLERS];
    pthread_t t[CALLERS];
    int n = server ? ACCEPTERS : CALLERS;
    for (int i = 0; i < CALLERS; i++) { c[i].a = a; c[i].number = (unsigned)i; }
    for (int i = 0; i < n; i++) MUST(pthread_create(&t[i], NULL, server ? accepts : calls, server ? (void *)share : (void *)&c[i]) == 0);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    printf("all %d\n", n);
}

/* As long as whoever started the client wishes. */
static void held(int fd, int server)
{
    char c;
    if (server) { sync_wait(fd); return; }
    while (read(0, &c, 1) > 0) ;
    sync_send(fd);
    printf("let go\n");
}

static const struct { const char *name; void (*run)(int, int); } cases[] = {
    {"echo", echo}, {"stream", stream}, {"lists", lists}, {"half_close", half_close}, {"peek", peek},
    {"nonblocking", nonblocking}, {"timeouts", timeouts}, {"signalled", signalled}, {"reset", reset},
    {"broken_pipe", broken_pipe}, {"duplicates", duplicates}, {"forks", forks}, {"polled", polled},
    {"selected", selected}, {"epolled", epolled}, {"files", files}, {"program", program}, {"spawned", spawned},
    {"killed", killed}, {"threads", threads}, {"urgent", urgent}, {"streams", streams}, {"passed", passed},
    {"linger", linger}, {"changed", changed}, {"edges", edges}, {"once", once}, {"exclusive", exclusive}, {"nested", nested},
    {"mixed", mixed}, {"room", room}, {"early", early}, {"set_forked", set_forked}, {"set_outlives", set_outlives},
    {"crew", crew}, {"two_waits", two_waits}, {"interrupted", interrupted}, {"endings", endings},
    {"killed_in_set", killed_in_set}, {"again", again}, {"again_order", again_order}, {"again_forked", again_forked},
    {"again_polled", again_polled}, {"again_threads", again_threads}, {"held", held},
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
    /* Numbers that the cases take for nobody's: whoever started this may have left some open. */
    closefrom(3);
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
