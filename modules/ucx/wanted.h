/* What options ask of a UCX link. */
#ifndef PIPEGAUGE_UCX_WANTED_H
#define PIPEGAUGE_UCX_WANTED_H

#include "settings.h"
#include "waiting.h"

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

enum { OP_TAG, OP_STREAM, OP_AM };
static const char *const ops[] = {"tag", "stream", "am", NULL};
enum { TLS_DEFAULT, TLS_TCP, TLS_SHM, TLS_POSIX, TLS_SYSV };
static const char *const transports[] = {"default", "tcp", "shm", "posix", "sysv", NULL};

/* What options ask of a link. */
struct wanted {
    int op, tls;
    /* Largest eager message; 0 where the library chooses. */
    uint64_t eager;
};

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "op",
     .help = "how messages are sent: with a tag, as a stream of bytes, or as active messages",
     .by_default = "tag",
     .form = PIPEGAUGE_ONE_OF,
     .words = ops},
    {.size = sizeof(struct pipegauge_option),
     .name = "tls",
     .help = "transports that UCX may use (UCX_TLS): TCP; shared memory with copies by the kernel (cma), or POSIX or System V alone",
     .by_default = "default",
     .form = PIPEGAUGE_ONE_OF,
     .words = transports},
    {.size = sizeof(struct pipegauge_option),
     .name = "eager-limit",
     .help = "largest message that is sent before the receiver asks for it (UCX_RNDV_THRESH less 1); not of op=stream",
     .by_default = "the library's",
     .form = PIPEGAUGE_BYTES,
     .knob = PIPEGAUGE_EAGER,
     .least = 64,
     .most = 64 << 20},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {OP_TAG, TLS_DEFAULT, 0};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "op") == 0)
            wanted.op = word_of(ops, one->text);
        if (strcmp(one->name, "tls") == 0)
            wanted.tls = word_of(transports, one->text);
        if (strcmp(one->name, "eager-limit") == 0)
            wanted.eager = one->whole;
    }
    return wanted;
}

/* Whether these go together. */
static int possible(struct wanted wanted, error *e)
{
    if (wanted.op == OP_STREAM && wanted.eager)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "a stream has no eager limit: all of it is eager; op=tag and op=am have one");
    return PIPEGAUGE_OK;
}

#endif
