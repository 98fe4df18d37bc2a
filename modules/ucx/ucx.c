/* UCX as a transport of pipegauge: messages between two endpoints of libucp, and memory that one exposes to the other.
 *
 * Both sides meet over TCP (meeting.h) and tell each other the address of their worker. Each link has a context, a worker and an endpoint of
 * its own, so that links of several threads share nothing. UCX moves messages only where it is called: every wait calls it in a loop, and
 * looks now and then at the clock and at the meeting's connection, which tells that the peer's process has ended.
 */
#define _GNU_SOURCE

#include "memory.h"

#include <signal.h>
#include <ucs/config/global_opts.h>
#include <ucs/debug/debug.h>

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    const int code = possible(wanted, e);
    if (code != PIPEGAUGE_OK)
        return code;
    out->bits = PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL | PIPEGAUGE_ONE_SIDED | PIPEGAUGE_QUEUED;
    if (wanted.op != OP_STREAM)
        out->bits |= PIPEGAUGE_MESSAGES;
    if (wanted.tls >= TLS_SHM)
        out->bits |= PIPEGAUGE_LOCAL_ONLY;
    return PIPEGAUGE_OK;
}

static int available(error *e)
{
    ucp_config_t *config = NULL;
    const ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return failed_in_ucx(e, "reading UCX's configuration", status);
    ucp_config_release(config);
    return PIPEGAUGE_OK;
}

static const char *const spoken[] = {"ucx", "ucp", NULL};

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
    .name = "ucx",
    .version = "0.1.0",
    .summary = "UCX: messages between two endpoints of libucp",
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
    .flush = flush,
    .effective = effective,
    .close = close_link,
    .one_sided = &one_sided,
    .queued = &queued,
};

/* UCX's log goes to standard output, and its handlers of SIGSEGV and others stand before the command's own. Whoever sets UCX_LOG_LEVEL or
 * UCX_HANDLE_ERRORS gets them. */
static void make_quiet(void)
{
    if (!getenv("UCX_LOG_LEVEL"))
        ucs_global_opts_set_value("LOG_LEVEL", "fatal");
    if (!getenv("UCX_HANDLE_ERRORS")) {
        const int theirs[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE};
        for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
            ucs_debug_disable_signal(theirs[i]);
    }
}

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    make_quiet();
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
