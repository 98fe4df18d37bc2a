/* Calls that few programs make on a connection, and ways that few of them go. */
#include "cases.h"
#include <stdarg.h>
#include <sys/syscall.h>
/* The old ways are what is looked at here. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Bytes that the other side sent, as they came; `n` of them. */
static void print_in(int fd, size_t n)
{
    char b[200];
    MUST(n < sizeof b);
    all_in(fd, b, n);
    printf("%.*s\n", (int)n, b);
}
/* Waits until so many bytes are there. */
static void there(int fd, int n)
{
    for (int all = 0; all < n; nap(1)) MUST(ioctl(fd, FIONREAD, &all) == 0);
}
static void print_to(int fd, const char *form, ...)
{
    va_list all;
    va_start(all, form);
    MUST(vdprintf(fd, form, all) > 0);
    va_end(all);
}
/* A connection as standard input and output, where streams read and write by calls of their own. */
void standard(int fd, int server)
{
    if (server) {
        int kept = dup(1);
        fflush(stdout);
        MUST(dup2(fd, 1) == 1);
        all_out(1, "1", 1); printf("2"); fflush(stdout); all_out(1, "3", 1); puts("4"); fflush(stdout); all_out(1, "5", 1);
        print_to(fd, "%d", 6);
        all_out(fd, "7", 1);
        MUST(dup2(kept, 1) == 1);
        close(kept);
        sync_wait(fd);
    } else {
        char *line = NULL;
        size_t room = 0;
        print_in(fd, 8);
        MUST(dup3(fd, 0, O_CLOEXEC) == 0);
        sync_send(0);
        close(fd);
        printf("line %zd", getline(&line, &room, stdin)); printf(" %s", line);
        free(line);
        return;
    }
    all_out(fd, "a line\n", 7);
}
/* The lowest number is free, so that whatever duplicates the connection makes it standard input. */
void standard_free(int fd, int server)
{
    if (server) { char line[20]; close(0); MUST(dup(fd) == 0); sync_send(fd); printf("line %s", fgets(line, sizeof line, stdin)); }
    else { sync_wait(fd); all_out(fd, "another\n", 8); }
}
/* Other programs that have the connection, begun by the C library itself. */
void shells(int fd, int server)
{
    if (server) {
        char command[100];
        FILE *f;
        fflush(stdout);
        all_out(fd, "1", 1);
        snprintf(command, sizeof command, "printf abc >&%d", fd);
        MUST(system(command) == 0);
        all_out(fd, "2", 1);
        MUST((f = popen(command, "r")) && pclose(f) == 0);
        all_out(fd, "3", 1);
        sync_wait(fd);
    } else { print_in(fd, 9); sync_send(fd); }
}
void vectors(int fd, int server)
{
    struct iovec two[2] = {{"ab", 2}, {"cde", 3}};
    if (server) {
        char b[3], c[7];
        struct iovec in[2] = {{b, sizeof b}, {c, sizeof c}};
        all_out(fd, "1", 1);
        printf("out %zd", pwritev2(fd, two, 2, -1, 0));
        all_out(fd, "2", 1);
        sync_wait(fd);
        there(fd, 5);
        printf(" in %zd", preadv2(fd, in, 2, -1, RWF_NOWAIT)); printf(" %.3s%.2s", b, c);
        printf(" none %zd", preadv2(fd, in, 2, -1, RWF_NOWAIT)); printf(" %s", name(errno));
        printf(" at %zd", preadv2(fd, in, 2, 5, 0)); printf(" %d\n", errno == ESPIPE);
        sync_send(fd);
    } else { print_in(fd, 7); sync_send(fd); MUST(pwritev2(fd, two, 2, -1, 0) == 5); sync_wait(fd); }
}
/* Flags of preadv2 and pwritev2: what the kernel makes of each differs from one to the next. Of bytes that are there, each takes one. */
void vector_flags(int fd, int server)
{
    char b[2];
    struct iovec in = {b, 1}, out = {"x", 1};
    int came = 0;
    if (server) {
        sync_wait(fd);
        there(fd, 40);
        for (int i = 0; i < 20; i++) {
            errno = 0;
            printf(" %d:%zd", i, preadv2(fd, &in, 1, -1, 1 << i)); printf("/%d", errno);
        }
        printf(" at %zd", preadv2(fd, &in, 1, 0, RWF_HIPRI)); printf("/%d", errno == ESPIPE);
        printf(" below %zd", preadv2(fd, &in, 1, -2, RWF_HIPRI)); printf("/%d\n", errno == EINVAL);
        for (int i = 0; i < 20; i++) {
            errno = 0;
            printf(" %d:%zd", i, pwritev2(fd, &out, 1, -1, 1 << i)); printf("/%d", errno);
        }
        MUST(ioctl(fd, FIONREAD, &came) == 0);
        printf(" left %d\n", came);
        all_out(fd, "e", 1);
        for (; came; came--) all_in(fd, b, 1);
        sync_wait(fd);
    } else {
        sync_send(fd);
        stream_out(fd, 0, 40, 40);
        do { all_in(fd, b, 1); came++; } while (*b != 'e');
        printf("came %d\n", came);
        sync_send(fd);
    }
}
/* Lists of buffers that are none, and bytes that are thrown away. */
void lists_wrong(int fd, int server)
{
    char b[20];
    struct iovec many[1025] = {{b, 1}}, wrong[3] = {{b, (size_t)-1}, {b, 1}, {b, 1}}, long_ones[3] = {{b, ~0UL >> 1}, {b, ~0UL >> 1}, {b, ~0UL >> 1}};
    struct msghdr m = {.msg_iov = many, .msg_iovlen = 1025};
    /* Where the compiler does not see what they are. */
    struct iovec *volatile nowhere = (void *)8;
    volatile int below = -1;
    int null = open("/dev/null", O_RDONLY);
    printf("none %zd", readv(null, nowhere, 2)); printf(" %d\n", errno == EFAULT);
    wrong[0].iov_len = wrong[1].iov_len = 0;
    printf("no bytes %zd %zd %zd\n", read(fd, b, 0), readv(fd, wrong, 2), write(fd, b, 0));
    wrong[0].iov_len = (size_t)-1; wrong[1].iov_len = 1;
    if (server) { sync_wait(fd); there(fd, 5); }
    printf("long %zd", readv(fd, wrong, 2)); printf(" %d", errno == EINVAL);
    printf(" %zd", writev(fd, wrong, 3)); printf(" %d", errno == EINVAL);
    printf(" %d\n", (int)(writev(fd, long_ones, 3) < 0));
    printf("many %zd", readv(fd, many, 1025)); printf(" %d", errno == EINVAL);
    printf(" %zd", writev(fd, many, below)); printf(" %d", errno == EINVAL);
    printf(" %zd", recvmsg(fd, &m, MSG_DONTWAIT)); printf(" %d\n", errno == EMSGSIZE);
    if (server) {
        memset(b, '-', sizeof b);
        printf("thrown away %zd", recv(fd, b, 3, MSG_TRUNC | MSG_DONTWAIT)); printf(" %.3s", b);
        printf(" looked at %zd", recv(fd, b, 20, MSG_TRUNC | MSG_PEEK)); printf(" %.3s", b);
        printf(" rest %zd", recv(fd, b, 20, 0)); printf(" %.2s", b);
        printf(" none %zd", recv(fd, b, 3, MSG_TRUNC | MSG_DONTWAIT)); printf(" %s\n", name(errno));
        sync_send(fd);
    } else { sync_send(fd); all_out(fd, "hello", 5); sync_wait(fd); }
}
/* A receive that a signal comes amid: ends it, or goes on until bytes come. The other side sends the signal once this one sleeps, and the bytes once its
 * handler has run. */
static int rung_at;
static void rung(int s) { (void)s; signals++; (void)!send(rung_at, "h", 1, MSG_NOSIGNAL); }
static void rings(int fd, const char *what)
{
    char c;
    ssize_t r;
    signals = 0;
    sync_send(fd);
    r = recv(fd, &c, 1, 0);
    printf("%s %zd %s", what, r, r < 0 ? name(errno) : "-"); printf(" %d\n", (int)signals);
    if (r < 0) all_in(fd, &c, 1);
}
/* Waits until a process with one thread sleeps. */
static void asleep(pid_t pid)
{
    char path[40], b[400], *end;
    ssize_t n;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    do {
        int f = open(path, O_RDONLY);
        MUST(f >= 0 && (n = read(f, b, sizeof b - 1)) > 0);
        close(f);
        b[n] = 0;
        MUST((end = strrchr(b, ')')) != NULL);
    } while (end[2] != 'S');
}
extern int __sigaction(int, const struct sigaction *, struct sigaction *);
extern sighandler_t bsd_signal(int, sighandler_t), sysv_signal(int, sighandler_t);
void handlers(int fd, int server)
{
    struct sigaction a = {0};
    pid_t pid = getpid();
    char h;
    if (!server) {
        all_in(fd, &pid, sizeof pid);
        for (int i = 0; i < 8; i++) { sync_wait(fd); asleep(pid); MUST(kill(pid, SIGALRM) == 0); all_in(fd, &h, 1); sync_send(fd); }
        return;
    }
    rung_at = fd;
    all_out(fd, &pid, sizeof pid);
    MUST(siginterrupt(SIGALRM, 1) == 0 && signal(SIGALRM, rung) != SIG_ERR);
    rings(fd, "siginterrupt, signal");
    MUST(bsd_signal(SIGALRM, rung) == rung);
    rings(fd, "bsd_signal");
    MUST(siginterrupt(SIGALRM, 0) == 0 && ssignal(SIGALRM, rung) == rung);
    rings(fd, "ssignal");
    MUST(sigset(SIGALRM, SIG_HOLD) == rung && sigset(SIGALRM, rung) == SIG_HOLD);
    rings(fd, "sigset");
    a.sa_handler = rung;
    MUST(__sigaction(SIGALRM, &a, NULL) == 0);
    rings(fd, "__sigaction");
    MUST(sysv_signal(SIGALRM, rung) == rung);
    rings(fd, "sysv_signal");
    MUST(sigaction(SIGALRM, NULL, &a) == 0);
    printf("then %s\n", a.sa_handler == SIG_DFL ? "default" : "other");
    a.sa_handler = rung; a.sa_flags = SA_RESETHAND | SA_NODEFER | SA_RESTART;
    MUST(sigaction(SIGALRM, &a, NULL) == 0 && sigaction(SIGALRM, NULL, &a) == 0);
    printf("flags %x\n", (unsigned)a.sa_flags & ~0x04000000u);
    rings(fd, "once");
    MUST(signal(SIGALRM, rung) == SIG_DFL);
    rings(fd, "signal");
    /* No handler is one of this name. */
    errno = 0;
    printf("none %d", signal(SIGALRM, SIG_ERR) == SIG_ERR && errno == EINVAL); errno = 0;
    printf(" %d", sysv_signal(SIGALRM, SIG_ERR) == SIG_ERR && errno == EINVAL);
    MUST(sigaction(SIGALRM, NULL, &a) == 0);
    printf(", as it was %d", a.sa_handler == rung);
    /* The C library does not look at what this one is given. */
    printf(", set %d", sigset(SIGALRM, SIG_ERR) == rung);
    printf(" %d\n", signal(SIGALRM, SIG_DFL) == SIG_ERR);
}
/* What only the kernel tells: signals for each change, how many bytes are to come together, from where on they are looked at. */
void kernels_own(int fd, int server)
{
    const char *sent[] = {"hello", "12345", "67890", "again"};
    int all = 10, none = 0, on = 1;
    char b[20];
    struct pollfd p = {fd, POLLIN, 0};
    if (!server) { for (int i = 0; i < 4; i++) { sync_wait(fd); all_out(fd, sent[i], 5); } return; }
    MUST(signal(SIGIO, count) != SIG_ERR && fcntl(fd, F_SETOWN, getpid()) == 0);
    MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC) == 0);
    signals = 0;
    sync_send(fd);
    for (int i = 0; i < 5000 && !signals; i++) nap(1);
    printf("told %d", signals > 0);
    all_in(fd, b, 5); printf(" %.5s\n", b);
    MUST(signal(SIGIO, SIG_IGN) != SIG_ERR);
    MUST(setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &all, sizeof all) == 0);
    sync_send(fd);
    there(fd, 5);
    printf("poll %d\n", poll(&p, 1, 50));
    sync_send(fd);
    printf("poll %d", poll(&p, 1, 5000)); all_in(fd, b, 10); printf(" %.10s\n", b);
    MUST(setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &on, sizeof on) == 0 && setsockopt(fd, SOL_SOCKET, SO_PEEK_OFF, &none, sizeof none) == 0);
    sync_send(fd);
    there(fd, 5);
    printf("look %zd", recv(fd, b, 2, MSG_PEEK)); printf(" %.2s", b);
    printf(" %zd", recv(fd, b, 2, MSG_PEEK)); printf(" %.2s\n", b);
}
/* The same, each by itself, as each takes the connection to the kernel. */
static void by_one(int fd, int server, int level, int option)
{
    int on = 1;
    char b[20], control[200];
    struct iovec v = {b, 2};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (!server) { sync_wait(fd); all_out(fd, "hello", 5); sync_wait(fd); return; }
    MUST(setsockopt(fd, level, option, &on, sizeof on) == 0);
    sync_send(fd);
    there(fd, 5);
    printf("got %zd", recvmsg(fd, &m, 0)); printf(" %.2s %d\n", b, m.msg_controllen > 0);
    sync_send(fd);
}
void left_to_come(int fd, int server) { by_one(fd, server, IPPROTO_TCP, TCP_INQ); }
/* The system begins to take the time of what arrives a little after it was asked to. */
void stamped(int fd, int server)
{
    int on = 1, has = 0;
    char c, control[200];
    if (!server) { while (recv(fd, &c, 1, 0) == 1) all_out(fd, &c, 1); return; }
    MUST(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on) == 0);
    for (int i = 0; i < 2000 && !has; i++) {
        struct iovec v = {&c, 1};
        struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        all_out(fd, "t", 1);
        MUST(recvmsg(fd, &m, 0) == 1);
        has = m.msg_controllen > 0;
        if (!has) nap(1);
    }
    printf("stamped %d\n", has);
}
void told_of(int fd, int server)
{
    int on = 1;
    if (!server) { sync_wait(fd); sync_send(fd); sync_wait(fd); return; }
    MUST(signal(SIGIO, count) != SIG_ERR && fcntl(fd, F_SETOWN, getpid()) == 0 && ioctl(fd, FIOASYNC, &on) == 0);
    sync_send(fd);
    for (int i = 0; i < 5000 && !signals; i++) nap(1);
    printf("told %d\n", signals > 0);
    sync_wait(fd);
    MUST(signal(SIGIO, SIG_IGN) != SIG_ERR);
    sync_send(fd);
}
/* Several messages at once, with a limit on how long that may take: it is looked at after each, and what is left of it is told. */
void messages_limit(int fd, int server)
{
    struct timespec limits[] = {{0, 0}, {1000, 0}, {-1, 0}, {0, 1000000000}};
    if (!server) { for (int i = 0; i < 2; i++) { sync_wait(fd); all_out(fd, "abc", 3); } sync_wait(fd); return; }
    for (int i = 0; i < 4; i++) {
        char b[3] = {0};
        struct iovec v[3];
        struct mmsghdr m[3];
        struct timespec left = limits[i];
        memset(m, 0, sizeof m);
        for (int k = 0; k < 3; k++) { v[k].iov_base = b + k; v[k].iov_len = 1; m[k].msg_hdr.msg_iov = &v[k]; m[k].msg_hdr.msg_iovlen = 1; }
        if (i < 2) { sync_send(fd); there(fd, 3); }
        errno = 0;
        printf("%d messages", recvmmsg(fd, m, 3, 0, &left)); printf(" %.3s, invalid %d", b, errno == EINVAL);
        if (i == 1) printf(", less is left %d\n", left.tv_sec < 1000 && left.tv_sec >= 900);
        else printf(", left %lld %ld\n", (long long)left.tv_sec, left.tv_nsec);
        if (i == 0) print_in(fd, 2);
    }
    sync_send(fd);
}
/* Ranges of descriptors that are none, and flags that nobody knows, close nothing. */
void ranges(int fd, int server)
{
    if (server) {
        printf("%d", close_range(50, 40, 0)); printf(" %d", errno == EINVAL);
        printf(" %d", close_range(3, ~0U, 0x80)); printf(" %d\n", errno == EINVAL);
        sync_send(fd);
        sync_wait(fd);
    } else { sync_wait(fd); sync_send(fd); }
}
/* TLS by the kernel: what the other side sent before comes by the kernel then, and so does all that it sends from now on; also where this kernel has none. */
void upper(int fd, int server)
{
    enum { LEFT = 3000 };
    int came = 0, all = 0;
    if (!server) { sync_wait(fd); stream_out(fd, 0, LEFT, 100); sync_wait(fd); stream_out(fd, LEFT, 4, 4); sync_wait(fd); return; }
    sync_send(fd);
    there(fd, LEFT);
    MUST(setsockopt(fd, IPPROTO_TCP, 31, "none such", 9) == -1);
    all_out(fd, "s", 1);
    for (int i = 0; i < 5000 && came < LEFT + 4; i++, nap(1)) MUST(by_instruction(SYS_ioctl, fd, FIONREAD, (long)&came) == 0);
    MUST(ioctl(fd, FIONREAD, &all) == 0);
    printf("the kernel has %d of %d\n", came, all);
    stream_in(fd, 0, LEFT + 4);
    sync_send(fd);
}
/* A close that waits for a while, with bytes that the other side has not read. */
void lingers(int fd, int server)
{
    struct linger l = {1, 5}, set;
    socklen_t len = sizeof set;
    if (!server) {
        sync_wait(fd);
        MUST(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l) == 0 && getsockopt(fd, SOL_SOCKET, SO_LINGER, &set, &len) == 0);
        printf("linger %d %d\n", set.l_onoff, set.l_linger);
        stream_out(fd, 0, 10000, 1000);
        close(fd);
    } else {
        struct pollfd p = {fd, POLLRDHUP, 0};
        sync_send(fd);
        MUST(poll(&p, 1, 20000) == 1);
        printf("end after %lu\n", to_end(fd, 0));
    }
}
/* Bytes that the other side has, though it has not read them, are on their way no more. */
void drained(int fd, int server)
{
    struct sockaddr_in a;
    int left = 1, unsent = 1, l = door(fd, server, 5, &a), other = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(other >= 0);
    if (!server) { sync_wait(other); stream_in(fd, 0, 5000); sync_send(fd); return; }
    stream_out(fd, 0, 5000, 1000);
    for (int i = 0; i < 5000 && (left || unsent); i++, nap(1)) MUST(ioctl(fd, TIOCOUTQ, &left) == 0 && ioctl(fd, 0x894B, &unsent) == 0);
    printf("left %d %d\n", left, unsent);
    sync_send(other);
    sync_wait(fd);
}
/* What the kernel counts of a connection. (The header of the C library's knows less of it.) */
static void counts(int fd, unsigned long sent, unsigned long received)
{
    char info[216];
    unsigned long in, out;
    socklen_t len = sizeof info, few = 128;
    for (int i = 0; i < 5000; i++, nap(1)) {
        unsigned long acknowledged;
        MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len) == 0);
        memcpy(&acknowledged, info + 120, 8); memcpy(&in, info + 128, 8); memcpy(&out, info + 200, 8);
        /* Who connected has had its first segment acknowledged, too. */
        if (in >= received && acknowledged >= sent) break;
    }
    printf("sent %lu received %lu", out, in);
    memset(info, 'x', sizeof info);
    MUST(getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &few) == 0);
    printf(" of %u, the rest as it was %d\n", few, info[128] == 'x' && info[200] == 'x');
}
void counted(int fd, int server)
{
    enum { BYTES = 100000 };
    if (server) { stream_out(fd, 0, BYTES, 3000); sync_wait(fd); counts(fd, BYTES + 64, 65); sync_send(fd); }
    else { stream_in(fd, 0, BYTES); counts(fd, 64, BYTES + 64); sync_send(fd); sync_wait(fd); }
}
