/* One side of a random script of socket calls (tests/fuzz): it does what it is told, one command at a time, and says what came of it. It knows
 * nothing of libfastsock.so, but for the command that asks whether a connection is fast.
 *
 *   actor zygote CONTROL SLOT...       descriptors: sockets of whole messages (SOCK_SEQPACKET), which the driver has the other ends of
 *   actor resume NUMBER HANDLE... -- SLOT...   the same actor after exec: its number, the descriptors behind its handles
 *
 * A command is "LANE NAME NUMBER...": lane 0 does it and answers, another lane begins it in a thread of its own; "0 join LANE" answers
 * then. An answer is "RESULT ERRNO NOTE|ASIDE": the aside is not compared. Bytes of a stream depend on its key and their place in it, so
 * that whoever receives them can tell whether they are right. */
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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HANDLES = 16, LANES = 4, SLOTS = 3, NUMBERS = 40, MOST = 1 << 20 };

struct job {
    const char *name;
    long a[NUMBERS];
    int n;
    long ret;
    int err;
    char note[512], aside[64];
    int used;
    unsigned long begun;
};

static const char *self;
static int slots[SLOTS], mine;
static int handles[HANDLES];
static struct lane { pthread_t thread; struct job job; char text[600]; volatile int done; int used; } lanes[LANES];
static volatile sig_atomic_t pipes, signals;

static void note(struct job *j, const char *form, long x)
{
    size_t at = strlen(j->note);
    snprintf(j->note + at, sizeof j->note - at, form, x);
}
/* A call that works leaves errno as it was. */
static void result(struct job *j, long ret)
{
    j->ret = ret;
    j->err = ret < 0 ? errno : 0;
    if (ret >= 0 && errno) note(j, "errno %ld ", errno);
}
static unsigned char byte_at(long key, long at) { return (unsigned char)(((unsigned long)at * 2654435761u >> 13) + (unsigned long)key * 71); }
static void fill(unsigned char *to, long n, long key, long at) { for (long i = 0; i < n; i++) to[i] = byte_at(key, at + i); }
static void check(struct job *j, const unsigned char *got, long n, long key, long at)
{
    for (long i = 0; i < n; i++) if (got[i] != byte_at(key, at + i)) { note(j, "WRONG BYTE %ld ", i); return; }
}
static int fd_of(long h) { return h >= 0 && h < HANDLES ? handles[h] : -1; }
static void keep(struct job *j, long h, int fd)
{
    result(j, fd < 0 ? -1 : 0);
    if (fd >= 0) { handles[h] = fd; note(j, "fd %ld ", fd); }
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }
static void nap(long us) { struct timespec t = {us / 1000000, us % 1000000 * 1000}; nanosleep(&t, NULL); }

/* The ways to send a run of bytes, and to receive one. */
/* The same calls by their number, from BY_NUMBER on. */
enum { BY_NUMBER = 6 };
static long sends_by_number(int fd, unsigned char *b, size_t n, long kind, int flags)
{
    struct iovec v[2] = {{b, n / 3}, {b + n / 3, n - n / 3}};
    struct mmsghdr one = {.msg_hdr = {.msg_iov = v, .msg_iovlen = 2}};
    long r;
    switch (kind) {
    case 1: return syscall(SYS_write, fd, b, n);
    case 2: return syscall(SYS_writev, fd, v, 2);
    case 4: return syscall(SYS_sendmsg, fd, &one.msg_hdr, flags);
    case 5: r = syscall(SYS_sendmmsg, fd, &one, 1, flags); return r < 0 ? r : (long)one.msg_len;
    default: return syscall(SYS_sendto, fd, b, n, flags, NULL, 0);
    }
}
static long receives_by_number(int fd, unsigned char *b, size_t n, long kind, int flags)
{
    struct iovec v[2] = {{b, n / 4}, {b + n / 4, n - n / 4}};
    struct mmsghdr one = {.msg_hdr = {.msg_iov = v, .msg_iovlen = 2}};
    long r;
    switch (kind) {
    case 1: return syscall(SYS_read, fd, b, n);
    case 2: return syscall(SYS_readv, fd, v, 2);
    case 4: return syscall(SYS_recvmsg, fd, &one.msg_hdr, flags);
    case 5: r = syscall(SYS_recvmmsg, fd, &one, 1, flags, NULL); return r < 0 ? r : (long)one.msg_len;
    default: return syscall(SYS_recvfrom, fd, b, n, flags, NULL, NULL);
    }
}
static long sends(int fd, unsigned char *b, size_t n, long kind, int flags)
{
    struct iovec v[3] = {{b, n / 3}, {b, 0}, {b + n / 3, n - n / 3}};
    struct msghdr m = {0};
    m.msg_iov = v; m.msg_iovlen = 3;
    if (kind >= BY_NUMBER) return sends_by_number(fd, b, n, kind - BY_NUMBER, flags);
    switch (kind) {
    case 1: return write(fd, b, n);
    case 2: return writev(fd, v, 3);
    case 3: return sendto(fd, b, n, flags, NULL, 0);
    case 4: return sendmsg(fd, &m, flags);
    case 5: {
        struct mmsghdr two[2];
        int r;
        memset(two, 0, sizeof two);
        two[0].msg_hdr.msg_iov = v; two[0].msg_hdr.msg_iovlen = 1;
        two[1].msg_hdr.msg_iov = v + 2; two[1].msg_hdr.msg_iovlen = 1;
        r = sendmmsg(fd, two + (n < 3), n < 3 ? 1 : 2, (unsigned)flags);
        return r < 0 ? r : n < 3 ? (long)two[1].msg_len : (long)two[0].msg_len + (r > 1 ? (long)two[1].msg_len : 0);
    }
    default: return send(fd, b, n, flags);
    }
}
static long receives(int fd, unsigned char *b, size_t n, long kind, int flags)
{
    struct iovec v[3] = {{b, n / 4}, {b, 0}, {b + n / 4, n - n / 4}};
    struct msghdr m = {0};
    char from[128];
    socklen_t len = sizeof from;
    m.msg_iov = v; m.msg_iovlen = 3;
    if (kind >= BY_NUMBER) return receives_by_number(fd, b, n, kind - BY_NUMBER, flags);
    switch (kind) {
    case 1: return read(fd, b, n);
    case 2: return readv(fd, v, 3);
    case 3: return recvfrom(fd, b, n, flags, (struct sockaddr *)from, &len);
    case 4: return recvmsg(fd, &m, flags);
    case 5: {
        struct mmsghdr one;
        int r;
        memset(&one, 0, sizeof one);
        one.msg_hdr = m;
        r = recvmmsg(fd, &one, 1, (unsigned)flags, NULL);
        return r < 0 ? r : (long)one.msg_len;
    }
    default: return recv(fd, b, n, flags);
    }
}

static unsigned char *room(long n) { unsigned char *b = calloc(1, n > 0 && n <= MOST ? (size_t)n : 1); if (!b) abort(); return b; }

static void op_send(struct job *j)
{
    unsigned char *b = room(j->a[3]);
    int before = pipes;
    fill(b, j->a[3], j->a[1], j->a[2]);
    result(j, sends(fd_of(j->a[0]), b, (size_t)j->a[3], j->a[4], (int)j->a[5]));
    if (pipes != before) note(j, "SIGPIPE ", 0);
    free(b);
}
/* A short count is no promise broken: what is there beyond it is taken, too. */
static void op_recv(struct job *j)
{
    long n = j->a[3], more;
    int flags = (int)j->a[5], fd = fd_of(j->a[0]);
    unsigned char *b = room(n);
    result(j, receives(fd, b, (size_t)n, j->a[4], flags));
    if (j->ret > 0 && j->ret < n && !(flags & MSG_WAITALL)) {
        while (j->ret < n && (more = recv(fd, b + j->ret, (size_t)(n - j->ret), MSG_DONTWAIT)) > 0) j->ret += more;
        if (j->ret < n) note(j, "then %ld ", more < 0 ? errno : 0);
    }
    check(j, b, j->ret, j->a[1], j->a[2]);
    free(b);
}
/* How much is seen at once is nobody's promise; that it is there, and what it is. */
static void op_peek(struct job *j)
{
    unsigned char *b = room(j->a[3]);
    result(j, receives(fd_of(j->a[0]), b, (size_t)j->a[3], j->a[4], MSG_PEEK | (int)j->a[5]));
    check(j, b, j->ret, j->a[1], j->a[2]);
    if (j->ret > 0) j->ret = 1;
    free(b);
}
static void op_fill(struct job *j)
{
    unsigned char b[4096];
    long total = 0, w = 0;
    /* What the kernel moves on a moment later makes room once more. */
    for (int full = 0; full < 3 && total < 64 << 20;) {
        fill(b, sizeof b, j->a[1], j->a[2] + total);
        w = send(fd_of(j->a[0]), b, sizeof b, MSG_DONTWAIT);
        if (w > 0) { total += w; full = 0; continue; }
        if (errno != EAGAIN) break;
        full++;
        nap(300);
    }
    result(j, w);
    snprintf(j->aside, sizeof j->aside, "%ld", total);
}
/* All of `len` bytes, in pieces. */
static void op_drain(struct job *j)
{
    unsigned char *b = room(7000);
    long at = 0, r = 1;
    while (at < j->a[3]) {
        long most = 1 + (at * 7919 + j->a[3]) % 7000;
        r = recv(fd_of(j->a[0]), b, (size_t)(most < j->a[3] - at ? most : j->a[3] - at), 0);
        if (r <= 0) { result(j, r); note(j, "ended ", 0); break; }
        check(j, b, r, j->a[1], j->a[2] + at);
        at += r;
    }
    if (at >= j->a[3]) { j->ret = 0; j->err = 0; }
    snprintf(j->aside, sizeof j->aside, "%ld", at);
    free(b);
}
static void op_sendall(struct job *j)
{
    long at = 0, w = 0, most = j->a[4];
    unsigned char *b = room(most);
    while (at < j->a[3]) {
        long n = most < j->a[3] - at ? most : j->a[3] - at;
        fill(b, n, j->a[1], j->a[2] + at);
        w = send(fd_of(j->a[0]), b, (size_t)n, 0);
        if (w < 0) break;
        at += w;
    }
    if (w < 0) result(j, w); else result(j, at);
    free(b);
}
static void ping(struct job *j, int first)
{
    for (long i = 0; i < j->a[5]; i++) {
        unsigned char c = byte_at(j->a[1], j->a[2] + i), d = 0;
        if (first && send(fd_of(j->a[0]), &c, 1, 0) != 1) { result(j, -1); return; }
        if (recv(fd_of(j->a[0]), &d, 1, MSG_WAITALL) != 1) { result(j, -1); return; }
        check(j, &d, 1, j->a[3], j->a[4] + i);
        if (!first && send(fd_of(j->a[0]), &c, 1, 0) != 1) { result(j, -1); return; }
    }
    result(j, j->a[5]);
}
/* Threads that share a descriptor: what each sends in one call stays together as long as there is room for it, and nothing is lost. */
struct half { int fd; long count; int who; };
static void *half(void *p)
{
    struct half *h = p;
    unsigned char b[16];
    memset(b, h->who, sizeof b);
    for (long i = 0; i < h->count; i++) if (send(h->fd, b, sizeof b, 0) != sizeof b) break;
    return NULL;
}
static void op_duel(struct job *j)
{
    struct half two[2] = {{fd_of(j->a[0]), j->a[1], 1}, {fd_of(j->a[0]), j->a[1], 2}};
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, half, &two[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    result(j, 0);
}
static void op_tally(struct job *j)
{
    long seen[3] = {0, 0, 0}, want = j->a[1] * 32, at = 0;
    unsigned char *b = room(want);
    while (at < want) {
        long r = recv(fd_of(j->a[0]), b + at, (size_t)(want - at), 0);
        if (r <= 0) { result(j, -1); break; }
        at += r;
    }
    for (long i = 0; i < at; i++) {
        seen[b[i] < 3 ? b[i] : 0]++;
        if (b[i] != b[i / 16 * 16]) { note(j, "TORN at %ld ", i); break; }
    }
    result(j, at);
    note(j, "%ld ", seen[1]); note(j, "%ld ", seen[2]);
    free(b);
}
static int file_of(long key, long at, long n)
{
    unsigned char *b = room(n);
    int f = memfd_create("fuzz", MFD_CLOEXEC);
    fill(b, n, key, at);
    if (f < 0 || pwrite(f, b, (size_t)n, 0) != n) abort();
    free(b);
    return f;
}
static void op_sendfile(struct job *j)
{
    int f = file_of(j->a[1], j->a[2], j->a[3]);
    off_t at = 0;
    long w = 0;
    while (at < j->a[3] && (w = sendfile(fd_of(j->a[0]), f, &at, (size_t)(j->a[3] - at))) > 0) ;
    result(j, w < 0 ? w : (long)at);
    close(f);
}
static void op_spliceout(struct job *j)
{
    int p[2];
    long at = 0, w = 0;
    unsigned char *b = room(j->a[3]);
    fill(b, j->a[3], j->a[1], j->a[2]);
    if (pipe2(p, O_CLOEXEC) || write(p[1], b, (size_t)j->a[3]) != j->a[3]) abort();
    while (at < j->a[3] && (w = splice(p[0], NULL, fd_of(j->a[0]), NULL, (size_t)(j->a[3] - at), 0)) > 0) at += w;
    result(j, w < 0 ? w : at);
    close(p[0]); close(p[1]); free(b);
}
static void op_splicein(struct job *j)
{
    int p[2], there = 0;
    long at = 0, r = 0;
    unsigned char *b = room(j->a[3]);
    if (pipe2(p, O_CLOEXEC)) abort();
    /* Of what is there: a splice from a socket waits whatever its flags. */
    while (at < j->a[3] && !ioctl(fd_of(j->a[0]), FIONREAD, &there) && there > 0) {
        long most = j->a[3] - at < there ? j->a[3] - at : there;
        if ((r = splice(fd_of(j->a[0]), NULL, p[1], NULL, (size_t)most, SPLICE_F_NONBLOCK)) <= 0) break;
        at += r;
    }
    result(j, r < 0 && !at ? r : at);
    if (at && read(p[0], b, (size_t)at) != at) abort();
    check(j, b, at, j->a[1], j->a[2]);
    close(p[0]); close(p[1]); free(b);
}
static void op_stream(struct job *j)
{
    unsigned char *b = room(j->a[3]);
    int two = dup(fd_of(j->a[0]));
    FILE *f = two < 0 ? NULL : fdopen(two, "w");
    if (!f) { result(j, -1); free(b); return; }
    fill(b, j->a[3], j->a[1], j->a[2]);
    result(j, (long)fwrite(b, 1, (size_t)j->a[3], f));
    if (fclose(f)) result(j, -1);
    free(b);
}
static void op_pass(struct job *j)
{
    int p[2], got = -1;
    char c = 'x', room_for[CMSG_SPACE(sizeof(int))];
    struct iovec v = {&c, 1};
    struct msghdr m = {0};
    struct cmsghdr *h;
    if (fd_of(j->a[0]) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, p)) { result(j, -1); return; }
    memset(room_for, 0, sizeof room_for);
    m.msg_iov = &v; m.msg_iovlen = 1; m.msg_control = room_for; m.msg_controllen = sizeof room_for;
    h = CMSG_FIRSTHDR(&m);
    h->cmsg_level = SOL_SOCKET; h->cmsg_type = SCM_RIGHTS; h->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(h), &handles[j->a[0]], sizeof(int));
    result(j, sendmsg(p[0], &m, 0));
    if (j->ret == 1) {
        m.msg_controllen = sizeof room_for;
        if (recvmsg(p[1], &m, 0) == 1 && (h = CMSG_FIRSTHDR(&m))) memcpy(&got, CMSG_DATA(h), sizeof got);
        keep(j, j->a[1], got);
    }
    close(p[0]); close(p[1]);
}
static void op_poll(struct job *j)
{
    long kind = j->a[0], timeout = j->a[1];
    int n = (j->n - 2) / 2;
    struct pollfd p[NUMBERS / 2];
    struct timespec time = {timeout / 1000, timeout % 1000 * 1000000};
    for (int i = 0; i < n; i++) { p[i].fd = fd_of(j->a[2 + 2 * i]); p[i].events = (short)j->a[3 + 2 * i]; p[i].revents = 0; }
    if (kind < 2) {
        result(j, kind ? ppoll(p, (nfds_t)n, timeout < 0 ? NULL : &time, NULL) : poll(p, (nfds_t)n, (int)timeout));
        for (int i = 0; i < n; i++) note(j, "%lx ", (long)p[i].revents);
    } else {
        static const short kinds[3] = {POLLIN, POLLOUT, POLLPRI};
        fd_set s[3];
        struct timeval brief = {timeout / 1000, timeout % 1000 * 1000};
        int most = 0;
        for (int k = 0; k < 3; k++) FD_ZERO(&s[k]);
        for (int i = 0; i < n; i++) {
            if (p[i].fd < 0 || p[i].fd >= FD_SETSIZE) continue;
            for (int k = 0; k < 3; k++) if (p[i].events & kinds[k]) FD_SET(p[i].fd, &s[k]);
            if (p[i].fd >= most) most = p[i].fd + 1;
        }
        result(j, kind == 2 ? select(most, &s[0], &s[1], &s[2], timeout < 0 ? NULL : &brief) : pselect(most, &s[0], &s[1], &s[2], timeout < 0 ? NULL : &time, NULL));
        if (j->ret >= 0)
            for (int i = 0; i < n; i++)
                for (int k = 0; k < 3; k++) note(j, "%ld", p[i].fd >= 0 && p[i].fd < FD_SETSIZE && FD_ISSET(p[i].fd, &s[k]) != 0);
    }
}
static int by_word(const void *a, const void *b) { const struct epoll_event *x = a, *y = b; return (x->data.u64 > y->data.u64) - (x->data.u64 < y->data.u64); }
static void op_ewait(struct job *j)
{
    struct epoll_event got[8];
    int e = fd_of(j->a[0]), max = (int)j->a[1];
    long timeout = j->a[2];
    struct timespec time = {timeout / 1000, timeout % 1000 * 1000000};
    static double last;
    /* Waits that follow each other within microseconds may tell of a part at a time. */
    if (timeout == 0) while (now() - last < 40e-6) ;
    switch (j->a[3]) {
    case 1: result(j, epoll_pwait(e, got, max, (int)timeout, NULL)); break;
    case 2: result(j, epoll_pwait2(e, got, max, timeout < 0 ? NULL : &time, NULL)); break;
    default: result(j, epoll_wait(e, got, max, (int)timeout));
    }
    last = now();
    if (j->ret > 0) qsort(got, (size_t)j->ret, sizeof *got, by_word);
    for (long i = 0; i < j->ret; i++) { note(j, "%ld:", (long)got[i].data.u64); note(j, "%lx ", (long)got[i].events); }
    /* An edge may be told twice, but never of what is not so: asked where edges are. */
    for (long i = 0; j->a[4] && i < j->ret; i++) {
        struct pollfd p = {fd_of((long)got[i].data.u64), (short)got[i].events, 0};
        size_t at = strlen(j->aside);
        poll(&p, 1, 0);
        snprintf(j->aside + at, sizeof j->aside - at, "%d:%x ", (int)got[i].data.u64, (unsigned)p.revents);
    }
}
static void op_listen(struct job *j)
{
    struct sockaddr_in a = {0};
    socklen_t len = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (l < 0 || bind(l, (struct sockaddr *)&a, len) || listen(l, 8) || getsockname(l, (struct sockaddr *)&a, &len)) { result(j, -1); return; }
    keep(j, j->a[0], l);
    snprintf(j->aside, sizeof j->aside, "%d", ntohs(a.sin_port));
}
static int fast(int fd)
{
    int (*is_fast)(int);
    *(void **)&is_fast = dlsym(RTLD_DEFAULT, "fastsock_is_fast");
    return is_fast ? is_fast(fd) : 0;
}
static int connects(int s, long port)
{
    struct sockaddr_in a = {0};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a.sin_port = htons((unsigned short)port);
    return connect(s, (struct sockaddr *)&a, sizeof a);
}
/* One that is fast before a byte has moved is one that was used before. */
static void op_connect(struct job *j)
{
    int s = socket(AF_INET, SOCK_STREAM | (j->a[2] ? SOCK_NONBLOCK : 0), 0);
    keep(j, j->a[0], s);
    result(j, connects(s, j->a[1]));
    snprintf(j->aside, sizeof j->aside, "%d", fast(s));
}
/* Connections for an exchange each, one after the other: on this side made (`listener` < 0) or accepted. `how`: who closes first; 0 is who accepted, 1 who
 * connected, 2 now one and now the other. */
static void exchanges(struct job *j, int listener, long port, long count, long how)
{
    unsigned char b[3000], last;
    for (long i = 0; i < count; i++) {
        size_t n = 1 + (size_t)i * 577 % sizeof b;
        int made = listener < 0, first = (how == 2 ? i % 2 : how) == made, s = made ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
        if (s < 0 || (made && connects(s, port))) { result(j, -1); note(j, "begun %ld ", i); return; }
        if (made) { fill(b, (long)n, i, 0); if (send(s, b, n, 0) != (ssize_t)n) note(j, "sent %ld ", i); memset(b, 0, n); }
        if (recv(s, b, n, MSG_WAITALL) != (ssize_t)n) note(j, "received %ld ", i);
        check(j, b, (long)n, i, 0);
        if (!made && send(s, b, n, 0) != (ssize_t)n) note(j, "sent %ld ", i);
        if (!first && recv(s, &last, 1, 0) != 0) note(j, "no end %ld ", i);
        close(s);
    }
    errno = 0;
    result(j, count);
}
static void op_option(struct job *j)
{
    static const int names[] = {SO_ERROR, SO_TYPE, SO_KEEPALIVE, SO_OOBINLINE, SO_ACCEPTCONN, SO_DOMAIN, SO_REUSEADDR};
    int value = -1;
    socklen_t len = sizeof value;
    if (j->a[1] == 100) {
        struct linger l = {-1, -1};
        len = sizeof l;
        result(j, getsockopt(fd_of(j->a[0]), SOL_SOCKET, SO_LINGER, &l, &len));
        note(j, "%ld ", l.l_onoff); note(j, "%ld", l.l_linger);
        return;
    }
    if (j->a[1] == 101 || j->a[1] == 102) {
        struct timeval t = {-1, -1};
        len = sizeof t;
        result(j, getsockopt(fd_of(j->a[0]), SOL_SOCKET, j->a[1] == 101 ? SO_RCVTIMEO : SO_SNDTIMEO, &t, &len));
        note(j, "%ld ", t.tv_sec); note(j, "%ld", t.tv_usec);
        return;
    }
    if (j->a[1] == 103) {
        struct sockaddr_in at[2];
        socklen_t l = sizeof *at, k = sizeof *at;
        result(j, getsockname(fd_of(j->a[0]), (struct sockaddr *)&at[0], &l));
        note(j, "peer %ld ", getpeername(fd_of(j->a[0]), (struct sockaddr *)&at[1], &k) < 0 ? errno : 0);
        return;
    }
    result(j, getsockopt(fd_of(j->a[0]), SOL_SOCKET, names[(unsigned long)j->a[1] % 7], &value, &len));
    note(j, "%ld ", value);
}
/* A child of vfork that closes a descriptor of its parent's, and ends. */
static void op_vforked(struct job *j)
{
    int fd = fd_of(j->a[0]), status = -1;
    pid_t child = vfork();
    if (child == 0) { close(fd); _exit(7); }
    result(j, child > 0 && waitpid(child, &status, 0) == child ? 0 : -1);
    note(j, "%lx ", status);
}
static void op_set(struct job *j)
{
    int one = (int)j->a[2];
    if (j->a[1] == 0) result(j, setsockopt(fd_of(j->a[0]), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
    else if (j->a[1] == 1) result(j, setsockopt(fd_of(j->a[0]), SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one));
    else if (j->a[1] == 100) {
        struct linger l = {one >= 0, one};
        result(j, setsockopt(fd_of(j->a[0]), SOL_SOCKET, SO_LINGER, &l, sizeof l));
    } else {
        struct timeval t = {one / 1000, one % 1000 * 1000};
        result(j, setsockopt(fd_of(j->a[0]), SOL_SOCKET, j->a[1] == 101 ? SO_RCVTIMEO : SO_SNDTIMEO, &t, sizeof t));
    }
}
static void handler(int s) { if (s == SIGPIPE) pipes++; else signals++; }
static void handle(int s, int flags)
{
    struct sigaction a = {0};
    a.sa_handler = handler;
    a.sa_flags = flags;
    sigaction(s, &a, NULL);
}
/* The program is replaced by itself: what it knows goes with it. */
static void op_exec(struct job *j)
{
    static char numbers[HANDLES + SLOTS + 1][12];
    char *argv[HANDLES + SLOTS + 5];
    extern char **environ;
    int n = 0, k = 0;
    argv[n++] = (char *)(unsigned long)self;
    argv[n++] = (char *)(unsigned long)"resume";
    snprintf(numbers[k], sizeof *numbers, "%d", mine); argv[n++] = numbers[k++];
    for (int i = 0; i < HANDLES; i++) { snprintf(numbers[k], sizeof *numbers, "%d", handles[i]); argv[n++] = numbers[k++]; }
    for (int i = 0; i < SLOTS; i++) { snprintf(numbers[k], sizeof *numbers, "%d", slots[i]); argv[n++] = numbers[k++]; }
    argv[n] = NULL;
    switch (j->a[0]) {
    case 1: execve(self, argv, environ); break;
    case 2: execvp(self, argv); break;
    case 3: execvpe(self, argv, environ); break;
    default: execv(self, argv);
    }
    result(j, -1);
}

static void run(struct job *j)
{
    const char *o = j->name;
    int fd = fd_of(j->a[0]), value = -1;
#define IS(x) (!strcmp(o, x))
    errno = 0;
    if (IS("send")) op_send(j);
    else if (IS("recv")) op_recv(j);
    else if (IS("peek")) op_peek(j);
    else if (IS("fill")) op_fill(j);
    else if (IS("drain")) op_drain(j);
    else if (IS("sendall")) op_sendall(j);
    else if (IS("ping")) ping(j, 1);
    else if (IS("pong")) ping(j, 0);
    else if (IS("duel")) op_duel(j);
    else if (IS("tally")) op_tally(j);
    else if (IS("sendfile")) op_sendfile(j);
    else if (IS("splicein")) op_splicein(j);
    else if (IS("spliceout")) op_spliceout(j);
    else if (IS("stream")) op_stream(j);
    else if (IS("pass")) op_pass(j);
    else if (IS("poll")) op_poll(j);
    else if (IS("ewait")) op_ewait(j);
    else if (IS("listen")) op_listen(j);
    else if (IS("connect")) op_connect(j);
    else if (IS("option")) op_option(j);
    else if (IS("set")) op_set(j);
    else if (IS("exec")) op_exec(j);
    else if (IS("accept")) keep(j, j->a[1], j->a[2] < 0 ? accept(fd, NULL, NULL) : accept4(fd, NULL, NULL, (int)j->a[2]));
    else if (IS("close")) result(j, close(fd));
    else if (IS("closerange")) result(j, close_range((unsigned)fd, (unsigned)fd, 0));
    else if (IS("vforked")) op_vforked(j);
    else if (IS("shutdown")) result(j, shutdown(fd, (int)j->a[1]));
    else if (IS("dup")) keep(j, j->a[1], dup(fd));
    else if (IS("dup2")) keep(j, j->a[1], dup2(fd, fd_of(j->a[1])));
    else if (IS("dup3")) keep(j, j->a[1], dup3(fd, fd_of(j->a[1]), (int)j->a[2]));
    else if (IS("dupfd")) keep(j, j->a[1], fcntl(fd, (int)j->a[2], 40));
    else if (IS("nonblock")) result(j, fcntl(fd, F_SETFL, (fcntl(fd, F_GETFL) & ~O_NONBLOCK) | (j->a[1] ? O_NONBLOCK : 0)));
    else if (IS("fionbio")) { value = (int)j->a[1]; result(j, ioctl(fd, FIONBIO, &value)); }
    else if (IS("getfl")) { result(j, fcntl(fd, F_GETFL)); }
    else if (IS("fionread")) { result(j, ioctl(fd, FIONREAD, &value)); note(j, "%ld ", value); }
    else if (IS("atmark")) { result(j, ioctl(fd, SIOCATMARK, &value)); note(j, "%ld ", value); }
    else if (IS("oob")) result(j, send(fd, "!", 1, MSG_OOB));
    else if (IS("recvoob")) { char c = 0; result(j, recv(fd, &c, 1, MSG_OOB)); note(j, "%lx ", c); }
    else if (IS("eopen")) keep(j, j->a[0], j->a[1] ? epoll_create(1) : epoll_create1(EPOLL_CLOEXEC * (int)j->a[2]));
    else if (IS("ectl")) {
        struct epoll_event want = {(unsigned)j->a[3], {.u64 = (unsigned long)j->a[2]}};
        result(j, epoll_ctl(fd, (int)j->a[1], fd_of(j->a[2]), j->a[1] == EPOLL_CTL_DEL ? NULL : &want));
    } else if (IS("action")) { handle(SIGUSR1, j->a[0] ? SA_RESTART : 0); result(j, 0); }
    else if (IS("nap")) { nap(j->a[0]); result(j, 0); }
    else if (IS("fast")) { result(j, 0); snprintf(j->aside, sizeof j->aside, "%d", fast(fd)); }
    else if (IS("calls")) exchanges(j, -1, j->a[0], j->a[1], j->a[2]);
    else if (IS("serves")) exchanges(j, fd, 0, j->a[1], j->a[2]);
    else { errno = ENOSYS; result(j, -1); note(j, "no such command ", 0); }
}
static void *lane_runs(void *p) { struct lane *l = p; run(&l->job); __atomic_store_n(&l->done, 1, __ATOMIC_SEQ_CST); return NULL; }

static void parse(char *text, int *lane, struct job *j)
{
    char *save = NULL, *word = strtok_r(text, " ", &save);
    memset(j, 0, sizeof *j);
    *lane = word ? atoi(word) : 0;
    j->name = strtok_r(NULL, " ", &save);
    if (!j->name) j->name = "";
    while (j->n < NUMBERS && (word = strtok_r(NULL, " ", &save))) j->a[j->n++] = strtol(word, NULL, 0);
}
/* To the driver, by calls that the library sees as any others: the sockets are not its own kind. */
static void answer(const struct job *j)
{
    char out[700];
    int n = snprintf(out, sizeof out, "%ld %d %s|%s", j->ret, j->err, j->note, j->aside);
    if (send(slots[mine], out, (size_t)n, MSG_NOSIGNAL) < 0) _exit(3);
}
static struct lane *lane_of(long number) { return number > 0 && number < LANES && lanes[number].used ? &lanes[number] : NULL; }

static void serve(void)
{
    static char text[600];
    for (;;) {
        struct job job;
        struct lane *l;
        int lane;
        ssize_t n = recv(slots[mine], text, sizeof text - 1, 0);
        if (n <= 0) { if (n < 0 && errno == EINTR) continue; _exit(0); }
        text[n] = 0;
        if (text[0] != '0' && (lane = text[0] - '0') > 0 && lane < LANES && !lanes[lane].used) {
            l = &lanes[lane];
            memcpy(l->text, text, sizeof text);
            parse(l->text, &lane, &l->job);
            l->done = 0;
            l->used = 1;
            memset(&job, 0, sizeof job);
            if (pthread_create(&l->thread, NULL, lane_runs, l)) abort();
            answer(&job);
            continue;
        }
        parse(text, &lane, &job);
        if (!strcmp(job.name, "join") && (l = lane_of(job.a[0]))) {
            pthread_join(l->thread, NULL);
            l->used = 0;
            answer(&l->job);
        } else if (!strcmp(job.name, "interrupt") && (l = lane_of(job.a[0]))) {
            /* Again, should it have come before the lane's call began to wait. */
            for (int i = 0; i < (job.a[1] ? (int)job.a[1] : 2000) && !l->done; i++) { nap(1000); pthread_kill(l->thread, SIGUSR1); }
            result(&job, 0);
            answer(&job);
        } else if (!strcmp(job.name, "fork")) {
            /* Or past the C library, as a program does that wants more than a fork. */
            pid_t child = job.a[1] ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
            if (child == 0) { mine = (int)job.a[0]; memset(lanes, 0, sizeof lanes); continue; }
            result(&job, child < 0 ? -1 : 0);
            snprintf(job.aside, sizeof job.aside, "%d", child);
            answer(&job);
        } else if (!strcmp(job.name, "exit")) {
            result(&job, 0);
            answer(&job);
            if (job.a[0]) _exit(0);
            exit(0);
        } else {
            run(&job);
            answer(&job);
        }
    }
}

int main(int argc, char **argv)
{
    self = argv[0];
    handle(SIGPIPE, SA_RESTART);
    handle(SIGUSR1, 0);
    for (int i = 0; i < HANDLES; i++) handles[i] = -1;
    if (argc == 3 + HANDLES + SLOTS && !strcmp(argv[1], "resume")) {
        struct job job;
        mine = atoi(argv[2]);
        for (int i = 0; i < HANDLES; i++) handles[i] = atoi(argv[3 + i]);
        for (int i = 0; i < SLOTS; i++) slots[i] = atoi(argv[3 + HANDLES + i]);
        memset(&job, 0, sizeof job);
        answer(&job);
        serve();
    }
    if (argc == 3 + SLOTS && !strcmp(argv[1], "zygote")) {
        int control = atoi(argv[2]);
        char text[8];
        for (int i = 0; i < SLOTS; i++) slots[i] = atoi(argv[3 + i]);
        /* Orphans are its own to bury. */
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        while (recv(control, text, sizeof text, 0) > 0) {
            pid_t child;
            int n;
            while (waitpid(-1, NULL, WNOHANG) > 0) ;
            child = fork();
            if (child == 0) { close(control); serve(); }
            n = snprintf(text, sizeof text, "%d", child);
            if (send(control, text, (size_t)n, MSG_NOSIGNAL) < 0) return 1;
        }
        return 0;
    }
    fprintf(stderr, "usage: actor zygote CONTROL SLOT SLOT SLOT\n");
    return 2;
}
