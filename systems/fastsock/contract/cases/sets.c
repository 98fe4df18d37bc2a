/* Sets of epoll: levels, edges, single events, nested. Masks are printed as they come. */
#include "cases.h"

void epolled(int fd, int server)
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
void changed(int fd, int server)
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
void edges(int fd, int server)
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
void once(int fd, int server)
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
/* The single event is told before the connection is fast, and not again because of that. */
void once_early(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s = server ? accept(l, NULL, NULL) : connected(&a), one = 1;
    char c = 'x';
    MUST(s >= 0 && setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
    if (!server) { sync_wait(fd); all_out(s, &c, 1); warm(s, 0); sync_wait(fd); stream_out(s, 0, 10, 10); sync_send(fd); sync_wait(fd); }
    else {
        int e = epoll_create1(0);
        in_set(e, EPOLL_CTL_ADD, s, EPOLLIN | EPOLLONESHOT, 1);
        sync_send(fd);
        printf("byte"); waits(e, 5000);
        all_in(s, &c, 1);
        warm(s, 1);
        printf(" not armed"); waits(e, 20);
        sync_send(fd); sync_wait(fd);
        printf(" bytes"); waits(e, 20);
        { struct epoll_event again = {EPOLLIN, {0}}; printf(" twice %d", epoll_ctl(e, EPOLL_CTL_ADD, s, &again)); printf(" %d", errno == EEXIST); }
        in_set(e, EPOLL_CTL_MOD, s, EPOLLIN | EPOLLONESHOT, 2);
        printf(" armed"); waits(e, 1000);
        stream_in(s, 0, 10);
        printf(" not armed"); waits(e, 20); printf("\n");
        sync_send(fd);
    }
    close(s);
}
void exclusive(int fd, int server)
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
void nested(int fd, int server)
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
void mixed(int fd, int server)
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
