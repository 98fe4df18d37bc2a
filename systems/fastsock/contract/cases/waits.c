/* Waiting by poll and select, and what ends a wait. */
#include "cases.h"

void signalled(int fd, int server)
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
void polled(int fd, int server)
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
void selected(int fd, int server)
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
void two_waits(int fd, int server)
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
void interrupted(int fd, int server)
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
