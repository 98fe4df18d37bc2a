/* Calls that are left amid: by a handler that uses the connection, by one that jumps out of it, by a thread that is cancelled. */
#include "cases.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static int at;
static volatile sig_atomic_t sent, failed;
static sigjmp_buf back;

static void ticks(int microseconds)
{
    struct itimerval every = {{0, microseconds}, {0, microseconds}};
    MUST(setitimer(ITIMER_REAL, &every, NULL) == 0);
}
/* What comes is sent back, until the end. */
static void answer(int fd)
{
    char b[1000];
    ssize_t r;
    while ((r = recv(fd, b, sizeof b, 0)) > 0) all_out(fd, b, (size_t)r);
    printf("answered, end %zd\n", r);
    shutdown(fd, SHUT_WR);
}
static void sends(int s)
{
    int before = errno;
    ssize_t r = send(at, "q", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)s;
    if (r == 1) sent++;
    else if (errno != EAGAIN) failed = errno;
    signals++;
    errno = before;
}
void handler_sends(int fd, int server)
{
    struct sigaction a = {0};
    long out = 0, in = 0;
    char c[100];
    ssize_t r;
    if (!server) { answer(fd); return; }
    at = fd;
    a.sa_handler = sends;
    a.sa_flags = SA_RESTART;
    MUST(sigaction(SIGALRM, &a, NULL) == 0);
    ticks(300);
    while (signals < 300) {
        r = send(fd, "m", 1, 0);
        MUST(r == 1);
        out++;
        r = recv(fd, c, 1, 0);
        MUST(r == 1);
        in++;
    }
    ticks(0);
    shutdown(fd, SHUT_WR);
    while ((r = recv(fd, c, sizeof c, 0)) > 0) in += r;
    printf("all back %d, end %zd, errors %s\n", in == out + sent, r, name(failed));
}
static void jumps(int s) { (void)s; siglongjmp(back, 1); }
void jumped(int fd, int server)
{
    struct sigaction a = {0};
    char c[100];
    ssize_t r;
    volatile int times = 0;
    if (!server) { answer(fd); return; }
    a.sa_handler = jumps;
    MUST(sigaction(SIGALRM, &a, NULL) == 0);
    if (sigsetjmp(back, 1)) times++;
    else ticks(700);
    while (times < 200) {
        r = send(fd, "m", 1, MSG_DONTWAIT);
        MUST(r == 1 || errno == EAGAIN);
        r = recv(fd, c, sizeof c, 0);
        MUST(r > 0);
    }
    ticks(0);
    shutdown(fd, SHUT_WR);
    while ((r = recv(fd, c, sizeof c, 0)) > 0) ;
    printf("end %zd\n", r);
}
static volatile sig_atomic_t came[2];
static void comes(int s) { came[s == SIGUSR2]++; }
/* Two signals that are due at one moment: the system enters one handler before the other has begun. */
void at_once(int fd, int server)
{
    const int number[2] = {SIGUSR1, SIGUSR2};
    struct itimerspec every = {{0, 300000}, {0, 1000000}}, off = {{0, 0}, {0, 0}};
    struct sigaction a = {0};
    sigset_t blocked;
    timer_t timer[2];
    char c;
    ssize_t r;
    int free_of_both, last[2];
    if (!server) { answer(fd); return; }
    a.sa_handler = comes;
    a.sa_flags = SA_RESTART;
    for (int i = 0; i < 2; i++) {
        struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number[i]};
        MUST(sigaction(number[i], &a, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &e, &timer[i]) == 0);
    }
    for (int i = 0; i < 2; i++) MUST(timer_settime(timer[i], 0, &every, NULL) == 0);
    /* No longer than this where they stop coming. */
    for (int i = 0; i < 2000000 && (came[0] < 2000 || came[1] < 2000); i++) {
        MUST(send(fd, "m", 1, 0) == 1);
        MUST(recv(fd, &c, 1, 0) == 1);
    }
    for (int i = 0; i < 2; i++) MUST(timer_settime(timer[i], 0, &off, NULL) == 0);
    MUST(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0);
    free_of_both = !sigismember(&blocked, SIGUSR1) && !sigismember(&blocked, SIGUSR2);
    for (int i = 0; i < 2; i++) {
        last[i] = came[i];
        MUST(raise(number[i]) == 0);
        last[i] = came[i] == last[i] + 1;
    }
    shutdown(fd, SHUT_WR);
    r = recv(fd, &c, 1, 0);
    printf("both came %d, none is blocked %d, both come %d %d, end %zd\n", came[0] >= 2000 && came[1] >= 2000, free_of_both, last[0], last[1], r);
}
/* Signals that wait in their order, of which some come amid a call. */
static volatile sig_atomic_t last_value, out_of_order;
static void queued_one(int s, siginfo_t *i, void *c)
{
    (void)s; (void)c;
    if (i->si_value.sival_int != last_value + 1) out_of_order++;
    last_value = i->si_value.sival_int;
}
enum { QUEUED = 30000 };
static pthread_t queues_for;
static void *queues(void *p)
{
    for (int i = 1; i <= QUEUED; i++) {
        union sigval v = {.sival_int = i};
        while (pthread_sigqueue(queues_for, SIGRTMIN + 3, v) != 0) { MUST(errno == 0 || errno == EAGAIN); sched_yield(); }
    }
    return p;
}
void queued(int fd, int server)
{
    struct sigaction a = {0};
    pthread_t t;
    char c;
    if (!server) { answer(fd); return; }
    a.sa_sigaction = queued_one;
    a.sa_flags = SA_RESTART | SA_SIGINFO;
    MUST(sigaction(SIGRTMIN + 3, &a, NULL) == 0);
    queues_for = pthread_self();
    errno = 0;
    MUST(pthread_create(&t, NULL, queues, NULL) == 0);
    while (last_value < QUEUED) { MUST(send(fd, "m", 1, 0) == 1); MUST(recv(fd, &c, 1, 0) == 1); }
    MUST(pthread_join(t, NULL) == 0);
    shutdown(fd, SHUT_WR);
    printf("out of order %d, end %zd\n", (int)out_of_order, recv(fd, &c, 1, 0));
}
/* Buffers that are not there: the kernel refuses them; a handler of the fault jumps out of a call that looks at them. */
static void refused(int fd, void *where, int sends)
{
    if (sigsetjmp(back, 1) == 0) MUST((sends ? send(fd, where, 100, MSG_NOSIGNAL) : recv(fd, where, 100, 0)) < 0 && errno == EFAULT);
}
void faults(int fd, int server)
{
    struct sockaddr_in a;
    struct sigaction jump = {0}, count_up = {0};
    int l = door(fd, server, 5, &a);
    FILE *f = tmpfile();
    void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *beyond;
    MUST(f && none != MAP_FAILED && ftruncate(fileno(f), 4096) == 0);
    beyond = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    MUST(beyond != MAP_FAILED && ftruncate(fileno(f), 0) == 0);
    jump.sa_handler = jumps;
    count_up.sa_handler = count;
    MUST(sigaction(SIGSEGV, &jump, NULL) == 0 && sigaction(SIGBUS, &jump, NULL) == 0 && sigaction(SIGUSR1, &count_up, NULL) == 0);
    for (int i = 0; i < 4; i++) {
        int s = server ? accept(l, NULL, NULL) : connected(&a), n = 0;
        MUST(s >= 0);
        warm(s, server);
        if (server) {
            sync_send(fd);
            while (n < 100) { nap(1); MUST(ioctl(s, FIONREAD, &n) == 0); }
            refused(s, i & 1 ? none : beyond, i & 2);
            /* The call is left: what comes is not put off, and other connections go on. */
            signals = 0;
            MUST(raise(SIGUSR1) == 0);
            printf("%d signals", (int)signals);
            sync_send(fd); sync_wait(fd);
            signals = 0;
            MUST(raise(SIGUSR1) == 0);
            printf(" %d\n", (int)signals);
        } else { sync_wait(fd); stream_out(s, 0, 100, 100); sync_wait(fd); sync_send(fd); }
        close(s);
    }
    fclose(f);
}
static void *talks(void *p)
{
    char c;
    for (;;) {
        MUST(send(at, "m", 1, 0) == 1);
        MUST(recv(at, &c, 1, 0) == 1);
    }
    return p;
}
static void *listens(void *p) { char c; (void)!recv(at, &c, 1, 0); return p; }
static void *only_sends(void *p) { for (;;) (void)!send(at, "m", 1, MSG_DONTWAIT); return p; }
static void cancel(void *(*thread)(void *), int after)
{
    pthread_t t;
    void *result;
    MUST(pthread_create(&t, NULL, thread, NULL) == 0);
    usleep((useconds_t)after);
    MUST(pthread_cancel(t) == 0 && pthread_join(t, &result) == 0);
    MUST(result == PTHREAD_CANCELED);
}
void cancelled(int fd, int server)
{
    char c[1000];
    ssize_t r;
    if (!server) { answer(fd); return; }
    at = fd;
    for (int i = 0; i < 100; i++) {
        cancel(talks, 100 + i * 7);
        while ((r = recv(fd, c, sizeof c, MSG_DONTWAIT)) > 0) ;
        MUST(r < 0 && errno == EAGAIN);
    }
    /* What the last one sent may come back yet. */
    nap(100);
    while (recv(fd, c, sizeof c, MSG_DONTWAIT) > 0) ;
    cancel(listens, 50000);
    all_out(fd, "x", 1);
    all_in(fd, c, 1);
    printf("then %c\n", c[0]);
    cancel(only_sends, 2000);
    shutdown(fd, SHUT_WR);
    while ((r = recv(fd, c, sizeof c, 0)) > 0) ;
    printf("end %zd\n", r);
}
/* A program that may call read, write and _exit alone from then on. */
void strict(int fd, int server)
{
    char c;
    if (server) {
        pid_t child;
        int status;
        fflush(stdout);
        child = fork();
        if (child == 0) {
            MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
            for (int i = 0; i < 300; i++)
                if (read(fd, &c, 1) != 1 || write(fd, &c, 1) != 1) break;
            syscall(SYS_exit, 7);
        }
        waitpid(child, &status, 0);
        printf("status %x\n", (unsigned)status);
    } else
        for (int i = 0; i < 300; i++) { all_out(fd, "s", 1); sync_wait(fd); }
}
/* The same before it becomes fast: a second connection, which would. */
void strict_early(int fd, int server)
{
    struct sockaddr_in a;
    int l = door(fd, server, 1, &a), s;
    char c;
    if (server) {
        struct sock_filter all[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog filter = {4, all};
        MUST((s = accept(l, NULL, NULL)) >= 0);
        MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0);
        for (int i = 0; i < 300; i++) { all_in(s, &c, 1); all_out(s, &c, 1); }
        printf("fast %d\n", fast_now(s));
    } else {
        s = connected(&a);
        for (int i = 0; i < 300; i++) { all_out(s, "s", 1); sync_wait(s); }
    }
}
/* The same where the other side has not sent since both could be fast. */
void strict_one_way(int fd, int server)
{
    int (*ways)(int);
    struct sockaddr_in a;
    int l = door(fd, server, 1, &a), s;
    char c;
    *(void **)&ways = dlsym(RTLD_DEFAULT, "fastsock_fast_ways");
    if (server) {
        pid_t child;
        int status, within = 0;
        fflush(stdout);
        child = fork();
        if (child == 0) {
            MUST((s = accept(l, NULL, NULL)) >= 0);
            for (int i = 0; i < 300; i++) {
                if (read(s, &c, 1) != 1 || write(s, &c, 1) != 1) break;
                if (!within && (i == 63 || (ways && ways(s) == 1))) MUST((within = 1) && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
            }
            syscall(SYS_exit, 7);
        }
        waitpid(child, &status, 0);
        printf("status %x\n", (unsigned)status);
    } else {
        s = connected(&a);
        for (int i = 0; i < 300; i++) { all_out(s, "s", 1); sync_wait(s); }
    }
}
/* A program that only asks whether there are filters forbids itself nothing. */
void probed(int fd, int server)
{
    struct sockaddr_in a;
    int l, s;
    printf("none %d", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL)); printf(" %d", errno == EFAULT);
    printf(" %ld", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL)); printf(" %d", errno == EFAULT);
    printf(" %ld", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL)); printf(" %d", errno == EINVAL);
    printf(" %d", prctl(PR_SET_SECCOMP, 77, NULL)); printf(" %d\n", errno == EINVAL);
    l = door(fd, server, 1, &a);
    s = server ? accept(l, NULL, NULL) : connected(&a);
    MUST(s >= 0);
    warm(s, server);
    warm(fd, server);
}
