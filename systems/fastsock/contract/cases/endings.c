/* How connections end. */
#include "cases.h"

void half_close(int fd, int server)
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
void reset(int fd, int server)
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
void broken_pipe(int fd, int server)
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
void linger(int fd, int server)
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
void endings(int fd, int server)
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
/* As long as whoever started the client wishes. */
void held(int fd, int server)
{
    char c;
    if (server) { sync_wait(fd); return; }
    while (read(0, &c, 1) > 0) ;
    sync_send(fd);
    printf("let go\n");
}
