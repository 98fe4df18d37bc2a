/* Connections that somebody gets who reads by calls that nobody sees, in ways that leave the side which hands them over, or the other one, no further call on them;
 * and a process that may make few calls. */
#include "cases.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { LEFT = 30000, ROUNDS = 64, AHEAD = 200 };

/* Whoever begins the program closes the connection at once, and the other side is in no call on it until then. */
void handed(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 5; way++) {
        char b[4];
        int s;
        /* That one has been used before, and nothing is unread in it. */
        for (int i = 0; way == 2 && i < 40; i++) {
            MUST((s = server ? accept(l, NULL, NULL) : connected(&a)) >= 0);
            if (server) { sync_wait(s); sync_send(s); } else { sync_send(s); sync_wait(s); }
            close(s);
        }
        MUST((s = server ? accept(l, NULL, NULL) : connected(&a)) >= 0);
        warm(s, server);
        if (server) {
            posix_spawn_file_actions_t actions;
            pid_t child;
            int p[2];
            if (way != 2) all_there(s, LEFT);
            MUST(pipe(p) == 0 && posix_spawn_file_actions_init(&actions) == 0);
            /* Closed when a program begins, but for a copy, which is its standard input. */
            if (way == 1 || way == 2) MUST(fcntl(s, F_SETFD, FD_CLOEXEC) == 0 && posix_spawn_file_actions_adddup2(&actions, s, 0) == 0);
            begin_by = way == 3 ? "pidfd_spawn" : way == 4 ? "pidfd_spawnp" : NULL;
            child = begin_reader(way == 1 || way == 2 ? 0 : s, 0, LEFT, p[0], &actions);
            MUST(posix_spawn_file_actions_destroy(&actions) == 0);
            close(s);
            sync_send(fd);
            MUST(write(p[1], "g", 1) == 1);
            printf("%d:", way);
            ended(child);
            close(p[0]); close(p[1]);
        } else {
            if (way != 2) stream_out(s, 0, LEFT, 1000);
            sync_wait(fd);
            if (way == 2) stream_out(s, 0, LEFT, 1000);
            all_in(s, b, 4);
            printf("%d: %.4s", way, b);
            printf(" end %lu\n", to_end(s, 0));
            close(s);
        }
    }
}
/* A conversation in which the server has always so many bytes before it that it has not read: they came before those by which the connection became fast. */
static void warm_ahead(int s, int server)
{
    char c;
    if (!server) stream_out(s, 0, AHEAD, AHEAD);
    for (unsigned long i = 0; i < ROUNDS; i++)
        if (server) { all_there(s, AHEAD); stream_in(s, i, 1); all_out(s, "r", 1); }
        else { all_in(s, &c, 1); stream_out(s, AHEAD + i, 1, 1); }
    fprintf(stderr, "%s\n", fast_now(s) ? "fast" : "kernel");
}
static void by_stream(int s, unsigned long from)
{
    static unsigned char b[LEFT];
    FILE *f = fdopen(dup(s), "r");
    MUST(f != NULL && fread(b, 1, LEFT - from, f) == LEFT - from);
    check(b, LEFT - from, from);
    fclose(f);
    all_out(s, "okay", 4);
}
/* This side went back before, so that the other one waits in the kernel; or what came before the ring's first byte is not read yet. */
void handed_late(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 7; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), ahead = way > 2, status = 0;
        unsigned long from = ahead ? ROUNDS : 0;
        char b[5];
        MUST(s >= 0);
        if (ahead) warm_ahead(s, server); else warm(s, server);
        if (server) {
            pid_t child = -1;
            all_there(s, LEFT - (int)from);
            if (!ahead) { MUST(dprintf(s, "d") == 1); nap(50); }
            fflush(stdout);
            switch (way) {
            case 0: case 1: case 3: child = begin_reader(s, from, LEFT, -1, NULL); break;
            case 2: case 4: by_stream(s, from); break;
            case 5: MUST(system("true") == 0); stream_in(s, from, LEFT - from); all_out(s, "okay", 4); break;
            case 6:
                if ((child = fork()) == 0) {
                    char number[20], count[20], first[20];
                    snprintf(number, sizeof number, "%d", s);
                    snprintf(count, sizeof count, "%lu", LEFT - from);
                    snprintf(first, sizeof first, "%lu", from);
                    execl(self, self, "exec", "x", number, count, first, (char *)NULL);
                    _exit(9);
                }
                break;
            }
            if (child > 0) MUST(waitpid(child, &status, 0) == child);
            printf("%d: status %x\n", way, (unsigned)status);
        } else {
            unsigned long sent = ahead ? AHEAD + ROUNDS : 0;
            size_t more = ahead ? 4 : 5;
            stream_out(s, sent, LEFT - sent, 1000);
            if (way == 1) MUST(recv(s, b, more, MSG_WAITALL) == (ssize_t)more); else all_in(s, b, more);
            printf("%d: %.*s\n", way, (int)more, b);
        }
        close(s);
    }
}
/* Standard input of programs that have the library, and read it by streams of the C library's. The other side is in no call until they have begun. */
void handed_input(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 2; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            int p[2];
            pid_t child;
            char c;
            all_there(s, 14);
            MUST(pipe2(p, O_CLOEXEC) == 0);
            fflush(stdout);
            MUST((child = fork()) >= 0);
            if (child == 0) {
                MUST(dup2(s, 0) == 0 && close(s) == 0);
                if (way == 0) execlp("sed", "sed", "s/^/got /", (char *)NULL);
                else execlp("sh", "sh", "-c", "sed -n 2p", (char *)NULL);
                _exit(9);
            }
            close(s); close(p[1]);
            MUST(read(p[0], &c, 1) == 0);
            close(p[0]);
            sync_send(fd);
            printf("%d:", way);
            ended(child);
        } else {
            all_out(s, "one\ntwo\nthree\n", 14);
            sync_wait(fd);
            MUST(shutdown(s, SHUT_WR) == 0);
            printf("%d: end %lu\n", way, to_end(s, 0));
            close(s);
        }
    }
}
/* The other side ends without a further call: by _exit, or by a program that does not have the connection. */
void handed_leaves(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 2; way++) {
        pid_t child;
        if (server) {
            int s = accept(l, NULL, NULL), p[2];
            MUST(s >= 0 && pipe(p) == 0);
            warm(s, 1);
            all_there(s, LEFT);
            child = begin_reader(s, 0, LEFT, p[0], NULL);
            sync_send(fd);
            MUST(write(p[1], "g", 1) == 1);
            printf("%d:", way);
            ended(child);
            close(s); close(p[0]); close(p[1]);
        } else {
            fflush(stdout);
            MUST((child = fork()) >= 0);
            if (child == 0) {
                int s = connected(&a);
                warm(s, 0);
                stream_out(s, 0, LEFT, 1000);
                MUST(fcntl(s, F_SETFD, FD_CLOEXEC) == 0);
                sync_wait(fd);
                if (way == 0) _exit(0);
                execlp("true", "true", (char *)NULL);
                _exit(9);
            }
            printf("%d:", way);
            ended(child);
        }
    }
}
/* From here on these calls alone are allowed. */
static void allow(const int *calls, int count)
{
    struct sock_filter all[40] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog filter = {(unsigned short)(count + 3), all};
    MUST(count < 37);
    for (int i = 0; i < count; i++) all[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], (unsigned char)(count - i), 0);
    all[count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    all[count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}
static void reads_all(int s, unsigned long from)
{
    unsigned char b[3000];
    for (unsigned long at = from; at < LEFT;) {
        ssize_t r = read(s, b, sizeof b);
        if (r <= 0) _exit(3);
        for (ssize_t i = 0; i < r; i++, at++) if (b[i] != byte_at(at)) _exit(4);
    }
}
/* A process that may make few calls: it reads what is left, answers, accepts, copies, and closes. */
void allowed(int fd, int server)
{
    static const int calls[] = {SYS_read, SYS_write, SYS_accept, SYS_dup, SYS_close, SYS_exit_group};
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 2; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), t;
        unsigned long from = way ? ROUNDS : 0;
        char b[5];
        MUST(s >= 0);
        if (way) warm_ahead(s, server); else warm(s, server);
        if (server) {
            pid_t child;
            all_there(s, LEFT - (int)from);
            sync_wait(fd);
            fflush(stdout);
            MUST((child = fork()) >= 0);
            if (child == 0) {
                allow(calls, sizeof calls / sizeof *calls);
                reads_all(s, from);
                if (write(s, "okay", 4) != 4 || close(dup(s)) != 0) _exit(5);
                if ((t = accept(l, NULL, NULL)) < 0 || read(t, b, 1) != 1 || write(t, b, 1) != 1 || close(t) != 0 || close(s) != 0) _exit(6);
                _exit(7);
            }
            close(s);
            printf("%d:", way);
            ended(child);
        } else {
            unsigned long sent = way ? AHEAD + ROUNDS : 0;
            stream_out(s, sent, LEFT - sent, 1000);
            t = connected(&a);
            all_out(t, "t", 1);
            sync_send(fd);
            all_in(s, b, 4); all_in(t, b + 4, 1);
            printf("%d: %.5s", way, b);
            printf(" end %lu", to_end(t, 0)); printf(" %lu\n", to_end(s, 0));
            close(s); close(t);
        }
    }
}
