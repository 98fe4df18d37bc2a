/* What options ask of a group. */
#ifndef PIPEGAUGE_JGROUPS_WANTED_H
#define PIPEGAUGE_JGROUPS_WANTED_H

#include "waiting.h"

#include <string.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

enum { TOTAL, SENDER };
static const char *const orders[] = {"total", "sender", NULL};

struct wanted {
    int order;
    /* Milliseconds; 0 is JGroups' own. */
    int asking;
};

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "order",
     .help = "which order casts have: one of all (SEQUENCER, the stack sequencer.xml), or that of each sender (udp.xml)",
     .by_default = "total",
     .form = PIPEGAUGE_ONE_OF,
     .words = orders},
    {.size = sizeof(struct pipegauge_option),
     .name = "xmit-interval",
     .help = "how often missing messages are asked for (xmit_interval of NAKACK2 and UNICAST3)",
     .by_default = "JGroups'",
     .form = PIPEGAUGE_SECONDS,
     .low = 0.001,
     .high = 60},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {TOTAL, 0};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "order") == 0)
            wanted.order = strcmp(one->text, orders[SENDER]) == 0 ? SENDER : TOTAL;
        if (strcmp(one->name, "xmit-interval") == 0)
            wanted.asking = (int)(one->real * 1e3 + 0.5);
    }
    return wanted;
}

static int possible(struct wanted wanted, error *e)
{
    (void)wanted;
    (void)e;
    return PIPEGAUGE_OK;
}

#endif
