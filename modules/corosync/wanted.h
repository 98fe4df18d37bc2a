/* What options ask of a group. */
#ifndef PIPEGAUGE_COROSYNC_WANTED_H
#define PIPEGAUGE_COROSYNC_WANTED_H

#include "waiting.h"

#include <string.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

enum { KNET, UDP, UDPU };
static const char *const transports[] = {"knet", "udp", "udpu", NULL};

/* Lines of the section totem. */
enum { TOKEN, RETRANSMITS, WINDOW, MESSAGES, MTU, LINES };
static const char *const lines[LINES] = {"token", "token_retransmits_before_loss_const", "window_size", "max_messages", "netmtu"};

struct wanted {
    int transport;
    double loss;
    /* 0 is Corosync's own. */
    uint64_t totem[LINES];
};

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "transport",
     .help = "what carries Totem: knet over UDP, UDP multicast or UDP unicast; nothing is encrypted",
     .by_default = "knet",
     .form = PIPEGAUGE_ONE_OF,
     .words = transports},
    {.size = sizeof(struct pipegauge_option),
     .name = "loss",
     .help = "share of UDP datagrams that each daemon's namespace drops as they come (with nft)",
     .by_default = "0",
     .form = PIPEGAUGE_SHARE},
    {.size = sizeof(struct pipegauge_option),
     .name = "token",
     .help = "how long a token may be away before it counts as lost (token)",
     .by_default = "Corosync's",
     .form = PIPEGAUGE_SECONDS,
     .low = 0.03,
     .high = 60},
    {.size = sizeof(struct pipegauge_option),
     .name = "retransmits",
     .help = "how often a token is sent again within that time (token_retransmits_before_loss_const)",
     .by_default = "Corosync's",
     .form = PIPEGAUGE_WHOLE,
     .least = 1,
     .most = 1000,
     .unit = "times"},
    {.size = sizeof(struct pipegauge_option),
     .name = "window",
     .help = "messages of all in one turn of the token (window_size)",
     .by_default = "Corosync's",
     .form = PIPEGAUGE_WHOLE,
     .least = 1,
     .most = 10000,
     .unit = "messages"},
    {.size = sizeof(struct pipegauge_option),
     .name = "messages",
     .help = "messages of one member in one turn of the token (max_messages)",
     .by_default = "Corosync's",
     .form = PIPEGAUGE_WHOLE,
     .least = 1,
     .most = 10000,
     .unit = "messages"},
    {.size = sizeof(struct pipegauge_option),
     .name = "mtu",
     .help = "largest datagram of udp and udpu (netmtu)",
     .by_default = "Corosync's",
     .form = PIPEGAUGE_BYTES,
     .knob = PIPEGAUGE_PACKET,
     .least = 300,
     .most = 8982},
};

static struct wanted read_settings(const settings *set)
{
    static const char *const names[LINES] = {"token", "retransmits", "window", "messages", "mtu"};
    struct wanted wanted = {.transport = KNET};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "transport") == 0)
            while (strcmp(transports[wanted.transport], one->text) != 0)
                wanted.transport++;
        if (strcmp(one->name, "loss") == 0)
            wanted.loss = one->real;
        for (int line = 0; line < LINES; line++)
            if (strcmp(one->name, names[line]) == 0)
                wanted.totem[line] = line == TOKEN ? (uint64_t)(one->real * 1e3 + 0.5) : one->whole;
    }
    return wanted;
}

/* Whether what is wanted can be. */
static int possible(struct wanted wanted, error *e)
{
    static const uint64_t most[LINES] = {60000, 1000, 10000, 10000, 8982};
    for (int line = 0; line < LINES; line++)
        if (wanted.totem[line] > most[line])
            return failed(e, PIPEGAUGE_UNSUPPORTED, "retransmits is 1 to 1000, window and messages are 1 to 10000");
    if (wanted.loss > 0.5)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "loss is at most 50%: with more no membership forms");
    return PIPEGAUGE_OK;
}

#endif
