/* The daemons of a group, each in a network namespace of its own (hosts.sh). They end with whoever started them, however that goes: with the pipe that
 * it holds. */
#ifndef PIPEGAUGE_COROSYNC_DAEMONS_H
#define PIPEGAUGE_COROSYNC_DAEMONS_H

#include "meeting.h"
#include "wanted.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

/* How long hosts.sh is waited for as it ends, seconds: less than who waits for this process gives it. It tidies up by itself, waited for or not. */
#define ENDING 20.0

/* The text of hosts.sh. */
__asm__(".pushsection .rodata\nhosts_text: .incbin \"hosts.sh\"\n.byte 0\n.popsection");
extern const char hosts_text[] __attribute__((visibility("hidden")));

extern char **environ;

struct daemons {
    /* 0: none. */
    pid_t pid;
    int in, out;
};

/* What the script says until it is ready. */
static int daemons_ready(struct daemons *daemons, const terms *terms, error *e)
{
    char said[200];
    size_t have = 0;
    for (double since = 0; have + 1 < sizeof said;) {
        struct pollfd one = {daemons->out, POLLIN, 0};
        if (poll(&one, 1, SLICE) > 0) {
            const ssize_t n = read(daemons->out, said + have, 1);
            if (n <= 0 || said[have] == '\n')
                break;
            have++;
            continue;
        }
        const int code = goes_on(&since, terms);
        if (code == PIPEGAUGE_STALLED)
            return failed(e, PIPEGAUGE_SYSTEM, "Corosync's daemons have not formed a membership within the patience (--patience)");
        if (code != PIPEGAUGE_OK)
            return code;
    }
    said[have] = 0;
    return strcmp(said, "ready") == 0 ? PIPEGAUGE_OK : failed_with(e, "starting Corosync's daemons", have ? said : "hosts.sh ended");
}

static void end_daemons(struct daemons *daemons, const terms *terms)
{
    if (daemons->pid <= 0)
        return;
    close(daemons->in);
    close(daemons->out);
    const double wait = terms->patience / 2, until = now() + (wait < ENDING ? wait : ENDING);
    const struct timespec slice = {0, 5000000};
    while (waitpid(daemons->pid, NULL, WNOHANG) == 0 && now() < until)
        nanosleep(&slice, NULL);
    daemons->pid = 0;
}

static int start_daemons(struct daemons *daemons, uint32_t members, struct wanted wanted, const terms *terms, error *e)
{
    char count[12], loss[12], totem[LINES][60];
    char *words[10 + LINES + 1] = {"unshare", "--net", "--mount", "sh", "-c", (char *)hosts_text, "hosts.sh", count,
                                   (char *)transports[wanted.transport], loss};
    snprintf(count, sizeof count, "%u", members);
    snprintf(loss, sizeof loss, "%d", (int)(wanted.loss * 10000 + 0.5));
    for (int line = 0, word = 10; line < LINES; line++) {
        snprintf(totem[line], sizeof totem[line], "%s: %llu", lines[line], (unsigned long long)wanted.totem[line]);
        if (wanted.totem[line] > 0)
            words[word++] = totem[line];
    }
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        return failed_in_system(e, "making a pipe");
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return failed_in_system(e, "making a pipe");
    }
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    /* Its own session: Ctrl-C at a terminal is the command's affair, which ends this in order. */
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    errno = posix_spawnp(&daemons->pid, words[0], &files, &how, words, environ);
    const int came = errno == 0 ? PIPEGAUGE_OK : failed_in_system(e, "starting unshare (of util-linux)");
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    close(in[0]);
    close(out[1]);
    daemons->in = in[1];
    daemons->out = out[0];
    if (came != PIPEGAUGE_OK) {
        daemons->pid = 0;
        close(in[1]);
        close(out[0]);
        return came;
    }
    return daemons_ready(daemons, terms, e);
}

/* Lets this thread reach the daemon of a member: what connects to it does so in its network namespace. *home is where it came from. */
static int enter(pid_t daemons, uint32_t rank, int *home, error *e)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%ld/root/run/netns/m%u", (long)daemons, rank + 1);
    *home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    const int there = open(path, O_RDONLY | O_CLOEXEC);
    int code = PIPEGAUGE_OK;
    if (*home < 0 || there < 0 || setns(there, CLONE_NEWNET) != 0)
        code = failed_in_system(e, "entering the network namespace of the member's daemon");
    if (there >= 0)
        close(there);
    if (code != PIPEGAUGE_OK && *home >= 0)
        close(*home);
    return code;
}

static int come_home(int home, error *e)
{
    const int came = setns(home, CLONE_NEWNET);
    const int code = came == 0 ? PIPEGAUGE_OK : failed_in_system(e, "leaving the network namespace of the member's daemon");
    close(home);
    return code;
}

#endif
