/* Calls by their number, and calls that the system is asked for through a ring (io_uring). */
#include "cases.h"
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { HALF = 5000 };

/* Each call that sends, by its number, between sends that are made by their name: bytes come in the order of all. */
static void out_by_number(int fd)
{
    struct iovec two[2] = {{"cd", 2}, {"e", 1}}, one = {"f", 1}, last = {"hi", 2};
    struct msghdr m = {.msg_iov = &one, .msg_iovlen = 1};
    struct mmsghdr all = {.msg_hdr = {.msg_iov = &last, .msg_iovlen = 1}};
    all_out(fd, "0", 1);
    MUST(syscall(SYS_write, fd, "a", 1) == 1);
    all_out(fd, "1", 1);
    MUST(syscall(SYS_sendto, fd, "b", 1, MSG_NOSIGNAL, NULL, 0) == 1);
    all_out(fd, "2", 1);
    MUST(syscall(SYS_writev, fd, two, 2) == 3);
    all_out(fd, "3", 1);
    MUST(syscall(SYS_sendmsg, fd, &m, 0) == 1);
    one.iov_base = "g";
    MUST(syscall(SYS_pwritev2, fd, &one, 1, -1L, 0L, 0) == 1);
    all_out(fd, "4", 1);
    MUST(syscall(SYS_sendmmsg, fd, &all, 1, 0) == 1 && all.msg_len == 2);
}
static void in_by_number(int fd)
{
    char b[20] = {0};
    struct iovec v = {b + 4, 2};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    struct mmsghdr all = {.msg_hdr = m};
    all_there(fd, 14);
    all_in(fd, b, 1);
    MUST(syscall(SYS_read, fd, b + 1, 2) == 2);
    all_in(fd, b + 3, 1);
    MUST(syscall(SYS_readv, fd, &v, 1) == 2);
    v.iov_base = b + 6;
    MUST(syscall(SYS_recvmsg, fd, &m, 0) == 2);
    v.iov_base = b + 8;
    MUST(syscall(SYS_preadv2, fd, &v, 1, -1L, 0L, 0) == 2);
    v.iov_base = b + 10;
    MUST(syscall(SYS_recvmmsg, fd, &all, 1, 0, NULL) == 1 && all.msg_len == 2);
    all_in(fd, b + 12, 1);
    MUST(syscall(SYS_recvfrom, fd, b + 13, 1, 0, NULL, NULL) == 1);
    printf("%s\n", b);
}
/* Each call that waits: of nothing, then of bytes. */
static int waits_by_number(int fd, int e, int way, int ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    struct timeval v = {ms / 1000, ms % 1000 * 1000L};
    struct epoll_event got;
    unsigned long none = 0;
    struct { void *mask; size_t len; } masked = {&none, sizeof none};
    fd_set in;
    long n;
    FD_ZERO(&in); FD_SET(fd, &in);
    switch (way) {
    case 0: n = syscall(SYS_poll, &p, 1, ms); break;
    case 1: n = syscall(SYS_ppoll, &p, 1, &t, &none, sizeof none); MUST(ms < 1000 || t.tv_sec < ms / 1000); break;
    case 2: n = syscall(SYS_select, fd + 1, &in, NULL, NULL, &v); MUST(n < 1 || FD_ISSET(fd, &in)); break;
    case 3: n = syscall(SYS_pselect6, fd + 1, &in, NULL, NULL, &t, &masked); MUST(ms < 1000 || t.tv_sec < ms / 1000); break;
    case 4: n = syscall(SYS_epoll_wait, e, &got, 1, ms); break;
    case 5: n = syscall(SYS_epoll_pwait, e, &got, 1, ms, &none, sizeof none); break;
    default: n = syscall(SYS_epoll_pwait2, e, &got, 1, &t, &none, sizeof none);
    }
    return (int)n;
}
void numbered(int fd, int server)
{
    int e = (int)syscall(SYS_epoll_create1, 0), flags, copy;
    struct epoll_event want = {EPOLLIN, {.u32 = 1}};
    char c;
    MUST(e >= 0 && syscall(SYS_epoll_ctl, e, EPOLL_CTL_ADD, fd, &want) == 0);
    if (server) { out_by_number(fd); in_by_number(fd); } else { in_by_number(fd); out_by_number(fd); }
    for (int way = 0; way < 7; way++) {
        if (server) { sync_wait(fd); all_out(fd, "x", 1); sync_wait(fd); continue; }
        printf("%d: %d", way, waits_by_number(fd, e, way, 0));
        sync_send(fd);
        printf(" %d\n", waits_by_number(fd, e, way, 50000));
        all_in(fd, &c, 1);
        sync_send(fd);
    }
    /* A call that is not to wait, and copies. */
    flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
    MUST(syscall(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK) == 0);
    if (!server) { printf("nothing %ld", syscall(SYS_read, fd, &c, 1)); printf(" %s\n", name(errno)); }
    MUST(syscall(SYS_fcntl, fd, F_SETFL, flags) == 0);
    MUST((copy = (int)syscall(SYS_dup, fd)) >= 0 && syscall(SYS_dup3, copy, 50, O_CLOEXEC) == 50);
    if (server) { sync_wait(fd); all_out(50, "d", 1); sync_wait(copy); } else { sync_send(fd); MUST(syscall(SYS_read, copy, &c, 1) == 1 && c == 'd'); sync_send(50); }
    MUST(syscall(SYS_close, copy) == 0 && syscall(SYS_close_range, 50, 50, 0) == 0 && syscall(SYS_close, e) == 0);
    errno = 0;
    printf("closed %ld", syscall(SYS_close, copy)); printf(" %s\n", name(errno));
    /* None of these took it to the kernel. */
    fprintf(stderr, "%s\n", fast_now(fd) ? "fast" : "kernel");
    stream_out(fd, 0, HALF, 100);
    MUST(syscall(SYS_shutdown, fd, SHUT_WR) == 0);
    printf("end %lu\n", to_end(fd, 0));
}
/* A request that the system serves by itself (io_submit), with bytes of others' calls around it. */
void submitted(int fd, int server)
{
    char b[12] = {0};
    if (server) {
        aio_context_t all = 0;
        struct iocb send = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = (unsigned)fd, .aio_buf = (unsigned long)"bcd", .aio_nbytes = 3}, *list[] = {&send};
        struct io_event done;
        int has = syscall(SYS_io_setup, 1, &all) == 0;
        all_out(fd, "a", 1);
        if (has) {
            MUST(syscall(SYS_io_submit, all, 1, list) == 1 && syscall(SYS_io_getevents, all, 1, 1, &done, NULL) == 1 && done.res == 3);
            syscall(SYS_io_destroy, all);
        } else all_out(fd, "bcd", 3);
        all_out(fd, "efg", 3);
        sync_wait(fd);
    } else { all_in(fd, b, 7); printf("%s\n", b); sync_send(fd); }
}

/* A ring for calls, where the system has any. */
struct ring { int fd; unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask; struct io_uring_cqe *done; struct io_uring_sqe *asked; };
static int ring_made(struct ring *r)
{
    struct io_uring_params p = {0};
    char *sq, *cq;
    r->fd = (int)syscall(SYS_io_uring_setup, 4, &p);
    if (r->fd < 0) return 0;
    sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
    cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_CQ_RING);
    r->asked = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQES);
    MUST(sq != MAP_FAILED && cq != MAP_FAILED && (void *)r->asked != MAP_FAILED);
    r->sq_tail = (unsigned *)(sq + p.sq_off.tail); r->sq_mask = (unsigned *)(sq + p.sq_off.ring_mask); r->sq_array = (unsigned *)(sq + p.sq_off.array);
    r->cq_head = (unsigned *)(cq + p.cq_off.head); r->cq_tail = (unsigned *)(cq + p.cq_off.tail); r->cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
    r->done = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
    return 1;
}
int own_ring(void) { static struct ring r; return ring_made(&r); }
/* One call, and what it returned. Its system call goes by the instruction, as liburing's do. */
static int asked(struct ring *r, int op, int fd, void *p, unsigned len)
{
    unsigned tail = *r->sq_tail, at = tail & *r->sq_mask, head;
    long entered;
    register long ten __asm__("r10") = IORING_ENTER_GETEVENTS;
    register long eight __asm__("r8") = 0;
    register long nine __asm__("r9") = 0;
    int result;
    memset(&r->asked[at], 0, sizeof *r->asked);
    r->asked[at].opcode = (unsigned char)op; r->asked[at].fd = fd; r->asked[at].addr = (unsigned long)p; r->asked[at].len = len;
    r->sq_array[at] = at;
    __atomic_store_n(r->sq_tail, tail + 1, __ATOMIC_RELEASE);
    __asm__ volatile("syscall" : "=a"(entered) : "a"((long)SYS_io_uring_enter), "D"((long)r->fd), "S"(1L), "d"(1L), "r"(ten), "r"(eight), "r"(nine) : "rcx", "r11", "memory");
    MUST(entered == 1);
    head = *r->cq_head;
    MUST(__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) != head);
    result = r->done[head & *r->cq_mask].res;
    __atomic_store_n(r->cq_head, head + 1, __ATOMIC_RELEASE);
    return result;
}
/* Bytes that came before the ring was made, and behind them those of calls that nobody sees. */
void asked_unseen(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s;
    if (server) {
        static struct ring r;
        static unsigned char b[HALF];
        int has, got;
        sync_send(fd);
        all_there(fd, HALF);
        has = ring_made(&r);
        sync_send(fd);
        for (unsigned long at = 0; at < 2 * HALF; at += (unsigned long)got) {
            got = has ? asked(&r, IORING_OP_RECV, fd, b, sizeof b) : (int)recv(fd, b, sizeof b, 0);
            MUST(got > 0);
            check(b, (size_t)got, at);
        }
        for (unsigned long at = 0; at < HALF; at += (unsigned long)got) {
            fill(b, HALF - at, at);
            got = has ? asked(&r, IORING_OP_SEND, fd, b, (unsigned)(HALF - at)) : (int)send(fd, b, HALF - at, 0);
            MUST(got > 0);
        }
        sync_wait(fd);
    } else {
        sync_wait(fd);
        stream_out(fd, 0, HALF, 100);
        sync_wait(fd);
        stream_out(fd, HALF, HALF, 100);
        stream_in(fd, 0, HALF);
        printf("all\n");
        sync_send(fd);
    }
    /* Nor is any that comes later fast. */
    s = server ? accept(l, NULL, NULL) : connected(&a);
    for (int i = 0; i < 64; i++) { if (server) { sync_wait(s); sync_send(s); } else { sync_send(s); sync_wait(s); } }
    printf("fast %d\n", fast_now(s));
    close(s);
}
