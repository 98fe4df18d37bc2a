/* Other processes and programs, other descriptors, other threads. */
#include "cases.h"
#include <sys/resource.h>

extern int __fcntl(int fd, int command, ...);
void duplicates(int fd, int server)
{
    if (!server) {
        int two = dup(fd), three = __fcntl(fd, F_DUPFD, 100), null = open("/dev/null", O_RDWR);
        stream_out(fd, 0, 1000, 10);
        close(fd);
        stream_out(two, 1000, 1000, 10);
        MUST(dup2(null, two) == two);
        stream_out(three, 2000, 100000, 1000);
        sync_wait(three);
        MUST(dup3(null, three, O_CLOEXEC) == three);
        printf("null %zd\n", write(three, "x", 1));
    } else { stream_in(fd, 0, 102000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
}
void forks(int fd, int server)
{
    if (!server) {
        stream_out(fd, 0, 400000, 3000);
        sync_wait(fd); sync_wait(fd);
        stream_out(fd, 0, 1000, 10);
        printf("rest %lu\n", to_end(fd, 9));
    } else {
        pid_t child;
        int status;
        stream_in(fd, 0, 100000);
        child = fork();
        if (child == 0) { stream_in(fd, 100000, 100000); sync_send(fd); _exit(0); }
        waitpid(child, &status, 0);
        printf("child %d\n", status);
        stream_in(fd, 200000, 200000);
        sync_send(fd);
        child = fork();
        if (child == 0) { stream_in(fd, 0, 1000); nap(50); stream_out(fd, 9, 200000, 1000); _exit(0); }
        close(fd);
        waitpid(child, &status, 0);
        printf("child %d\n", status);
    }
}
void files(int fd, int server)
{
    if (!server) {
        FILE *f = tmpfile();
        unsigned char b[50000];
        off_t at = 0;
        fill(b, sizeof b, 3000);
        MUST(fwrite(b, 1, sizeof b, f) == sizeof b && fflush(f) == 0);
        stream_out(fd, 0, 3000, 100);
        for (size_t left = sizeof b; left;) { ssize_t n = sendfile(fd, fileno(f), &at, left); MUST(n > 0); left -= (size_t)n; }
        stream_out(fd, 53000, 100000, 1000);
        sync_wait(fd);
        stream_in(fd, 1, 20000);
        fclose(f);
    } else {
        int p[2];
        unsigned char b[20000];
        MUST(pipe(p) == 0);
        stream_in(fd, 0, 2000);
        for (size_t got = 0; got < 5000;) {
            ssize_t n = splice(fd, NULL, p[1], NULL, 5000 - got, 0);
            MUST(n > 0);
            all_in(p[0], b, (size_t)n);
            check(b, (size_t)n, 2000 + got);
            got += (size_t)n;
        }
        stream_in(fd, 7000, 146000);
        sync_send(fd);
        fill(b, sizeof b, 1);
        all_out(fd, b, sizeof b);
        printf("spliced, end %lu\n", to_end(fd, 0));
    }
}
static void begin_program(int fd)
{
    char number[16];
    fflush(stdout);
    snprintf(number, sizeof number, "%d", fd);
    execl(self, self, "exec", "x", number, (char *)NULL);
    die("exec");
}
void program(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 1000, 100); sync_wait(fd); stream_out(fd, 1000, 50000, 1000); shutdown(fd, SHUT_WR); printf("answer %lu\n", to_end(fd, 4)); }
    else {
        stream_in(fd, 0, 1000);
        sync_send(fd);
        begin_program(fd);
    }
}
void spawned(int fd, int server)
{
    if (!server) { program(fd, 0); return; }
    {
        char number[16];
        char *argv[] = {(char *)self, "exec", "x", number, NULL};
        pid_t child;
        int status;
        stream_in(fd, 0, 1000);
        fflush(stdout);
        snprintf(number, sizeof number, "%d", fd);
        child = fork();
        if (child == 0) { sync_send(fd); execv(self, argv); _exit(9); }
        close(fd);
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
}
void killed(int fd, int server)
{
    if (!server) { stream_out(fd, 0, 20000, 100); sync_wait(fd); fflush(stdout); kill(getpid(), SIGKILL); }
    else { stream_in(fd, 0, 20000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
}
void passed(int fd, int server)
{
    if (!server) { stream_in(fd, 0, 3000); sync_send(fd); printf("end %lu\n", to_end(fd, 0)); }
    else {
        int pair[2], status;
        char control[CMSG_SPACE(sizeof(int))] = {0}, c = 'x';
        struct iovec v = {&c, 1};
        struct msghdr m = {0};
        pid_t child;
        MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        stream_out(fd, 0, 1000, 100);
        m.msg_iov = &v; m.msg_iovlen = 1; m.msg_control = control; m.msg_controllen = sizeof control;
        child = fork();
        if (child == 0) {
            int got;
            close(fd); close(pair[0]);
            MUST(recvmsg(pair[1], &m, 0) == 1);
            memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof got);
            stream_out(got, 1000, 2000, 100);
            sync_wait(got);
            _exit(0);
        }
        CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
        CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
        CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &fd, sizeof fd);
        MUST(sendmsg(pair[0], &m, 0) == 1);
        close(fd);
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
}
struct both { int fd; unsigned long from; };
static void *reader(void *p) { struct both *b = p; stream_in(b->fd, b->from, 8000000); return NULL; }
void threads(int fd, int server)
{
    struct both b = {fd, server ? 0 : 99};
    pthread_t t;
    MUST(pthread_create(&t, NULL, reader, &b) == 0);
    stream_out(fd, server ? 99 : 0, 8000000, 70000);
    pthread_join(t, NULL);
    printf("both ways\n");
}
/* The same where a file can't have what is left, since the connection was made. */
void program_limited(int fd, int server)
{
    struct rlimit least = {4096, 4096};
    if (!server) { program(fd, 0); return; }
    stream_in(fd, 0, 1000);
    sync_send(fd);
    for (int n = 0; n < 20000; nap(1)) MUST(ioctl(fd, FIONREAD, &n) == 0);
    MUST(setrlimit(RLIMIT_FSIZE, &least) == 0);
    begin_program(fd);
}
/* Every number that is not known to be somebody's is free to be taken, also while the connection is in a set. */
void numbers_set(int fd, int server)
{
    struct epoll_event got = {0};
    int e = epoll_create1(0), taken = 0;
    char b[3];
    if (!server) { for (int i = 0; i < 6; i++) { sync_wait(fd); all_out(fd, "abc", 3); } sync_wait(fd); return; }
    for (int round = 0; round < 3; round++) {
        unsigned kind = round == 0 ? 0 : round == 1 ? EPOLLET : EPOLLONESHOT;
        in_set(e, EPOLL_CTL_ADD, fd, EPOLLIN | kind, 7);
        for (int n = 3; n < 9000; n++)
            if (n != fd && n != e && fcntl(n, F_GETFD) >= 0 && dup2(0, n) != n) taken++;
        for (int n = 3; n < 9000; n++)
            if (n != fd && n != e) close(n);
        sync_send(fd);
        printf("told %d", epoll_wait(e, &got, 1, 10000)); printf(" %x %u", got.events, got.data.u32);
        all_in(fd, b, 3);
        in_set(e, EPOLL_CTL_MOD, fd, EPOLLIN | kind, 8);
        sync_send(fd);
        printf(" %d", epoll_wait(e, &got, 1, 10000)); printf(" %x %u", got.events, got.data.u32);
        all_in(fd, b, 3);
        in_set(e, EPOLL_CTL_DEL, fd, 0, 0);
        printf(" none %d\n", epoll_wait(e, &got, 1, 0));
    }
    sync_send(fd);
    printf("taken %d\n", taken);
}
/* Every number that is not known to be somebody's is free to be taken. */
void numbers(int fd, int server)
{
    int taken = 0;
    if (server) stream_out(fd, 0, 50000, 1000);
    else stream_in(fd, 0, 50000);
    for (int n = 3; n < 9000; n++)
        if (n != fd && fcntl(n, F_GETFD) >= 0 && dup2(0, n) != n) taken++;
    for (int n = 3; n < 9000; n++)
        if (n != fd) close(n);
    printf("taken %d\n", taken);
    if (server) { stream_out(fd, 5, 500000, 30000); stream_in(fd, 5, 500000); }
    else { stream_in(fd, 5, 500000); stream_out(fd, 5, 500000, 30000); }
    if (server) { sync_wait(fd); all_out(fd, "bye", 3); }
    else { char b[3]; sync_send(fd); all_in(fd, b, 3); printf("%.3s\n", b); }
}
/* Connections of servers that fork for each: `serve` runs in the child, `hold` in the parent, which closes when it has. */
static void forked(int s, void (*serve)(int, int *), void (*hold)(int, int *))
{
    int up[2], down[2], *ends[2] = {up, down};
    pid_t child;
    int status;
    MUST(pipe(up) == 0 && pipe(down) == 0);
    fflush(stdout);
    MUST((child = fork()) >= 0);
    if (child == 0) {
        int say[2] = {down[0], up[1]};
        close(up[0]); close(down[1]);
        serve(s, say);
        fflush(stdout);
        _exit(0);
    }
    { int say[2] = {up[0], down[1]}; close(up[1]); close(down[0]); hold(s, say); }
    if (fcntl(s, F_GETFD) >= 0) close(s);
    for (int i = 0; i < 2; i++) close(ends[i][i]);
    MUST(waitpid(child, &status, 0) == child);
    printf("status %x\n", (unsigned)status);
}
static void go(int *say) { MUST(write(say[1], "g", 1) == 1); }
static void ready(int *say) { char c; MUST(read(say[0], &c, 1) == 1); }
/* The child has the connection alone from the beginning. */
static void serves_alone(int s, int *say) { ready(say); warm(s, 1); stream_in(s, 0, 100000); stream_out(s, 7, 100000, 3000); }
static void closes(int s, int *say) { close(s); go(say); }
/* Both use it for a while, in turn, then the child alone. */
static void shares(int s, int *say)
{
    for (int i = 0; i < 20; i++) { ready(say); stream_in(s, (unsigned long)i * 2000 + 1000, 1000); all_out(s, "s", 1); go(say); }
    ready(say);
    /* The other side looks for this one once in 256 calls by now. */
    for (int i = 0; i < 400; i++) { sync_wait(s); all_out(s, "s", 1); }
    warm(s, 1);
}
static void shares_too(int s, int *say)
{
    for (int i = 0; i < 20; i++) { stream_in(s, (unsigned long)i * 2000, 1000); all_out(s, "s", 1); go(say); ready(say); }
    close(s);
    go(say);
}
/* The child ends without a look, or is killed; the parent goes on. */
static void looks_away(int s, int *say) { (void)s; go(say); }
static void is_killed(int s, int *say) { (void)s; go(say); kill(getpid(), SIGKILL); }
static void goes_on(int s, int *say) { ready(say); stream_in(s, 0, 50000); stream_out(s, 3, 50000, 3000); }
/* Is killed amid: the other side sees the end. */
static void dies(int s, int *say) { ready(say); warm(s, 1); stream_in(s, 0, 1000); all_out(s, "last", 4); kill(getpid(), SIGKILL); }
/* A child of the child has it in the end. */
static void hands_down(int s, int *say) { ready(say); forked(s, serves_alone, closes); }
/* The child ends without closing it, and the parent has it alone. */
static void outlives(int s, int *say) { char c; ready(say); MUST(read(say[0], &c, 1) == 0); warm(s, 1); }
/* The same, but the child has begun a program meanwhile, which may have it still. */
static void begins(int s, int *say) { (void)s; MUST(system("true") == 0); go(say); }
static void stays(int s, int *say)
{
    char c;
    ready(say);
    MUST(read(say[0], &c, 1) == 0);
    for (int i = 0; i < 300; i++) { sync_wait(s); all_out(s, "s", 1); }
    printf("fast %d\n", fast_now(s));
}
void served(int fd, int server)
{
    static const struct { void (*serve)(int, int *), (*hold)(int, int *); } ways[] = {
        {serves_alone, closes}, {shares, shares_too}, {looks_away, goes_on}, {is_killed, goes_on}, {dies, closes}, {hands_down, closes}, {looks_away, outlives},
        {begins, stays}};
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a);
        char b[4];
        MUST(s >= 0);
        if (server) { forked(s, ways[i].serve, ways[i].hold); continue; }
        if (i == 0 || i == 5) { warm(s, 0); stream_out(s, 0, 100000, 1000); stream_in(s, 7, 100000); }
        else if (i == 1) { for (unsigned long at = 0; at < 40000; at += 1000) { stream_out(s, at, 1000, 100); sync_wait(s); } for (int k = 0; k < 400; k++) { all_out(s, "s", 1); sync_wait(s); } warm(s, 0); }
        else if (i == 4) { warm(s, 0); stream_out(s, 0, 1000, 100); all_in(s, b, 4); printf("%.4s, ", b); }
        else if (i == 6) warm(s, 0);
        else if (i == 7) for (int k = 0; k < 300; k++) { all_out(s, "s", 1); sync_wait(s); }
        else { stream_out(s, 0, 50000, 1000); stream_in(s, 3, 50000); }
        printf("end %lu\n", to_end(s, 0));
        close(s);
    }
}
/* The process forks while a thread of it waits for the connection's first byte; its child closes, so that the thread has it alone. */
static void *warms(void *p) { warm(*(int *)p, 1); return NULL; }
void served_reading(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a), s = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(s >= 0);
    if (server) {
        int up[2], down[2], status;
        pthread_t t;
        pid_t child;
        char c;
        MUST(pipe(up) == 0 && pipe(down) == 0 && pthread_create(&t, NULL, warms, &s) == 0);
        /* Until it waits, most likely: where it does not yet, there is less to be seen. */
        nap(50);
        fflush(stdout);
        MUST((child = fork()) >= 0);
        if (child == 0) {
            close(s); close(down[1]);
            MUST(write(up[1], "c", 1) == 1 && read(down[0], &c, 1) == 0);
            _exit(0);
        }
        MUST(read(up[0], &c, 1) == 1);
        sync_send(fd);
        MUST(pthread_join(t, NULL) == 0);
        close(down[1]);
        MUST(waitpid(child, &status, 0) == child);
        printf("status %x\n", (unsigned)status);
    } else { sync_wait(fd); warm(s, 0); }
    close(s);
}
/* A copy with a number that the library does not follow. */
void number_high(int fd, int server)
{
    struct rlimit many;
    int two;
    if (!server) { stream_out(fd, 0, 3000, 100); sync_wait(fd); stream_out(fd, 3000, 3000, 100); sync_wait(fd); return; }
    for (int n = 0; n < 3000; nap(1)) MUST(ioctl(fd, FIONREAD, &n) == 0);
    MUST(getrlimit(RLIMIT_NOFILE, &many) == 0);
    many.rlim_cur = 70000;
    if (many.rlim_max < 70000) many.rlim_max = 70000;
    /* Who may not have so many has another one. */
    if (setrlimit(RLIMIT_NOFILE, &many) == 0) MUST((two = fcntl(fd, F_DUPFD, 66000)) >= 66000);
    else MUST((two = dup(fd)) >= 0);
    sync_send(fd);
    stream_in(two, 0, 6000);
    sync_send(two);
    printf("end %lu\n", to_end(two, 0));
}
/* Servers that fork before they accept. */
void preforked(int fd, int server)
{
    enum { SERVERS = 3 };
    struct sockaddr_in a;
    int l = door(fd, server, 8, &a);
    if (server) {
        pid_t child[SERVERS];
        int status;
        fflush(stdout);
        for (int i = 0; i < SERVERS; i++)
            if ((child[i] = fork()) == 0) {
                int s = accept(l, NULL, NULL);
                MUST(s >= 0);
                warm(s, 1);
                stream_in(s, 0, 100000);
                stream_out(s, 7, 100000, 3000);
                _exit(0);
            }
        for (int i = 0; i < SERVERS; i++) { MUST(waitpid(child[i], &status, 0) == child[i]); printf("status %x\n", (unsigned)status); }
    } else
        for (int i = 0; i < SERVERS; i++) {
            int s = connected(&a);
            warm(s, 0);
            stream_out(s, 0, 100000, 1000);
            stream_in(s, 7, 100000);
            printf("end %lu\n", to_end(s, 0));
            close(s);
        }
}
/* Bytes that nobody has read yet when a program begins that reads them by calls which nobody sees. */
enum { LEFT = 30000, LEFT_WAYS = 13, HALF = 50 };
extern char **environ;
static void left_to(int s, int way)
{
    char reader[500], number[20], count[20], command[600], *end, *argv[] = {reader, number, count, NULL}, *own[] = {(char *)self, "exec", "x", number, count, NULL};
    static char b[LEFT + 1];
    int status = -1, other = s;
    pid_t child = -1;
    FILE *f;
    posix_spawn_file_actions_t actions;
    snprintf(reader, sizeof reader, "%s", self);
    MUST((end = strrchr(reader, '/')) != NULL);
    snprintf(end, 50, "/fastsock-reader");
    snprintf(number, sizeof number, "%d", s);
    snprintf(count, sizeof count, "%d", LEFT);
    snprintf(command, sizeof command, "%s %s %s", reader, number, count);
    fflush(stdout);
    switch (way) {
    case 0: MUST(posix_spawn(&child, reader, NULL, NULL, argv, environ) == 0); break;
    case 1: status = system(command); break;
    case 2: MUST((f = popen(command, "r")) != NULL); status = pclose(f); break;
    case 3: if ((child = fork()) == 0) { execle("/bin/sh", "sh", "-c", command, (char *)NULL, environ); _exit(9); } break;
    case 4: if ((child = fork()) == 0) { execv(reader, argv); _exit(9); } break;
    case 5: /* As standard input. */
        MUST(dup2(s, 0) == 0 && fread(b, 1, LEFT, stdin) == LEFT);
        check((unsigned char *)b, LEFT, 0);
        MUST((other = open("/dev/null", O_RDONLY)) >= 0 && dup2(other, 0) == 0);
        close(other);
        all_out(s, "okay", 4);
        status = 0;
        break;
    case 6: /* A stream of the C library's, with no other program. */
        MUST((f = fdopen(dup(s), "r+")) != NULL && fread(b, 1, LEFT, f) == LEFT);
        check((unsigned char *)b, LEFT, 0);
        fclose(f);
        all_out(s, "okay", 4);
        status = 0;
        break;
    case 7: /* A program that does not look at it: this one reads on. */
        status = system("true");
        stream_in(s, 0, LEFT);
        all_out(s, "okay", 4);
        break;
    case 8: /* Handed over. */
        other = handed_over(s);
        stream_in(other, 0, LEFT);
        all_out(other, "okay", 4);
        close(other);
        status = 0;
        break;
    case 9: /* A program that does not begin. */
        MUST(execl("/nowhere", "nowhere", (char *)NULL) < 0 && errno == ENOENT);
        stream_in(s, 0, LEFT);
        all_out(s, "okay", 4);
        status = 0;
        break;
    case 10: /* Found at the second place, as a shell looks; the other side is in no call on the connection. */
        if ((child = fork()) == 0) { execve("/nowhere", own, environ); execve(self, own, environ); _exit(9); }
        break;
    case 11: /* The other side waits for all that comes, of which the first part is there by the ring. */
        all_out(s, b, HALF);
        MUST(posix_spawn(&child, reader, NULL, NULL, argv, environ) == 0);
        break;
    case 12: /* Closed when a program begins, but for a copy. */
        MUST(fcntl(s, F_SETFD, FD_CLOEXEC) == 0 && posix_spawn_file_actions_init(&actions) == 0 && posix_spawn_file_actions_adddup2(&actions, s, 333) == 0);
        snprintf(number, sizeof number, "333");
        MUST(posix_spawn(&child, reader, &actions, NULL, argv, environ) == 0 && posix_spawn_file_actions_destroy(&actions) == 0);
        break;
    }
    if (child > 0) MUST(waitpid(child, &status, 0) == child);
    printf("%d: status %x\n", way, (unsigned)status);
}
void left_unread(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 5, &a);
    for (int way = 0; way < LEFT_WAYS; way++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), n = 0;
        char b[HALF + 4];
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            while (n < 20000) { nap(1); MUST(ioctl(s, FIONREAD, &n) == 0); }
            left_to(s, way);
            if (way == 10) sync_send(fd);
        } else {
            stream_out(s, 0, LEFT, 1000);
            if (way == 10) sync_wait(fd);
            if (way == 11) printf("%zd ", recv(s, b, HALF + 4, MSG_WAITALL)); else all_in(s, b + HALF, 4);
            printf("%d: %.4s\n", way, b + HALF);
        }
        close(s);
    }
}
/* What POSIX lets a child of vfork do, begin a program or end, and what programs do all the same: close what they have no use for. By both names. */
void vforks(int fd, int server)
{
    extern pid_t __vfork(void);
    char path[500], number[20], *argv[] = {path, "exec", "program", number, "300", NULL};
    volatile int way;
    snprintf(path, sizeof path, "%s", self);
    snprintf(number, sizeof number, "%d", fd);
    for (way = 0; way < 3; way++) {
        int status;
        pid_t child;
        if (!server) { stream_out(fd, 0, 300, 300); { char b[4]; all_in(fd, b, 4); printf("%.4s\n", b); } sync_wait(fd); continue; }
        if (way < 2) all_there(fd, 300);
        child = way == 1 ? __vfork() : vfork();
        if (child == 0) {
            /* The last way: the child closes what its parent goes on with. */
            if (way == 2) { close(fd); _exit(7); }
            execv(path, argv);
            _exit(1);
        }
        MUST(child > 0 && waitpid(child, &status, 0) == child);
        printf("%d: %x\n", way, (unsigned)status);
        if (way == 2) { stream_in(fd, 0, 300); all_out(fd, "mine", 4); }
        sync_send(fd);
    }
}
