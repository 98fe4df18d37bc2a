/* Ways in which a program loses a connection that is fast where the kernel's goes on: defects that are known (README). It prints what either side is told.
 *
 *   lost server WAY          prints its port, serves two connections, the second of which may be lost
 *   lost client WAY PORT
 */
#include "cases/cases.h"
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { LEFT = 30000, PAGE = 4096 };
static int at, sends;
static char *page;
static volatile int ran, told;
static volatile ssize_t got;
static sigjmp_buf back;

/* A handler as the system takes it, which nobody sees who defines `sigaction` (asm/signal.h, x86-64). */
struct kernels { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; };
enum { RESTORER = 0x04000000 };
__asm__(".text\ncome_back:\n\tmov $15, %eax\n\tsyscall\n");
extern void come_back(void);

/* The page was missing amid a call on the connection: a call on that very one. */
static void unseen(int s)
{
    char c = 'h';
    (void)s;
    got = sends ? send(at, &c, 1, MSG_NOSIGNAL) : recv(at, &c, 1, MSG_DONTWAIT);
    told = errno;
    ran = 1;
    MUST(mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0);
}
static void jumps(int s) { (void)s; ran = 1; siglongjmp(back, 1); }
static void *stays(void *p) { pause(); return p; }

static void amid(int s, const char *way)
{
    struct kernels set = {unseen, RESTORER, come_back, 0};
    struct sigaction jump = {0};
    volatile ssize_t r = -2;
    pthread_t t;
    char c;
    sends = strcmp(way, "receive") != 0;
    at = s;
    jump.sa_handler = jumps;
    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    if (!strcmp(way, "threads")) MUST(pthread_create(&t, NULL, stays, NULL) == 0);
    if (!strcmp(way, "jump")) MUST(sigaction(SIGSEGV, &jump, NULL) == 0);
    else MUST(syscall(SYS_rt_sigaction, SIGSEGV, &set, NULL, sizeof set.mask) == 0);
    if (sigsetjmp(back, 1) == 0) r = sends ? send(s, page, PAGE, MSG_NOSIGNAL) : recv(s, page, PAGE, 0);
    if (ran && r != -2) printf("handler %zd %s, ", got, name(told));
    printf("ran %d, call %zd, ", ran, r);
    /* The direction that was jumped out of, or the other one. */
    r = !strcmp(way, "jump") ? send(s, "j", 1, MSG_NOSIGNAL) : recv(s, &c, 1, 0);
    printf("then %zd %s\n", r, r < 0 ? name(errno) : "");
}
/* Bytes that nobody can send again, for somebody who reads by calls that nobody sees. */
static void out_of_reach(int s, const char *way)
{
    static char b[LEFT];
    ssize_t r;
    if (!strncmp(way, "stream", 6)) {
        FILE *f = fdopen(dup(s), "r");
        MUST(f != NULL);
        errno = 0;
        printf("read %zu", fread(b, 1, LEFT, f));
        printf(" %s, ", name(errno));
        fclose(f);
    } else {
        posix_spawn_file_actions_t actions;
        char *words[] = {"true", NULL};
        pid_t child;
        MUST(posix_spawn_file_actions_init(&actions) == 0);
        printf("copied %d, ", posix_spawn_file_actions_adddup2(&actions, s, 0));
        MUST(posix_spawn(&child, "/bin/true", &actions, NULL, words, environ) == 0);
        MUST(waitpid(child, NULL, 0) == child);
        MUST(posix_spawn_file_actions_destroy(&actions) == 0);
        errno = 0;
        r = recv(s, b, LEFT, MSG_WAITALL);
        printf("read %zd %s, ", r, name(errno));
    }
    errno = 0;
    r = send(s, "okay", 4, MSG_NOSIGNAL);
    printf("then %s\n", r < 0 ? "lost" : "okay");
}
int main(int argc, char **argv)
{
    struct sockaddr_in a = {0};
    socklen_t len = sizeof a;
    int server = argc > 1 && !strcmp(argv[1], "server"), l, fd, s;
    const char *way = argc > 2 ? argv[2] : "";
    char c;
    int leaves_bytes = !strncmp(way, "stream", 6) || !strncmp(way, "copy", 4);
    self = argv[0];
    alarm(100);
    if (argc < (server ? 3 : 4)) return 2;
    if (server) {
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        MUST((l = socket(AF_INET, SOCK_STREAM, 0)) >= 0 && bind(l, (struct sockaddr *)&a, len) == 0 && listen(l, 5) == 0);
        MUST(getsockname(l, (struct sockaddr *)&a, &len) == 0);
        printf("%d\n", ntohs(a.sin_port));
        fflush(stdout);
        MUST((fd = accept(l, NULL, NULL)) >= 0 && (s = accept(l, NULL, NULL)) >= 0);
    } else {
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        a.sin_port = htons((unsigned short)atoi(argv[3]));
        fd = connected(&a);
        s = connected(&a);
    }
    warm(s, server);
    if (server) {
        sync_wait(fd);
        all_there(s, leaves_bytes ? LEFT : 100);
        if (leaves_bytes) out_of_reach(s, way); else amid(s, way);
        /* What is unread would end it with a reset. */
        while (recv(s, &c, 1, MSG_DONTWAIT) > 0) ;
        close(s);
        sync_send(fd);
    } else {
        char b[1000];
        ssize_t r;
        stream_out(s, 0, leaves_bytes ? LEFT : 100, 1000);
        /* It is on TCP then, or has ended its direction: it sends nothing again. */
        if (strstr(way, "-back")) MUST(dprintf(s, "d") == 1);
        if (strstr(way, "-end")) MUST(shutdown(s, SHUT_WR) == 0);
        sync_send(fd);
        while ((r = recv(s, b, sizeof b, 0)) > 0) ;
        MUST(r == 0 || errno == ECONNRESET);
        printf("%s\n", r == 0 ? "end" : "reset");
        sync_wait(fd);
        close(s);
    }
    return 0;
}
