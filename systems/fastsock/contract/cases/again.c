/* Connections for one transaction each, to a listener of the case's own: those that are closed may be used again. */
#include "cases.h"

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
/* A socket that a new program does not get, by a word for a range of descriptors. */
static int connected_alone(struct sockaddr_in *a)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);
    MUST(s >= 0 && close_range((unsigned)s, (unsigned)s, CLOSE_RANGE_CLOEXEC) == 0 && connect(s, (struct sockaddr *)a, sizeof *a) == 0);
    return s;
}
enum { AGAIN = 240 };
void again(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 50, &a), fast = 0, two;
    for (int i = 0; i < AGAIN; i++) {
        struct sockaddr_in from = {0};
        socklen_t len = sizeof from;
        int s = server ? (i % 4 == 1 ? accept4(l, (struct sockaddr *)&from, &len, SOCK_CLOEXEC) : accept(l, (struct sockaddr *)&from, &len)) : i % 4 == 1 ? connected_alone(&a) : connected(&a);
        MUST(s >= 0);
        if (server) MUST(len == sizeof from && ntohs(from.sin_port) == port_of(s, 1) && port_of(s, 0) == ntohs(a.sin_port));
        else MUST(port_of(s, 1) == ntohs(a.sin_port));
        MUST(option(s, IPPROTO_TCP, TCP_NODELAY) == 0 && option(s, SOL_SOCKET, SO_ERROR) == 0);
        MUST(!(fcntl(s, F_GETFL) & O_NONBLOCK) && (fcntl(s, F_GETFD) & FD_CLOEXEC) == (i % 4 == 1 ? FD_CLOEXEC : 0));
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
void again_order(int fd, int server)
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
void again_forked(int fd, int server)
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
void again_polled(int fd, int server)
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
/* An event loop: the listener and its connections are waited for by a set (levels, edges, both directions), by poll and by select. */
enum { KINDS = 5 };
static unsigned wait_for(int e, unsigned word)
{
    for (;;) {
        struct epoll_event got[4];
        int n = epoll_wait(e, got, 4, 10000);
        MUST(n > 0);
        for (int i = 0; i < n; i++)
            if (got[i].data.u32 == word) return got[i].events;
    }
}
static unsigned wait_by(int kind, int e, int s)
{
    struct pollfd p = {s, POLLIN | POLLRDHUP, 0};
    fd_set in;
    if (kind < 3) return wait_for(e, 1);
    if (kind == 3) { MUST(poll(&p, 1, 10000) == 1); return (unsigned)p.revents; }
    FD_ZERO(&in); FD_SET(s, &in);
    MUST(select(s + 1, &in, NULL, NULL, NULL) == 1);
    return FD_ISSET(s, &in) ? 1 : 0;
}
void again_loop(int fd, int server)
{
    static const unsigned asked[] = {EPOLLIN, EPOLLIN | EPOLLRDHUP | EPOLLET, EPOLLIN | EPOLLOUT | EPOLLRDHUP};
    static unsigned char seen[65536];
    struct sockaddr_in a;
    unsigned ends[KINDS] = {0};
    int l = door(fd, server, 50, &a), e = epoll_create1(EPOLL_CLOEXEC), used_again = 0;
    if (server) { set_nonblocking(l); in_set(e, EPOLL_CTL_ADD, l, EPOLLIN, 0); }
    for (int i = 0; i < 2 * AGAIN; i++) {
        int kind = i % KINDS, client_first = i / KINDS % 2, s;
        char c = (char)i, d, nothing;
        if (!server) {
            s = connected(&a);
            all_out(s, &c, 1);
            all_in(s, &d, 1);
            MUST(c == d);
            if (!client_first) MUST(read(s, &d, 1) == 0);
            close(s);
            continue;
        }
        MUST(wait_for(e, 0) == EPOLLIN);
        MUST((s = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0);
        if (i % 2) { int one = 1; MUST(ioctl(s, FIONBIO, &one) == 0); }
        used_again += seen[port_of(s, 1)];
        seen[port_of(s, 1)] = 1;
        if (kind < 3) in_set(e, EPOLL_CTL_ADD, s, asked[kind], 1);
        while (recv(s, &d, 1, 0) != 1) { MUST(errno == EAGAIN); MUST(wait_by(kind, e, s) & (EPOLLIN | EPOLLOUT)); }
        MUST(d == c && recv(s, &nothing, 1, 0) <= 0);
        MUST(send(s, &c, 1, MSG_NOSIGNAL) == 1);
        if (client_first) {
            unsigned told;
            /* The kernel may tell of the bytes once more, before it tells that this is the end; and of room at any time. */
            do told = wait_by(kind, e, s); while (kind == 2 ? !(told & EPOLLRDHUP) : kind == 1 ? told == EPOLLIN : 0);
            if (!ends[kind]) printf(" end %d:%x", kind, ends[kind] = told);
            MUST(told == ends[kind] && recv(s, &nothing, 1, 0) == 0);
        }
        close(s);
        if (i % 60 == 59) { struct epoll_event none; /* What was closed is in the set no more. */ MUST(epoll_wait(e, &none, 1, 0) <= 0 || none.data.u32 == 0); }
    }
    printf(" done\n");
    if (server) {
        int reused = used_again;
        sync_send(fd);
        all_out(fd, &reused, sizeof reused);
        fprintf(stderr, "%s\n", reused >= 100 ? "fast" : "kernel");
    } else {
        int reused;
        sync_wait(fd);
        all_in(fd, &reused, sizeof reused);
        fprintf(stderr, "%s\n", reused >= 100 ? "fast" : "kernel");
    }
    close(e);
    close(l);
}
/* The process of an event loop forks over and over, by another thread. */
static volatile int forks_done;
static void *forks_often(void *p)
{
    for (int i = 0; i < 2000; i++) {
        pid_t child = fork();
        MUST(child >= 0);
        if (child == 0) _exit(0);
        MUST(waitpid(child, NULL, 0) == child);
    }
    forks_done = 1;
    return p;
}
void again_loop_forks(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 50, &a), e = epoll_create1(EPOLL_CLOEXEC), two = epoll_create1(EPOLL_CLOEXEC);
    pthread_t t;
    if (server) in_set(e, EPOLL_CTL_ADD, l, EPOLLIN, 0);
    for (int i = 0;; i++) {
        char c = 'm';
        int s;
        if (server && i == 200) MUST(pthread_create(&t, NULL, forks_often, NULL) == 0);
        if (server) {
            if (i > 200 && forks_done) c = 'q';
            MUST(wait_for(e, 0) == EPOLLIN);
            MUST((s = accept(l, NULL, NULL)) >= 0);
            in_set(two, EPOLL_CTL_ADD, s, EPOLLIN, 1);
            sync_wait(s);
            all_out(s, &c, 1);
        } else { s = connected(&a); sync_send(s); all_in(s, &c, 1); if (i > 300) nap(1); }
        close(s);
        if (c == 'q') break;
    }
    if (server) MUST(pthread_join(t, NULL) == 0);
    printf("done\n");
    close(e);
    close(two);
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
void again_threads(int fd, int server)
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
/* A thread that is cancelled while it waits on a connection that was about to become fast. */
static void *hears(void *p) { char c; (void)!recv(*(int *)p, &c, 1, 0); return p; }
void again_cancelled(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 8, &a);
    for (int i = 0; i < 6; i++) {
        pthread_t t;
        void *result;
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s >= 0);
        if (!server) {
            MUST(pthread_create(&t, NULL, hears, &s) == 0);
            nap(20);
            MUST(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0 && result == PTHREAD_CANCELED);
            sync_send(fd);
        } else sync_wait(fd);
        warm(s, server);
        close(s);
    }
}
