/* What options ask of a group. */
#ifndef PIPEGAUGE_JGROUPS_WANTED_H
#define PIPEGAUGE_JGROUPS_WANTED_H

#include "settings.h"
#include "waiting.h"

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* Longest name of a file of the user's. */
enum { NAME = 64 };

static const char *const stacks[] = {"udp", "tcp", NULL};
/* The first is that of the user's file, and else total. */
enum { UNSAID, TOTAL, FIFO };
static const char *const orders[] = {"total", "fifo", NULL};
static const char *const bundlers[] = {"per-destination", "transfer-queue", "no-bundler", NULL};

struct wanted {
    const char *stack, *bundler;
    int order;
    /* 1 or 0; -1 is what the stack says. */
    int nodelay;
    char config[NAME + 1];
    /* Seconds, bytes; 0 is what the stack says. */
    double retransmit;
    uint64_t credits;
    uint64_t warm;
};

/* Casts of each member before it is measured, unless somebody says otherwise: as many as the machine compiles what it runs by. */
#define WARM 30000
#define WARM_TEXT "30000"

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "stack",
     .help = "JGroups' own stack: over UDP multicast, or over TCP",
     .by_default = "udp",
     .form = PIPEGAUGE_ONE_OF,
     .words = stacks},
    {.size = sizeof(struct pipegauge_option),
     .name = "order",
     .help = "total puts SEQUENCER into the stack: one order of all; fifo does not",
     .by_default = "total, and with config= what the file says",
     .form = PIPEGAUGE_ONE_OF,
     .words = orders},
    {.size = sizeof(struct pipegauge_option),
     .name = "config",
     .help = "a stack of your own: this name's .xml in the folder where the command runs",
     .by_default = "none: stack=",
     .form = PIPEGAUGE_WORD,
     .most = NAME},
    {.size = sizeof(struct pipegauge_option),
     .name = "retransmit",
     .help = "how often a member asks again for what is missing (xmit_interval)",
     .by_default = "the stack's",
     .form = PIPEGAUGE_SECONDS,
     .low = 0.001,
     .high = 60},
    {.size = sizeof(struct pipegauge_option),
     .name = "credits",
     .help = "bytes that a member casts before receivers must have granted more (max_credits)",
     .by_default = "the stack's",
     .form = PIPEGAUGE_BYTES,
     .knob = PIPEGAUGE_BUFFER,
     .least = 64 << 10,
     .most = 1 << 30},
    {.size = sizeof(struct pipegauge_option),
     .name = "bundler",
     .help = "what packs messages into packets (bundler_type)",
     .by_default = "the stack's",
     .form = PIPEGAUGE_ONE_OF,
     .words = bundlers},
    {.size = sizeof(struct pipegauge_option),
     .name = "nodelay",
     .help = "whether TCP sends small packets at once (tcp_nodelay)",
     .by_default = "the stack's, which is off for tcp",
     .form = PIPEGAUGE_SWITCH},
    {.size = sizeof(struct pipegauge_option),
     .name = "warm",
     .help = "casts of each member before a round, for 10 s at most, by which the Java machine compiles what it runs",
     .by_default = WARM_TEXT,
     .form = PIPEGAUGE_WHOLE,
     .least = 0,
     .most = 10000000,
     .unit = "casts"},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {.stack = "", .bundler = "", .order = UNSAID, .nodelay = -1, .warm = WARM};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "stack") == 0)
            wanted.stack = stacks[word_of(stacks, one->text)];
        if (strcmp(one->name, "order") == 0)
            wanted.order = TOTAL + word_of(orders, one->text);
        if (strcmp(one->name, "config") == 0)
            snprintf(wanted.config, sizeof wanted.config, "%s", one->text);
        if (strcmp(one->name, "retransmit") == 0)
            wanted.retransmit = one->real;
        if (strcmp(one->name, "credits") == 0)
            wanted.credits = one->whole;
        if (strcmp(one->name, "bundler") == 0)
            wanted.bundler = bundlers[word_of(bundlers, one->text)];
        if (strcmp(one->name, "nodelay") == 0)
            wanted.nodelay = one->whole != 0;
        if (strcmp(one->name, "warm") == 0)
            wanted.warm = one->whole;
    }
    return wanted;
}

/* Whether what is wanted goes together. */
static int possible(struct wanted wanted, error *e)
{
    if (wanted.config[0] && wanted.stack[0])
        return failed(e, PIPEGAUGE_UNSUPPORTED, "stack= is one of JGroups' own stacks and config= one of yours: set one of them");
    return PIPEGAUGE_OK;
}

#endif
