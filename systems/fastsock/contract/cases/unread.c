/* Bytes that nobody has read when somebody gets the connection who reads by calls that nobody sees: what becomes of them when more is done with it. */
#include "cases.h"
#include <setjmp.h>
#include <sys/resource.h>

enum { LEFT = 30000 };
extern char **environ;

/* The same connection by another descriptor, which came from elsewhere. */
int handed_over(int s)
{
    int pair[2], other;
    char control[CMSG_SPACE(sizeof(int))] = {0}, c = 'x';
    struct iovec v = {&c, 1};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET; CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS; CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof s);
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &s, sizeof s);
    MUST(sendmsg(pair[0], &m, 0) == 1 && recvmsg(pair[1], &m, 0) == 1);
    memcpy(&other, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof other);
    close(pair[0]); close(pair[1]);
    return other;
}
/* Whoever reads has ended its own direction before, so that the other side has seen an end of file that is no close. */
void left_half(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 2; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        static unsigned char b[LEFT + 4];
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            MUST(shutdown(s, SHUT_WR) == 0);
            all_there(s, LEFT);
            if (way == 0) {
                FILE *f = fdopen(dup(s), "r");
                MUST(f != NULL);
                sync_send(fd);
                printf("stream %zu", fread(b, 1, LEFT + 4, f));
                fclose(f);
            } else {
                int other = handed_over(s);
                sync_send(fd);
                all_in(other, b, LEFT + 4);
                printf("other descriptor");
                close(other);
            }
            check(b, LEFT, 0);
            printf(" %.4s\n", b + LEFT);
        } else {
            printf("end %lu\n", to_end(s, 0));
            stream_out(s, 0, LEFT, 1000);
            sync_wait(fd);
            all_out(s, "more", 4);
        }
        close(s);
    }
}
/* This process looks at some of it, or takes some, before the other side has heard that all of it is to come over TCP. */
void left_looked(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 6; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), takes = way % 3 == 0 ? 0 : 1 + way % 3 * 100;
        static unsigned char b[LEFT];
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            FILE *f = NULL;
            pid_t child = -1;
            int p[2];
            all_there(s, LEFT);
            MUST(pipe(p) == 0);
            if (way < 3) MUST((f = fdopen(dup(s), "r+")) != NULL);
            else child = begin_reader(s, (unsigned long)takes, LEFT, p[0], NULL);
            printf("%d: peek %zd", way, recv(s, b, 1000, MSG_PEEK | MSG_DONTWAIT));
            check(b, 1000, 0);
            if (takes) { MUST(recv(s, b, 1, 0) == 1); check(b, 1, 0); all_in(s, b, (size_t)takes - 1); check(b, (size_t)takes - 1, 1); }
            printf(" peek %zd", recv(s, b, 1000, MSG_PEEK | MSG_DONTWAIT));
            check(b, 1000, (unsigned long)takes);
            sync_send(fd);
            if (f) {
                MUST(fread(b, 1, LEFT - (size_t)takes, f) == LEFT - (size_t)takes);
                check(b, LEFT - (size_t)takes, (unsigned long)takes);
                fclose(f);
                all_out(s, "okay", 4);
                printf(" all\n");
            } else { MUST(write(p[1], "g", 1) == 1); ended(child); }
            close(p[0]); close(p[1]);
        } else {
            stream_out(s, 0, LEFT, 1000);
            /* In no call on the connection. */
            sync_wait(fd);
            all_in(s, b, 4);
            printf("%d: %.4s\n", way, b);
        }
        close(s);
    }
}
static sigjmp_buf back;
static void jumps(int s) { (void)s; siglongjmp(back, 1); }
static void jump_out(void) { MUST(signal(SIGUSR1, jumps) != SIG_ERR); if (sigsetjmp(back, 1) == 0) MUST(raise(SIGUSR1) == 0); }
/* A connection of the other side's whose send buffer is as small as can be, in a set, with as much sent as goes. Returns it; `set` has what its buffer was set to. */
static int with_little_room(int fd, const struct sockaddr_in *a, int e, unsigned long *total, int *set)
{
    int s = socket(AF_INET, SOCK_STREAM, 0), least = 4096;
    socklen_t len = sizeof *set;
    MUST(s >= 0 && setsockopt(s, SOL_SOCKET, SO_SNDBUF, &least, sizeof least) == 0);
    sync_wait(fd);
    MUST(connect(s, (const struct sockaddr *)a, sizeof *a) == 0 && getsockopt(s, SOL_SOCKET, SO_SNDBUF, set, &len) == 0);
    warm(s, 0);
    set_nonblocking(s);
    in_set(e, EPOLL_CTL_ADD, s, EPOLLIN, 1);
    *total = fill_up(s, 0);
    all_out(fd, total, sizeof *total);
    sync_wait(fd);
    return s;
}
/* More is left than the kernel's buffers of both sides hold: the other side, which waits in no call of its own accord, does not wait here. */
static void in_little_room(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), least = 4096, s;
    unsigned long total;
    char b[4];
    if (server) {
        int p[2];
        pid_t child;
        MUST(setsockopt(l, SOL_SOCKET, SO_RCVBUF, &least, sizeof least) == 0);
        sync_send(fd);
        MUST((s = accept(l, NULL, NULL)) >= 0 && pipe(p) == 0);
        warm(s, 1);
        all_in(fd, &total, sizeof total);
        child = begin_reader(s, 0, total, p[0], NULL);
        sync_send(fd);
        sync_wait(fd);
        MUST(write(p[1], "g", 1) == 1);
        ended(child);
    } else {
        int e = epoll_create1(0), set, before;
        struct epoll_event got;
        socklen_t len = sizeof set;
        double begun;
        s = with_little_room(fd, &a, e, &total, &before);
        begun = now();
        MUST(epoll_wait(e, &got, 1, 0) == 0);
        printf("at once %d", now() - begun < 5);
        MUST(getsockopt(s, SOL_SOCKET, SO_SNDBUF, &set, &len) == 0);
        printf(", as it was set %d", set == before);
        sync_send(fd);
        MUST(epoll_wait(e, &got, 1, 30000) == 1);
        all_in(s, b, 4);
        printf(" %.4s\n", b);
        close(e);
    }
    close(s);
}
void little_room(int fd, int server) { in_little_room(fd, server); }
/* The same after a handler has jumped out of itself. */
void little_room_jumped(int fd, int server)
{
    jump_out();
    in_little_room(fd, server);
}
/* What a side can't send in the time that it is given for that, as it ends or hands the connection on: nobody takes what has come for all. */
void little_room_cut(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), least = 4096, s;
    unsigned long total;
    MUST(!server || setsockopt(l, SOL_SOCKET, SO_RCVBUF, &least, sizeof least) == 0);
    for (int way = 0; way < 2; way++) {
        if (server) {
            unsigned char b[5000];
            unsigned long came = 0;
            ssize_t r = 1;
            int other;
            sync_send(fd);
            MUST((s = accept(l, NULL, NULL)) >= 0);
            warm(s, 1);
            all_in(fd, &total, sizeof total);
            other = handed_over(s);
            sync_send(fd);
            /* Nothing is read until the other side has given up. */
            if (way == 0) sync_wait(fd); else MUST(to_end(fd, 0) == 0);
            while (came < total && (r = recv(other, b, sizeof b, 0)) > 0) { check(b, (size_t)r, came); came += (unsigned long)r; }
            fprintf(stderr, "%lu of %lu came\n", came, total);
            printf("%d: missing, and nobody knows %d\n", way, came < total && r == 0);
            if (way == 0) sync_send(fd);
            close(other);
        } else {
            int e = epoll_create1(0), set, other;
            struct epoll_event got;
            s = with_little_room(fd, &a, e, &total, &set);
            MUST(epoll_wait(e, &got, 1, 0) == 0);
            printf("%d\n", way);
            fflush(stdout);
            if (way == 1) exit(0);
            other = handed_over(s);
            sync_send(fd);
            sync_wait(fd);
            close(other);
            close(e);
        }
        close(s);
    }
}
/* The same as little_room, and the other side closes, ends its direction, or ends altogether with what it has not sent yet. */
void little_room_ends(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s;
    unsigned long total;
    for (int way = 0; way < 3; way++) {
        if (server) {
            int other;
            sync_send(fd);
            MUST((s = accept(l, NULL, NULL)) >= 0);
            warm(s, 1);
            all_in(fd, &total, sizeof total);
            other = handed_over(s);
            sync_send(fd);
            /* Without a call of the other side's, but for the last. */
            if (way < 2) { sync_wait(fd); nap(200); }
            printf("%d: all %d\n", way, to_end(other, 0) == total);
            close(other);
        } else {
            int e = epoll_create1(0), set;
            struct epoll_event got;
            s = with_little_room(fd, &a, e, &total, &set);
            MUST(epoll_wait(e, &got, 1, 0) == 0);
            if (way == 1) { MUST(shutdown(s, SHUT_WR) == 0); printf("then %zd", send(s, "x", 1, MSG_NOSIGNAL)); printf(" %s\n", name(errno)); }
            if (way == 2) { fflush(stdout); exit(0); }
            if (way == 0) close(s);
            sync_send(fd);
            close(e);
        }
        if (server || way == 1) close(s);
    }
}
static void run_program(int how, int s)
{
    char number[16], name[500], *slash, *argv[] = {(char *)self, "exec", "x", number, NULL};
    int folder;
    snprintf(number, sizeof number, "%d", s);
    snprintf(name, sizeof name, "%s", self);
    MUST((slash = strrchr(name, '/')) != NULL);
    *slash = 0;
    if (how == 0) execveat(-1, self, argv, environ, 0);
    MUST((folder = open(how == 1 ? name : self, O_RDONLY | O_CLOEXEC)) >= 0);
    execveat(folder, how == 1 ? slash + 1 : "", argv, environ, how == 1 ? 0 : AT_EMPTY_PATH);
    die("execveat");
}
/* A program that is found from a folder on, or is open. */
void program_at(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int how = 0; how < 3; how++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            pid_t child;
            all_there(s, 20000);
            fflush(stdout);
            MUST((child = fork()) >= 0);
            if (child == 0) run_program(how, s);
            close(s);
            ended(child);
        } else {
            stream_out(s, 1000, 50000, 1000);
            MUST(shutdown(s, SHUT_WR) == 0);
            printf("answer %lu\n", to_end(s, 4));
            close(s);
        }
    }
}
/* A program of a process that may have few descriptors. */
void program_few(int fd, int server)
{
    struct rlimit few = {512, 512};
    char number[16];
    if (!server) { stream_out(fd, 1000, 50000, 1000); shutdown(fd, SHUT_WR); printf("answer %lu\n", to_end(fd, 4)); return; }
    all_there(fd, 20000);
    MUST(setrlimit(RLIMIT_NOFILE, &few) == 0);
    snprintf(number, sizeof number, "%d", fd);
    fflush(stdout);
    execl(self, self, "exec", "x", number, (char *)NULL);
    die("exec");
}
