/* libfabric as a transport of pipegauge: messages between two endpoints of a provider, and memory that one exposes to the other.
 *
 * Both sides meet over TCP (meeting.h) and tell each other the name of their endpoint. Each link has a domain, an endpoint and a completion
 * queue of its own, so that links of several threads share nothing. Most providers move messages only where the queue is read: every wait
 * reads it in a loop, and looks now and then at the clock and at the meeting's connection, which tells that the peer's process has ended.
 */
#define _GNU_SOURCE

#include "memory.h"

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    struct fi_info *info = NULL;
    int code = possible(wanted, e);
    if (code != PIPEGAUGE_OK)
        return code;
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL;
    out->largest = LARGEST;
    if (wanted.endpoint != DGRAM) {
        out->bits |= PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_ONE_SIDED | PIPEGAUGE_QUEUED;
        out->bits |= wanted.provider == SHM ? PIPEGAUGE_LOCAL_ONLY : 0;
        return PIPEGAUGE_OK;
    }
    code = found(wanted, NULL, &info, e);
    if (code != PIPEGAUGE_OK)
        return code;
    out->largest = info->ep_attr->max_msg_size;
    fi_freeinfo(info);
    return PIPEGAUGE_OK;
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    if (strcmp(option, "provider") == 0)
        snprintf(out, room, "%s", providers[link->wanted.provider]);
    if (strcmp(option, "endpoint") == 0)
        snprintf(out, room, "%s", endpoints[link->wanted.endpoint]);
    if (strcmp(option, "op") == 0)
        snprintf(out, room, "%s", ops[link->wanted.op]);
    return PIPEGAUGE_OK;
}

static int available(error *e)
{
    struct fi_info *info = NULL;
    const int code = found((struct wanted){TCP, RDM, OP_MESSAGE}, NULL, &info, e);
    if (info)
        fi_freeinfo(info);
    return code;
}

static const char *const spoken[] = {"libfabric", "ofi", NULL};

static const struct pipegauge_one_sided one_sided = {
    .size = sizeof one_sided,
    .reserve = reserve,
    .expose = expose,
    .fill = fill,
    .read = read_exposed,
    .withdraw = withdraw,
    .reach = reach,
    .put = put,
    .get = get,
    .fence = fence,
    .leave = leave,
};

static const struct pipegauge_queued queued = {
    .size = sizeof queued,
    .post = post,
    .posted = posted,
    .poll = poll_posts,
};

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "libfabric",
    .version = "0.1.0",
    .summary = "libfabric: messages between two endpoints of a provider",
    .spoken = spoken,
    .option_count = sizeof options / sizeof options[0],
    .options = options,
    .available = available,
    .capabilities = capabilities,
    .listen = listen_at,
    .address = address,
    .accept = accept_next,
    .unlisten = unlisten,
    .connect = connect_to,
    .send = send_message,
    .recv = receive_message,
    .exchange = exchange,
    .ready = ready,
    .effective = effective,
    .close = close_link,
    .one_sided = &one_sided,
    .queued = &queued,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
