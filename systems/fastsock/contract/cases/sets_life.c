/* Sets of epoll with other processes, threads, and connections that come and go. */
#include "cases.h"

void room(int fd, int server)
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
void early(int fd, int server)
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
void set_forked(int fd, int server)
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
/* A child of the case's own that does one thing with a set and ends. */
static void child_controls(int e, int op, int fd, unsigned events, unsigned word)
{
    int status;
    pid_t child = fork();
    if (child == 0) { struct epoll_event want = {events, {.u32 = word}}; _exit(epoll_ctl(e, op, fd, &want) != 0); }
    MUST(waitpid(child, &status, 0) == child && status == 0);
}
/* What a child puts into a set that its parent has as well is in it when the child is gone, bytes that were there before included. */
void set_filled(int fd, int server)
{
    if (!server) { for (int i = 0; i < 3; i++) { sync_wait(fd); nap(40); stream_out(fd, (unsigned long)i * 100, 100, 100); } sync_wait(fd); }
    else {
        int e = epoll_create1(0);
        sync_send(fd);
        all_there(fd, 100);
        child_controls(e, EPOLL_CTL_ADD, fd, EPOLLIN, 5);
        printf("before"); waits(e, 5000);
        stream_in(fd, 0, 40);
        printf(" part"); waits(e, 1000);
        stream_in(fd, 40, 60);
        printf(" read"); waits(e, 20);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000);
        stream_in(fd, 100, 100);
        printf(" read"); waits(e, 20);
        printf(" twice %d", epoll_ctl(e, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {0}})); printf(" %d", errno == EEXIST);
        MUST(epoll_ctl(e, EPOLL_CTL_DEL, fd, NULL) == 0);
        sync_send(fd);
        printf(" gone"); waits(e, 120);
        stream_in(fd, 200, 100);
        printf("\n");
        sync_send(fd);
    }
}
/* What it changes is changed. */
void set_altered(int fd, int server)
{
    if (!server) { for (int i = 0; i < 3; i++) { sync_wait(fd); nap(40); stream_out(fd, (unsigned long)i * 100, 100, 100); } sync_wait(fd); }
    else {
        int e = epoll_create1(0);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 1);
        sync_send(fd);
        printf("before"); waits(e, 5000);
        all_there(fd, 100);
        child_controls(e, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLRDHUP, 2);
        printf(" after"); waits(e, 1000);
        stream_in(fd, 0, 100);
        printf(" read"); waits(e, 20);
        sync_send(fd);
        printf(" bytes"); waits(e, 5000);
        stream_in(fd, 100, 100);
        child_controls(e, EPOLL_CTL_DEL, fd, 0, 0);
        sync_send(fd);
        printf(" gone"); waits(e, 120);
        stream_in(fd, 200, 100);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLOUT, 3);
        printf(" again"); waits(e, 1000);
        printf("\n");
        sync_send(fd);
    }
}
void set_outlives(int fd, int server)
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
void crew(int fd, int server)
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
void killed_in_set(int fd, int server)
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
/* A connect that does not wait, called once more when the connection is made, as some programs learn that: a set holds it by then. */
void connected_twice(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s;
    char c;
    if (server) {
        MUST((s = accept(l, NULL, NULL)) >= 0);
        for (int i = 0; i < 160; i++) { all_in(s, &c, 1); all_out(s, &c, 1); }
    } else {
        int e = epoll_create1(0), one = 1;
        struct epoll_event got;
        MUST((s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) >= 0);
        printf("connect %d", connect(s, (struct sockaddr *)&a, sizeof a)); printf(" %d", errno == EINPROGRESS);
        in_set(e, EPOLL_CTL_ADD, s, EPOLLIN | EPOLLOUT | EPOLLET, 1);
        MUST(epoll_wait(e, &got, 1, 10000) == 1 && got.events == EPOLLOUT);
        printf(", %d", connect(s, (struct sockaddr *)&a, sizeof a));
        printf(", %d", connect(s, (struct sockaddr *)&a, sizeof a)); printf(" %d", errno == EISCONN);
        MUST(setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
        for (int i = 0; i < 160; i++) {
            ssize_t r;
            all_out(s, "c", 1);
            while ((r = recv(s, &c, 1, 0)) < 0) { MUST(errno == EAGAIN); MUST(epoll_wait(e, &got, 1, 10000) == 1); }
            MUST(r == 1);
        }
        printf(", talked\n");
        fprintf(stderr, "%s\n", fast_now(s) ? "fast" : "kernel");
        close(e);
    }
    close(s);
}
