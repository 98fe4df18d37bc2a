/* Processes that `clone` makes, programs that do not begin, and numbers beyond those that the library follows. */
#include "cases.h"
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

extern int __clone(int (*)(void *), void *, int, void *, ...);
enum { STACK = 256 << 10, LEFT = 30000 };
static char stack[STACK] __attribute__((aligned(64)));
static int at, told, other, out[2];

static pid_t begin(int (*what)(void *), int flags)
{
    pid_t child;
    fflush(stdout);
    MUST((child = clone(what, stack + STACK, flags | SIGCHLD, NULL)) > 0);
    return child;
}
/* A copy of this process: both read and write on, one after the other. */
static int reads_on(void *p) { (void)p; stream_in(at, 1000, 100000); sync_send(at); return 7; }
static int closes_it(void *p) { (void)p; close(at); return 0; }
/* It has this one's memory, and descriptors of its own. */
static int changes_its_own(void *p)
{
    int null = open("/dev/null", O_RDWR), s;
    (void)p;
    told = 77;
    /* Another number, and the connection's number for something else. */
    MUST(dup2(at, 300) == 300 && close(300) == 0 && dup2(null, at) == at && write(at, "gone", 4) == 4 && read(at, &s, 4) == 0);
    (void)!dup2(null, 8100);
    MUST(close(at) == 0 && (s = socket(AF_INET, SOCK_STREAM, 0)) >= 0 && close(s) == 0);
    MUST(close_range(3, ~0u, 0) == 0);
    _exit(3);
}
static int takes_some(void *p) { (void)p; stream_in(at, 0, 1000); told = 1; _exit(0); }
/* It has both: what it does there is done here. */
static int changes_ours(void *p) { (void)p; MUST(dup2(at, 301) == 301 && close(at) == 0); told = 78; _exit(0); }
static int goes_on_there(void *p) { (void)p; MUST(dup2(at, 302) == 302 && close(at) == 0); stream_in(302, 0, 1000); return 0; }
/* A program of it: one that has no library. */
static int runs(void *p)
{
    static char reader[500], number[20], count[20], *argv[] = {reader, number, count, NULL};
    char *end;
    (void)p;
    snprintf(reader, sizeof reader, "%s", self);
    MUST((end = strrchr(reader, '/')) != NULL);
    snprintf(end, 50, "/fastsock-reader");
    snprintf(number, sizeof number, "%d", at);
    snprintf(count, sizeof count, "%d", LEFT);
    if (other) { MUST(dup2(at, 400) == 400); snprintf(number, sizeof number, "400"); }
    execv(reader, argv);
    _exit(9);
}
/* By the newer system's call, where it may be. */
static pid_t newer(int flags)
{
    unsigned long long words[8] = {[0] = (unsigned)flags, [4] = SIGCHLD};
    pid_t child = (pid_t)syscall(SYS_clone3, words, sizeof words);
    return child < 0 && (errno == ENOSYS || errno == EPERM) ? (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0) : child;
}
void cloned(int fd, int server)
{
    static const int memory = CLONE_VM | CLONE_VFORK;
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < 9; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        unsigned char b[4];
        pid_t child = -1;
        MUST(s >= 0);
        if (way < 7) warm(s, server);
        if (!server) {
            if (way < 2) { stream_out(s, 0, 1000, 100); sync_wait(fd); stream_out(s, 1000, 100000, 3000); sync_wait(s); stream_out(s, 0, 100000, 3000); stream_in(s, 7, 100000); }
            else if (way < 7) { stream_out(s, 0, LEFT, 1000); sync_wait(fd); all_in(s, b, 4); printf("%.4s", b); if (way < 5) { stream_out(s, 5, 100000, 1000); stream_in(s, 5, 100000); } }
            else { warm(s, 0); stream_out(s, 0, 100000, 1000); stream_in(s, 7, 100000); }
            printf(" end %lu\n", to_end(s, 0));
            close(s);
            continue;
        }
        at = s; told = 0; other = way == 6;
        if (way < 2) {
            /* By the C library's call, and by the system's. */
            stream_in(s, 0, 1000);
            sync_send(fd);
            if (way == 0) child = begin(reads_on, 0);
            else { fflush(stdout); MUST((child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) >= 0); if (child == 0) _exit(reads_on(NULL)); }
            ended(child);
            stream_in(s, 0, 100000);
            stream_out(s, 7, 100000, 3000);
        } else if (way < 7) {
            unsigned long from = way == 3 ? 1000 : 0;
            all_there(s, LEFT);
            if (way == 2) child = begin(changes_its_own, memory);
            else if (way == 3) child = begin(takes_some, memory);
            else if (way == 4) { child = begin(changes_ours, memory | CLONE_FILES); printf(" gone %d", fcntl(at, F_GETFD)); s = 301; }
            else child = begin(runs, memory);
            /* The other side hears of it with its next call. */
            sync_send(fd);
            ended(child);
            printf(" told %d", told);
            if (way < 5) { stream_in(s, from, LEFT - from); all_out(s, "okay", 4); stream_in(s, 5, 100000); stream_out(s, 5, 100000, 1000); }
        } else if (way == 7) {
            /* Whoever has it alone in the end makes it fast. */
            child = begin(closes_it, 0);
            ended(child);
            warm(s, 1); stream_in(s, 0, 100000); stream_out(s, 7, 100000, 3000);
        } else {
            fflush(stdout);
            MUST(pipe(out) == 0 && (child = newer(0)) >= 0);
            if (child == 0) { char c; MUST(read(out[0], &c, 1) == 1); warm(s, 1); stream_in(s, 0, 100000); stream_out(s, 7, 100000, 3000); _exit(0); }
            close(s);
            MUST(write(out[1], "g", 1) == 1);
            ended(child);
            s = -1;
        }
        printf(" %d\n", way);
        if (s >= 0) close(s);
    }
}
/* A copy that has sent by the ring, is asked for that over TCP, and ends by returning: all comes. */
static int sync_by;
static int sends_and_returns(void *p) { (void)p; stream_out(at, 0, LEFT, 1000); sync_send(sync_by); sync_wait(sync_by); return 7; }
void cloned_asked(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(s >= 0);
    warm(s, server);
    if (server) {
        int seen;
        sync_wait(fd);
        seen = handed_over(s);
        sync_send(fd);
        printf("came %lu\n", to_end(seen, 0));
        close(seen);
        sync_send(fd);
    } else {
        pid_t child;
        at = s; sync_by = fd;
        child = begin(sends_and_returns, 0);
        close(s);
        ended(child);
        sync_wait(fd);
        return;
    }
    close(s);
}
static int descriptors(void)
{
    int n = 0;
    for (int i = 0; i < 10000; i++) n += fcntl(i, F_GETFD) >= 0;
    return n;
}
/* One that has a copy of this one's memory, and for which the thread that made it waits until it has begun a program or ended: other threads go on meanwhile. */
static int ready[2], go[2], later[2], how;
static volatile int made;
static pid_t waited_for;
static int holds_on(void *p)
{
    char c = 'r';
    (void)p;
    alarm(60);
    /* For those that it makes nobody waits. */
    if (how == 3 && fork() == 0) { alarm(60); MUST(read(later[0], &c, 1) == 1); _exit(0); }
    if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1) _exit(8);
    if (how == 4) { execlp("true", "true", (char *)NULL); _exit(9); }
    _exit(7);
}
static void *makes(void *p)
{
    (void)p;
    if (how == 1 || how == 2) {
        waited_for = how == 1 ? (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) : newer(CLONE_VFORK);
        if (waited_for == 0) holds_on(NULL);
    } else waited_for = clone(holds_on, stack + STACK, CLONE_VFORK | SIGCHLD, NULL);
    made = 1;
    return NULL;
}
void cloned_waits(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), t, open = 0;
    for (how = 0; how < 5; how++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), e = epoll_create1(0);
        MUST(s >= 0 && e >= 0);
        warm(s, server);
        if (server) {
            pthread_t thread;
            char c;
            MUST(pipe(ready) == 0 && pipe(go) == 0 && pipe(later) == 0);
            made = 0;
            fflush(stdout);
            MUST(pthread_create(&thread, NULL, makes, NULL) == 0 && read(ready[0], &c, 1) == 1);
            in_set(e, EPOLL_CTL_ADD, s, EPOLLIN, 1);
            sync_send(fd);
            waits(e, 30000);
            stream_in(s, 0, 3000);
            MUST((t = accept(l, NULL, NULL)) >= 0);
            sync_wait(t);
            close(t);
            printf(" made %d", made);
            MUST(write(go[1], "g", 1) == 1 && pthread_join(thread, NULL) == 0);
            printf(" made %d", made);
            MUST(write(later[1], "l", 1) == 1);
            ended(waited_for);
            stream_out(s, 7, 100000, 1000);
            for (int i = 0; i < 2; i++) { close(ready[i]); close(go[i]); close(later[i]); }
            /* No descriptor is left behind. */
            if (how == 0) open = descriptors();
            MUST(descriptors() == open);
        } else {
            sync_wait(fd);
            stream_out(s, 0, 3000, 3000);
            t = connected(&a);
            sync_send(t);
            printf("%d: end %lu", how, to_end(t, 0));
            close(t);
            stream_in(s, 7, 100000);
            printf(" %lu\n", to_end(s, 0));
        }
        close(e);
        close(s);
    }
}
/* One that has this one's descriptors, and a memory of its own; one that has both, while this one goes on. */
static void with_stranger(int fd, int server, int flags)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s = server ? accept(l, NULL, NULL) : connected(&a);
    unsigned char b[4];
    MUST(s >= 0);
    warm(s, server);
    if (server) {
        unsigned long from = flags & CLONE_VM ? 0 : 1000;
        pid_t child;
        at = s; told = 0;
        all_there(s, LEFT);
        fflush(stdout);
        MUST((child = __clone(from ? goes_on_there : changes_ours, stack + STACK, flags | SIGCHLD, NULL)) > 0);
        if (from) sync_send(fd);
        ended(child);
        if (!from) sync_send(fd);
        printf(" told %d gone %d\n", told, fcntl(at, F_GETFD));
        s = from ? 302 : 301;
        stream_in(s, from, LEFT - from);
        all_out(s, "okay", 4);
        stream_in(s, 5, 100000); stream_out(s, 5, 100000, 1000);
    } else {
        stream_out(s, 0, LEFT, 1000);
        sync_wait(fd);
        all_in(s, b, 4);
        stream_out(s, 5, 100000, 1000); stream_in(s, 5, 100000);
        printf("%.4s end %lu\n", b, to_end(s, 0));
    }
    close(s);
}
void cloned_numbers(int fd, int server) { with_stranger(fd, server, CLONE_FILES); }
void cloned_memory(int fd, int server) { with_stranger(fd, server, CLONE_VM | CLONE_FILES); }

/* Programs that do not begin, as an argument is too long: they would have the library. */
extern char **environ;
static int begin_none(int how)
{
    static char word[200000];
    char *argv[] = {(char *)self, word, NULL};
    int file = open(self, O_RDONLY | O_CLOEXEC), r = -1, e;
    memset(word, 'x', sizeof word - 1);
    switch (how) {
    case 0: r = execl(self, self, "1", "2", "3", "4", "5", "6", "7", word, (char *)NULL); break;
    case 1: r = execlp(self, self, word, (char *)NULL); break;
    case 2: r = execle(self, self, "1", "2", "3", word, (char *)NULL, environ); break;
    case 3: r = execv(self, argv); break;
    case 4: r = execvp(self, argv); break;
    case 5: r = execve(self, argv, environ); break;
    case 6: r = execvpe(self, argv, environ); break;
    case 7: r = fexecve(file, argv, environ); break;
    case 8: r = execveat(file, "", argv, environ, AT_EMPTY_PATH); break;
    }
    e = errno;
    close(file);
    MUST(r == -1);
    return e;
}
void program_none(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int how = 0; how < 9; how++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), e = epoll_create1(0), open;
        unsigned char b[4];
        MUST(s >= 0 && e >= 0);
        warm(s, server);
        if (server) {
            in_set(e, EPOLL_CTL_ADD, s, EPOLLIN, (unsigned)how);
            all_there(s, LEFT);
            /* Twice, as a shell that looks for it. */
            begin_none(how);
            open = descriptors();
            printf("%d: too long %d", how, begin_none(how) == E2BIG);
            printf(" left open %d, left behind %d,", descriptors() - open, getenv("FASTSOCK_LEFT") != NULL);
            waits(e, 0);
            stream_in(s, 0, LEFT);
            waits(e, 0);
            sync_send(fd);
            waits(e, 30000);
            stream_in(s, LEFT, 100000);
            waits(e, 0);
            stream_out(s, 3, 100000, 1000);
            printf("\n");
        } else {
            stream_out(s, 0, LEFT, 1000);
            sync_wait(fd);
            stream_out(s, LEFT, 100000, 1000);
            stream_in(s, 3, 100000);
            MUST(recv(s, b, 4, 0) == 0);
        }
        close(e);
        close(s);
    }
}
/* As another user from here on, where that may be: what begins then, may be switched off for that one. */
void other_user(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 1, &a), s;
    if (geteuid() == 0) MUST(seteuid(65534) == 0);
    s = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(s >= 0);
    warm(s, server);
    if (server) stream_out(s, 0, 100000, 1000); else stream_in(s, 0, 100000);
    close(s);
}
/* Connections and sets with numbers that the library does not follow: the kernel's, and beside one that is fast. */
void numbers_high(int fd, int server)
{
    struct rlimit many;
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s = -1, e, last = -1, p[2], null = open("/dev/null", O_RDONLY);
    struct epoll_event got;
    struct pollfd ask[2];
    MUST(getrlimit(RLIMIT_NOFILE, &many) == 0);
    many.rlim_cur = 70000;
    if (many.rlim_max < 70000) many.rlim_max = 70000;
    if (server && setrlimit(RLIMIT_NOFILE, &many) == 0) {
        /* All numbers below are somebody's. */
        while ((last = dup(null)) >= 0 && last < 65540) ;
        MUST(last == 65540);
    }
    s = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(s >= 0 && (!server || last < 0 || s > 65540));
    for (int i = 0; i < 200; i++) { char c = (char)i; if (!server) all_out(s, &c, 1); all_in(s, &c, 1); if (server) all_out(s, &c, 1); }
    if (server) {
        MUST((e = epoll_create1(0)) >= 0 && pipe(p) == 0);
        in_set(e, EPOLL_CTL_ADD, s, EPOLLIN, 1);
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN, 2);
        for (int i = 0; i < 20; i++) {
            int from = i % 2 ? s : fd;
            all_out(from, "g", 1);
            MUST(epoll_wait(e, &got, 1, 30000) == 1);
            if (i < 2) printf("%x/%u ", got.events, got.data.u32);
            stream_in(from, 0, 3000);
            ask[0] = (struct pollfd){s, POLLIN, 0}; ask[1] = (struct pollfd){fd, POLLIN, 0};
            all_out(from, "g", 1);
            MUST(poll(ask, 2, 30000) == 1);
            if (i < 2) printf("%x %x ", ask[0].revents, ask[1].revents);
            stream_in(from, 0, 3000);
        }
        /* To where it would be followed, and back. */
        MUST(dup2(s, null) == null && close(s) == 0);
        stream_out(null, 5, 200000, 1000);
        stream_in(null, 5, 200000);
        MUST(dup2(fd, last < 0 ? p[0] : 65600) >= 0);
        stream_in(last < 0 ? p[0] : 65600, 0, 1000);
        all_out(fd, "last", 4);
        printf("end %lu\n", to_end(null, 0));
    } else {
        char b[4];
        for (int i = 0; i < 20; i++)
            for (int k = 0; k < 2; k++) { int to = i % 2 ? s : fd; all_in(to, b, 1); stream_out(to, 0, 3000, 3000); }
        stream_in(s, 5, 200000);
        stream_out(s, 5, 200000, 1000);
        stream_out(fd, 0, 1000, 100);
        all_in(fd, b, 4);
        printf("%.4s\n", b);
        close(s);
    }
}
