/* Bytes: all the ways to move them. */
#include "cases.h"

void echo(int fd, int server)
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
void stream(int fd, int server)
{
    if (!server) { stream_out(fd, 5, 30000000, 100000); shutdown(fd, SHUT_WR); printf("end %zd\n", read(fd, &server, 1)); }
    else printf("streamed %lu\n", to_end(fd, 5));
}
void lists(int fd, int server)
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
void peek(int fd, int server)
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
void nonblocking(int fd, int server)
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
void timeouts(int fd, int server)
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
void urgent(int fd, int server)
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
/* Bytes before and after an urgent one: where the mark is, and that no receive goes over it. */
void urgent_mark(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), on = 1;
    for (int i = 0; i < 4; i++) {
        char b[8] = {0}, c = 0;
        int s = server ? accept(l, NULL, NULL) : connected(&a), mark = -1, there = -1;
        struct pollfd p = {s, POLLPRI, 0};
        MUST(s >= 0 && setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
        warm(s, server);
        if (!server) { all_out(s, "abc", 3); MUST(send(s, "X", 1, MSG_OOB) == 1); all_out(s, "def", 3); sync_wait(fd); close(s); continue; }
        if (i & 2) MUST(setsockopt(s, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on) == 0);
        MUST(poll(&p, 1, 10000) == 1);
        if (i == 1) { MUST(recv(s, &c, 1, MSG_OOB) == 1); printf("urgent %c ", c); }
        MUST(ioctl(s, SIOCATMARK, &mark) == 0 && ioctl(s, FIONREAD, &there) == 0);
        printf("%x mark %d %d", (unsigned)p.revents, mark, sockatmark(s));
        if (!(i & 2)) printf(" before it %d", there);
        printf(" peek %zd", recv(s, b, 6, MSG_PEEK));
        { ssize_t n = recv(s, b, 6, i == 3 ? 0 : MSG_WAITALL); printf(" all %zd %.3s mark %d", n, b, sockatmark(s)); }
        memset(b, 0, sizeof b);
        all_in(s, b, i & 2 ? 4 : 3);
        printf(" then %s mark %d\n", b, sockatmark(s));
        sync_send(fd);
        close(s);
    }
    close(l);
}
/* What was sent behind an urgent byte is there for a receive that does not wait, once the other side says that it was sent. */
void urgent_behind(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), on = 1;
    for (int i = 0; i < 16; i++) {
        char b[8] = {0}, c = 0;
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        ssize_t n;
        MUST(s >= 0 && setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
        warm(s, server);
        if (!server) {
            if (i & 1) all_out(s, "abc", 3);
            MUST(send(s, "X", 1, MSG_OOB) == 1);
            all_out(s, "def", 3);
            sync_send(fd);
            sync_wait(fd);
        } else {
            sync_wait(fd);
            n = recv(s, &c, 1, MSG_OOB); printf("urgent %zd %c", n, c);
            if (i & 1) { n = recv(s, b, 3, MSG_DONTWAIT); printf(" before %zd %s", n, b); memset(b, 0, sizeof b); }
            n = recv(s, b, 6, MSG_DONTWAIT); printf(" behind %zd %s\n", n, b);
            sync_send(fd);
        }
        close(s);
    }
}
void streams(int fd, int server)
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
