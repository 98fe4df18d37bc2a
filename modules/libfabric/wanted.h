/* What options ask of a libfabric link. */
#ifndef PIPEGAUGE_LIBFABRIC_WANTED_H
#define PIPEGAUGE_LIBFABRIC_WANTED_H

#include "settings.h"
#include "waiting.h"

#include <rdma/fi_endpoint.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

enum { TCP, SHM, UDP };
static const char *const providers[] = {"tcp", "shm", "udp", NULL};
enum { RDM, MSG, DGRAM };
static const char *const endpoints[] = {"rdm", "msg", "dgram", NULL};
static const enum fi_ep_type types[] = {FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM};
enum { OP_MESSAGE, OP_TAGGED };
static const char *const ops[] = {"message", "tagged", NULL};

/* What options ask of a link. */
struct wanted {
    int provider, endpoint, op;
};

static const struct pipegauge_option options[] = {
    {.size = sizeof(struct pipegauge_option),
     .name = "provider",
     .help = "what carries the messages: TCP, shared memory, or UDP (datagrams, which may be lost)",
     .by_default = "tcp",
     .form = PIPEGAUGE_ONE_OF,
     .words = providers},
    {.size = sizeof(struct pipegauge_option),
     .name = "endpoint",
     .help = "kind of the endpoints: reliable datagrams (FI_EP_RDM), a connection (FI_EP_MSG; tcp), or datagrams (FI_EP_DGRAM; udp)",
     .by_default = "rdm, of udp dgram",
     .form = PIPEGAUGE_ONE_OF,
     .words = endpoints},
    {.size = sizeof(struct pipegauge_option),
     .name = "op",
     .help = "how messages are sent: fi_send, or fi_tsend with a tag (endpoint=rdm)",
     .by_default = "message",
     .form = PIPEGAUGE_ONE_OF,
     .words = ops},
};

static struct wanted read_settings(const settings *set)
{
    struct wanted wanted = {TCP, -1, OP_MESSAGE};
    for (size_t i = 0; i < set->count; i++) {
        const struct pipegauge_setting *one = &set->all[i];
        if (strcmp(one->name, "provider") == 0)
            wanted.provider = word_of(providers, one->text);
        if (strcmp(one->name, "endpoint") == 0)
            wanted.endpoint = word_of(endpoints, one->text);
        if (strcmp(one->name, "op") == 0)
            wanted.op = word_of(ops, one->text);
    }
    if (wanted.endpoint < 0)
        wanted.endpoint = wanted.provider == UDP ? DGRAM : RDM;
    return wanted;
}

/* Whether the kinds of provider, endpoint and operation go together. */
static int possible(struct wanted wanted, error *e)
{
    if ((wanted.provider == UDP) != (wanted.endpoint == DGRAM))
        return failed(e, PIPEGAUGE_UNSUPPORTED, "provider=udp has endpoint=dgram, and no other provider has it");
    if (wanted.endpoint == MSG && wanted.provider != TCP)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "endpoint=msg is a connection: provider=tcp has it, shm does not");
    if (wanted.op == OP_TAGGED && wanted.endpoint != RDM)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "op=tagged is for endpoint=rdm (provider=tcp or provider=shm)");
    return PIPEGAUGE_OK;
}

#endif
