/* UCX as a transport of pipegauge: messages between two endpoints of libucp, and memory that one exposes to the other.
 *
 * Both sides meet over TCP (meeting.h) and tell each other the address of their worker. Each link has a context, a worker and an endpoint of
 * its own, so that links of several threads share nothing. UCX moves messages only where it is called: every wait calls it in a loop, and
 * looks now and then at the clock and at the meeting's connection, which tells that the peer's process has ended.
 */
#define _GNU_SOURCE

#include "meeting.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <ucp/api/ucp.h>
#include <ucs/config/global_opts.h>
#include <ucs/debug/debug.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* What both sides tell each other over the meeting's connection. */
enum { WORKER = 1, WIRED, EXPOSED, LEFT };
/* The only tag, and the active messages: those of op=am, and one behind others that nobody receives (flush()). */
enum { TAG = 1, MESSAGE = 0, BEHIND = 1 };

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

struct pipegauge_listener {
    struct door door;
    const terms *terms;
    struct wanted wanted;
};

/* An active message that came before it was asked for. */
struct arrival {
    struct arrival *next;
    void *data;
    size_t len;
    /* Who has its content: the sender still (rendezvous), the library, or this module. */
    enum { SENDERS, LIBRARYS, OURS } of;
};

struct pipegauge_link {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h endpoint;
    struct peer peer;
    struct wanted wanted;
    /* A message was given up half-way: nothing more is finished on this link. */
    int broken;
    /* Its messages go through memory alone: what is sent is there at once. */
    int in_memory;

    /* Active messages: those that came, and the memory that waits for the next. */
    struct arrival *first, **last;
    void *into;
    size_t into_len, came;
    /* A stream's bytes that ready() took from the library. */
    char *held;
    size_t held_len, held_used;

    /* Posts that are not done, oldest first; NULL is one that was done at once. */
    ucs_status_ptr_t *posts;
    size_t posts_room;
    uint64_t posted, posts_done;

    /* What this side exposes, and what it reaches of the peer's. */
    ucp_mem_h memory;
    char *exposed;
    size_t exposed_len;
    ucp_rkey_h key;
    uint64_t reached;
};

/* A message of this length is none: nothing came yet. */
#define NOTHING SIZE_MAX

/* What a status means, with what was done where it is no loss of the peer. */
static int failed_in_ucx(error *e, const char *doing, ucs_status_t status)
{
    failed_with(e, doing, ucs_status_string(status));
    switch (status) {
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_NOT_CONNECTED:
        return PIPEGAUGE_CLOSED;
    case UCS_ERR_MESSAGE_TRUNCATED:
        return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
    default:
        return PIPEGAUGE_SYSTEM;
    }
}

/* ---- Waiting. ---- */

/* Lets the library move what it can; what ends the wait, or PIPEGAUGE_OK. On a broken link it would move what is somebody else's memory by now. */
static inline int progressed(pipegauge_link *link, struct wait *wait)
{
    return link->broken ? PIPEGAUGE_CLOSED : called(&link->peer, wait, ucp_worker_progress(link->worker) != 0);
}

/* Takes back an operation that nobody waits for any more. The memory is the caller's again, so that one that can't be ended ends the link. */
static void abandon(pipegauge_link *link, void *request)
{
    ucp_request_cancel(link->worker, request);
    for (int i = 0; i < 1000 && !link->broken && ucp_request_check_status(request) == UCS_INPROGRESS; i++)
        ucp_worker_progress(link->worker);
    if (ucp_request_check_status(request) == UCS_INPROGRESS)
        link->broken = 1;
    ucp_request_free(request);
}

/* Waits for an operation and frees it. */
static int finished(pipegauge_link *link, ucs_status_ptr_t request, const char *doing, error *e)
{
    if (request == NULL)
        return PIPEGAUGE_OK;
    if (UCS_PTR_IS_ERR(request))
        return failed_in_ucx(e, doing, UCS_PTR_STATUS(request));
    struct wait wait = {0, 0, 0};
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        const int code = progressed(link, &wait);
        if (code != PIPEGAUGE_OK) {
            abandon(link, request);
            return code;
        }
    }
    ucp_request_free(request);
    return status == UCS_OK ? PIPEGAUGE_OK : failed_in_ucx(e, doing, status);
}

/* ---- Settings. ---- */

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

static int word_of(const char *const *words, const char *text)
{
    int which = 0;
    while (strcmp(words[which], text) != 0)
        which++;
    return which;
}

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

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    if (wanted.op == OP_STREAM && wanted.eager)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "a stream has no eager limit: all of it is eager; op=tag and op=am have one");
    out->bits = PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_DUPLEX | PIPEGAUGE_POLL | PIPEGAUGE_ONE_SIDED | PIPEGAUGE_QUEUED;
    if (wanted.op != OP_STREAM)
        out->bits |= PIPEGAUGE_MESSAGES;
    if (wanted.tls >= TLS_SHM)
        out->bits |= PIPEGAUGE_LOCAL_ONLY;
    return PIPEGAUGE_OK;
}

/* ---- The library. ---- */

/* Contexts are made and ended by one thread at a time: what is the process's own in the library (its configuration, its list of what can be
 * loaded) is not said to be safe otherwise. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

/* Whether an address is the one of a connection's end; the port is no part of it. */
static int same_ip(const struct sockaddr *a, const struct sockaddr_storage *b)
{
    if (a == NULL || a->sa_family != b->ss_family)
        return 0;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr == ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return a->sa_family == AF_INET6 &&
           memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &((const struct sockaddr_in6 *)b)->sin6_addr, 16) == 0;
}

/* 127.0.0.2 and its like are on no interface's list. */
static int of_loopback(const struct sockaddr_storage *at)
{
    return at->ss_family == AF_INET && ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == 127;
}

/* The interface that both sides met over: UCX opens ports on no other. */
static int device_of(int fd, char *out, size_t room, sa_family_t *family, error *e)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    struct ifaddrs *all = NULL;
    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 || getifaddrs(&all) != 0)
        return failed_in_system(e, "looking for the interface that both sides met over");
    out[0] = 0;
    for (const struct ifaddrs *one = all; one && !out[0]; one = one->ifa_next)
        if (same_ip(one->ifa_addr, &at) || (of_loopback(&at) && one->ifa_flags & IFF_LOOPBACK))
            snprintf(out, room, "%s", one->ifa_name);
    freeifaddrs(all);
    *family = at.ss_family;
    return out[0] ? PIPEGAUGE_OK : failed(e, PIPEGAUGE_SYSTEM, "no interface has the address that both sides met over");
}

/* What a context is set to beside what the environment says. */
static int configure(ucp_config_t *config, struct wanted wanted, int fd, error *e)
{
    char device[IF_NAMESIZE], value[32];
    sa_family_t family = AF_INET;
    int code = device_of(fd, device, sizeof device, &family, e);
    if (code != PIPEGAUGE_OK)
        return code;
    ucs_status_t status = UCS_OK;
    if (wanted.tls != TLS_DEFAULT)
        status = ucp_config_modify(config, "TLS", transports[wanted.tls]);
    if (status == UCS_OK && !getenv("UCX_NET_DEVICES"))
        status = ucp_config_modify(config, "NET_DEVICES", device);
    if (status == UCS_OK)
        status = ucp_config_modify(config, "TCP_AF_PRIO", family == AF_INET6 ? "inet6" : "inet");
    if (status == UCS_OK && wanted.eager) {
        snprintf(value, sizeof value, "%llu", (unsigned long long)wanted.eager + 1);
        status = ucp_config_modify(config, "RNDV_THRESH", value);
    }
    return status == UCS_OK ? PIPEGAUGE_OK : failed_in_ucx(e, "setting up UCX", status);
}

static int open_context(pipegauge_link *link, error *e)
{
    static const uint64_t features[] = {UCP_FEATURE_TAG, UCP_FEATURE_STREAM, 0};
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = features[link->wanted.op] | UCP_FEATURE_AM | UCP_FEATURE_RMA};
    ucp_config_t *config = NULL;
    pthread_mutex_lock(&guard);
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);
    int code = status == UCS_OK ? configure(config, link->wanted, link->peer.fd, e) : failed_in_ucx(e, "reading UCX's configuration", status);
    if (code == PIPEGAUGE_OK && (status = ucp_init(&params, config, &link->context)) != UCS_OK) {
        snprintf(e->text, sizeof e->text, "beginning to use UCX over the transports '%s': %s (ucx_info -d names those that are here)",
                 transports[link->wanted.tls], ucs_status_string(status));
        code = PIPEGAUGE_SYSTEM;
    }
    if (config)
        ucp_config_release(config);
    pthread_mutex_unlock(&guard);
    return code;
}

static ucs_status_t message_came(void *its, const void *header, size_t header_length, void *data, size_t len,
                                 const ucp_am_recv_param_t *param);

static ucs_status_t behind_came(void *its, const void *header, size_t header_length, void *data, size_t len,
                                const ucp_am_recv_param_t *param)
{
    (void)its, (void)header, (void)header_length, (void)data, (void)len, (void)param;
    return UCS_OK;
}

static ucs_status_t handle(pipegauge_link *link, unsigned which, ucp_am_recv_callback_t by)
{
    const ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = which,
        .cb = by,
        .arg = link};
    return ucp_worker_set_am_recv_handler(link->worker, &handler);
}

static int open_worker(pipegauge_link *link, error *e)
{
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucs_status_t status = ucp_worker_create(link->context, &params, &link->worker);
    if (status == UCS_OK)
        status = handle(link, MESSAGE, message_came);
    if (status == UCS_OK)
        status = handle(link, BEHIND, behind_came);
    return status == UCS_OK ? PIPEGAUGE_OK : failed_in_ucx(e, "making a worker", status);
}

/* Waits until the peer has told something, and lets the library move what it can meanwhile. */
static int wait_to_hear(pipegauge_link *link)
{
    struct wait wait = {0, 0, 0};
    while (!can_hear(link->peer.fd)) {
        const int code = progressed(link, &wait);
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

static const ucp_request_param_t plain;

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e);
static int is_in_memory(const pipegauge_link *link);

/* Both sides send each other a message, and one so large that UCX asks for it before it is sent. What it does once for each protocol needs calls of both sides, and a
 * side that has received its message makes none: a first message of more than a few bytes would wait for it. */
static int first_messages(pipegauge_link *link, error *e)
{
    const size_t len = 128 << 10;
    char *both = calloc(2, len);
    if (!both)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a first message");
    int code = exchange(link, both, 1, both + len, 1, e);
    if (code == PIPEGAUGE_OK)
        code = exchange(link, both, len, both + len, len, e);
    free(both);
    return code;
}

/* Waits until the library has connected both endpoints, on both sides. */
static int wire_up(pipegauge_link *link, error *e)
{
    size_t len;
    int code = first_messages(link, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, ucp_ep_flush_nbx(link->endpoint, &plain), "connecting", e);
    link->in_memory = is_in_memory(link);
    if (code == PIPEGAUGE_OK)
        code = tell(link->peer.fd, WIRED, NULL, 0, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = wait_to_hear(link);
    return code == PIPEGAUGE_OK ? hear(link->peer.fd, WIRED, NULL, 0, &len, link->peer.terms, e) : code;
}

/* Tells the peer the worker's address, hears the peer's, and makes the endpoint. */
static int join(pipegauge_link *link, error *e)
{
    ucp_address_t *mine = NULL;
    char theirs[MOST_TOLD];
    size_t len = 0;
    ucs_status_t status = ucp_worker_get_address(link->worker, &mine, &len);
    if (status != UCS_OK)
        return failed_in_ucx(e, "asking for the worker's address", status);
    int code = tell(link->peer.fd, WORKER, mine, len, link->peer.terms, e);
    ucp_worker_release_address(link->worker, mine);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, WORKER, theirs, sizeof theirs, &len, link->peer.terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS, .address = (const ucp_address_t *)theirs};
    status = ucp_ep_create(link->worker, &params, &link->endpoint);
    if (status == UCS_OK)
        return wire_up(link, e);
    snprintf(e->text, sizeof e->text, "connecting over the transports '%s': %s (both sides need one in common: ucx_info -d)",
             transports[link->wanted.tls], ucs_status_string(status));
    return PIPEGAUGE_SYSTEM;
}

/* ---- Links. ---- */

static ucs_status_ptr_t start_behind(pipegauge_link *link)
{
    static const char nothing;
    return ucp_am_send_nbx(link->endpoint, BEHIND, NULL, 0, &nothing, 1, &plain);
}

/* Lets what was sent leave, for a moment: the peer may be stopped, or the caller in haste. */
static void let_leave(pipegauge_link *link)
{
    const ucs_status_ptr_t behind = start_behind(link);
    const double until = now() + 5 * LATE;
    if (behind == NULL || UCS_PTR_IS_ERR(behind))
        return;
    while (ucp_request_check_status(behind) == UCS_INPROGRESS && now() < until && !peer_ended(link->peer.fd))
        ucp_worker_progress(link->worker);
    ucp_request_free(behind);
}

static void free_arrivals(pipegauge_link *link)
{
    for (struct arrival *one = link->first, *next; one; one = next) {
        next = one->next;
        if (one->of == OURS)
            free(one->data);
        else
            ucp_am_data_release(link->worker, one->data);
        free(one);
    }
}

static void free_posts(pipegauge_link *link)
{
    for (uint64_t i = link->posts_done; i < link->posted; i++) {
        const ucs_status_ptr_t one = link->posts[i % link->posts_room];
        if (one != NULL && !UCS_PTR_IS_ERR(one))
            ucp_request_free(one);
    }
    free(link->posts);
}

static void close_endpoint(pipegauge_link *link)
{
    if (link->held)
        ucp_stream_data_release(link->endpoint, link->held);
    if (link->key)
        ucp_rkey_destroy(link->key);
    /* The worker ends the endpoint: ucp_ep_close_nbx() would wait for calls of the peer, which makes none while it does something else. */
    if (!link->broken && !link->in_memory && link->peer.gone_since == 0)
        let_leave(link);
}

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    if (link->worker) {
        free_arrivals(link);
        if (link->endpoint)
            close_endpoint(link);
        free_posts(link);
        if (link->memory)
            ucp_mem_unmap(link->context, link->memory);
    }
    pthread_mutex_lock(&guard);
    if (link->worker)
        ucp_worker_destroy(link->worker);
    if (link->context)
        ucp_cleanup(link->context);
    pthread_mutex_unlock(&guard);
    close(link->peer.fd);
    free(link);
}

/* A link over a meeting's connection, which it takes over. */
static int link_over(int fd, struct wanted wanted, const terms *terms, pipegauge_link **out, error *e)
{
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        close(fd);
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    }
    link->peer = (struct peer){fd, terms, 0};
    link->wanted = wanted;
    link->last = &link->first;
    int code = open_context(link, e);
    if (code == PIPEGAUGE_OK)
        code = open_worker(link, e);
    if (code == PIPEGAUGE_OK)
        code = join(link, e);
    if (code == PIPEGAUGE_OK)
        *out = link;
    else
        close_link(link);
    return code;
}

/* ---- Meeting. ---- */

static void unlisten(pipegauge_listener *listener)
{
    close_door(&listener->door);
    free(listener);
}

static int listen_at(const settings *set, const char *host, const terms *terms, pipegauge_listener **out, error *e)
{
    struct pipegauge_capabilities can = {.size = sizeof can};
    int code = capabilities(set, &can, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    listener->terms = terms;
    listener->wanted = read_settings(set);
    code = open_door(&listener->door, host, e);
    if (code == PIPEGAUGE_OK)
        *out = listener;
    else
        free(listener);
    return code;
}

static int address(pipegauge_listener *listener, char *out, size_t room, error *e)
{
    return place_of_door(&listener->door, out, room, e);
}

static int accept_next(pipegauge_listener *listener, pipegauge_link **out, error *e)
{
    for (;;) {
        int fd = -1;
        int code = meet_at_door(&listener->door, &fd, listener->terms, e);
        if (code == PIPEGAUGE_OK)
            code = link_over(fd, listener->wanted, listener->terms, out, e);
        /* Who leaves as soon as it has come is no reason to end. */
        if (code != PIPEGAUGE_CLOSED)
            return code;
    }
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    int fd = -1;
    const int code = meet_at_place(at, host, &fd, terms, e);
    return code == PIPEGAUGE_OK ? link_over(fd, read_settings(set), terms, out, e) : code;
}

/* ---- Sending. ---- */

static inline ucs_status_ptr_t start_sending(pipegauge_link *link, const void *message, size_t len)
{
    switch (link->wanted.op) {
    case OP_TAG:
        return ucp_tag_send_nbx(link->endpoint, message, len, TAG, &plain);
    case OP_STREAM:
        return ucp_stream_send_nbx(link->endpoint, message, len, &plain);
    default:
        return ucp_am_send_nbx(link->endpoint, MESSAGE, NULL, 0, message, len, &plain);
    }
}

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    return finished(link, start_sending(link, message, len), "sending", e);
}

/* A send is done once the library has the message, of which it may have the last kilobytes still. ucp_ep_flush_nbx() waits for calls of the
 * peer, which makes none once it has all that it waits for. So a message follows that nobody receives: the library takes it when all before
 * it has left. */
static int flush(pipegauge_link *link, error *e)
{
    return link->in_memory ? PIPEGAUGE_OK : finished(link, start_behind(link), "flushing", e);
}

/* ---- Receiving. ---- */

/* A receive that has begun. */
struct incoming {
    ucs_status_ptr_t request;
    /* Where a stream's library writes how much came. */
    size_t len;
};

static inline void start_tag(pipegauge_link *link, void *into, size_t len, struct incoming *in)
{
    /* With a request in any case: libucp 1.13 does not tell the length of a message that was here already without one. */
    static const ucp_request_param_t with_request = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};
    in->request = ucp_tag_recv_nbx(link->worker, into, len, TAG, UINT64_MAX, &with_request);
}

static int finish_tag(pipegauge_link *link, size_t len, struct incoming *in, error *e)
{
    struct wait wait = {0, 0, 0};
    ucp_tag_recv_info_t info;
    ucs_status_t status;
    if (UCS_PTR_IS_ERR(in->request))
        return failed_in_ucx(e, "receiving", UCS_PTR_STATUS(in->request));
    while ((status = ucp_tag_recv_request_test(in->request, &info)) == UCS_INPROGRESS) {
        const int code = progressed(link, &wait);
        if (code != PIPEGAUGE_OK) {
            abandon(link, in->request);
            return code;
        }
    }
    ucp_request_free(in->request);
    return status == UCS_OK ? of_length(info.length, len, e) : failed_in_ucx(e, "receiving", status);
}

/* Takes of the bytes that ready() found; how many. */
static size_t take_held(pipegauge_link *link, char *into, size_t len)
{
    if (!link->held)
        return 0;
    const size_t left = link->held_len - link->held_used, n = left < len ? left : len;
    memcpy(into, link->held + link->held_used, n);
    link->held_used += n;
    if (n == left) {
        ucp_stream_data_release(link->endpoint, link->held);
        link->held = NULL;
    }
    return n;
}

static inline void start_stream(pipegauge_link *link, char *into, size_t len, struct incoming *in)
{
    const ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    const size_t have = take_held(link, into, len);
    in->len = len;
    in->request = have == len ? NULL : ucp_stream_recv_nbx(link->endpoint, into + have, len - have, &in->len, &whole);
}

/* Called by the library, within ucp_worker_progress(), for each active message. */
static ucs_status_t message_came(void *its, const void *header, size_t header_length, void *data, size_t len,
                                 const ucp_am_recv_param_t *param)
{
    pipegauge_link *link = its;
    const int senders = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0, held = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
    (void)header, (void)header_length;
    if (link->into && !senders) {
        if (len == link->into_len)
            memcpy(link->into, data, len);
        link->came = len;
        link->into = NULL;
        return UCS_OK;
    }
    struct arrival *one = malloc(sizeof *one);
    void *copy = senders || held ? data : malloc(len ? len : 1);
    if (!one || !copy) {
        /* The message is lost, and the link with it. */
        link->broken = 1;
        free(one);
        return UCS_OK;
    }
    *one = (struct arrival){NULL, copy, len, senders ? SENDERS : held ? LIBRARYS : OURS};
    if (one->of == OURS)
        memcpy(copy, data, len);
    *link->last = one;
    link->last = &one->next;
    return one->of == OURS ? UCS_OK : UCS_INPROGRESS;
}

/* Takes the first that came, which is of this length, into memory. */
static ucs_status_ptr_t take_arrival(pipegauge_link *link, void *into, size_t len)
{
    struct arrival *one = link->first;
    ucs_status_ptr_t request = NULL;
    if (!(link->first = one->next))
        link->last = &link->first;
    if (one->of == SENDERS && one->len == len) {
        request = ucp_am_recv_data_nbx(link->worker, one->data, into, len, &plain);
    } else {
        if (one->len == len)
            memcpy(into, one->data, len);
        if (one->of == OURS)
            free(one->data);
        else
            ucp_am_data_release(link->worker, one->data);
    }
    free(one);
    return request;
}

static void start_am(pipegauge_link *link, void *into, size_t len)
{
    link->came = NOTHING;
    link->into_len = len;
    /* What came before is first. */
    link->into = link->first ? NULL : into;
}

static int finish_am(pipegauge_link *link, void *into, size_t len, error *e)
{
    struct wait wait = {0, 0, 0};
    while (link->came == NOTHING && !link->first) {
        const int code = link->broken ? failed(e, PIPEGAUGE_SYSTEM, "no memory for a message that came") : progressed(link, &wait);
        if (code != PIPEGAUGE_OK) {
            link->into = NULL;
            return code;
        }
    }
    link->into = NULL;
    if (link->came != NOTHING)
        return of_length(link->came, len, e);
    const size_t came = link->first->len;
    const int code = finished(link, take_arrival(link, into, len), "receiving", e);
    return code == PIPEGAUGE_OK ? of_length(came, len, e) : code;
}

static inline void start_receiving(pipegauge_link *link, void *into, size_t len, struct incoming *in)
{
    if (link->wanted.op == OP_TAG)
        start_tag(link, into, len, in);
    else if (link->wanted.op == OP_STREAM)
        start_stream(link, into, len, in);
    else
        start_am(link, into, len);
}

static inline int finish_receiving(pipegauge_link *link, void *into, size_t len, struct incoming *in, error *e)
{
    if (link->wanted.op == OP_TAG)
        return finish_tag(link, len, in, e);
    if (link->wanted.op == OP_STREAM)
        return finished(link, in->request, "receiving", e);
    return finish_am(link, into, len, e);
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    struct incoming in = {NULL, 0};
    start_receiving(link, message, len, &in);
    return finish_receiving(link, message, len, &in, e);
}

/* Takes back a receive whose send has failed. */
static void stop_receiving(pipegauge_link *link, struct incoming *in)
{
    link->into = NULL;
    if (in->request != NULL && !UCS_PTR_IS_ERR(in->request))
        abandon(link, in->request);
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    struct incoming in = {NULL, 0};
    start_receiving(link, into, into_len, &in);
    const ucs_status_ptr_t sent = start_sending(link, out, out_len);
    int code = PIPEGAUGE_OK;
    if (link->wanted.op == OP_AM) {
        /* A large one is asked for only here: the other side's send may wait for it. */
        code = finish_receiving(link, into, into_len, &in, e);
        if (code == PIPEGAUGE_OK)
            return finished(link, sent, "sending", e);
        if (sent != NULL && !UCS_PTR_IS_ERR(sent))
            abandon(link, sent);
        return code;
    }
    code = finished(link, sent, "sending", e);
    if (code == PIPEGAUGE_OK)
        return finish_receiving(link, into, into_len, &in, e);
    stop_receiving(link, &in);
    return code;
}

/* Whether a receive would find something by now. */
static int is_there(pipegauge_link *link)
{
    ucp_tag_recv_info_t info;
    if (link->wanted.op == OP_TAG)
        return ucp_tag_probe_nb(link->worker, TAG, UINT64_MAX, 0, &info) != NULL;
    if (link->wanted.op == OP_AM)
        return link->first != NULL;
    if (!link->held) {
        const ucs_status_ptr_t data = ucp_stream_recv_data_nb(link->endpoint, &link->held_len);
        link->held = UCS_PTR_IS_ERR(data) ? NULL : data;
        link->held_used = 0;
    }
    return link->held != NULL;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    struct wait wait = {0, 0, 0};
    (void)e;
    for (;;) {
        const int code = progressed(link, &wait);
        /* A receive finds that the peer is gone. */
        *is = code == PIPEGAUGE_CLOSED || is_there(link);
        if (*is || now() >= until)
            return PIPEGAUGE_OK;
        if (code == PIPEGAUGE_INTERRUPTED)
            return code;
    }
}

/* ---- What takes effect. ---- */

/* What the library prints of an endpoint; NULL where there is no memory for it. The caller frees it. */
static char *printed(const pipegauge_link *link)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return NULL;
    ucp_ep_print_info(link->endpoint, to);
    fclose(to);
    return text;
}

/* From "am_send: 0..<egr/short>..93..<egr/bcopy>..8256..<rndv>..(inf)": 8255, the largest that is not sent by rendezvous. */
static void print_eager(const char *text, int op, char *out, size_t room)
{
    const char *line = op == OP_STREAM ? NULL : strstr(text, op == OP_TAG ? " tag_send:" : " am_send:");
    const char *end = line ? strchr(line, '\n') : NULL, *at = line ? strstr(line, "..<rndv>") : NULL;
    if (!end || !at || at > end)
        return;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    const unsigned long long from = strtoull(at, NULL, 10);
    if (from > 0)
        snprintf(out, room, "%llu", from - 1);
}

/* Which transports its lanes are on, as the word that asks for them. */
static void print_transports(const char *text, char *out, size_t room)
{
    const int tcp = strstr(text, ":tcp/") != NULL, posix = strstr(text, ":posix/") != NULL, sysv = strstr(text, ":sysv/") != NULL;
    const int cma = strstr(text, ":cma/") != NULL;
    const int shm = posix + sysv + cma > 1;
    if (tcp + (posix || sysv) == 1)
        snprintf(out, room, "%s", transports[tcp ? TLS_TCP : shm ? TLS_SHM : posix ? TLS_POSIX : TLS_SYSV]);
}

static int is_in_memory(const pipegauge_link *link)
{
    char *text = printed(link), over[16] = "";
    if (text)
        print_transports(text, over, sizeof over);
    free(text);
    return over[0] && strcmp(over, transports[TLS_TCP]) != 0;
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    if (strcmp(option, "op") == 0) {
        snprintf(out, room, "%s", ops[link->wanted.op]);
        return PIPEGAUGE_OK;
    }
    char *text = printed(link);
    if (text && strcmp(option, "eager-limit") == 0)
        print_eager(text, link->wanted.op, out, room);
    if (text && strcmp(option, "tls") == 0)
        print_transports(text, out, room);
    free(text);
    return PIPEGAUGE_OK;
}

/* ---- Posts. ---- */

/* Makes room for one more post. */
static int room_for_post(pipegauge_link *link, error *e)
{
    if (link->posted - link->posts_done < link->posts_room)
        return PIPEGAUGE_OK;
    const size_t room = link->posts_room ? 2 * link->posts_room : 64;
    ucs_status_ptr_t *all = malloc(room * sizeof *all);
    if (!all)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a post");
    for (uint64_t i = link->posts_done; i < link->posted; i++)
        all[i % room] = link->posts[i % link->posts_room];
    free(link->posts);
    link->posts = all;
    link->posts_room = room;
    return PIPEGAUGE_OK;
}

static int post(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const int code = room_for_post(link, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const ucs_status_ptr_t request = start_sending(link, message, len);
    if (UCS_PTR_IS_ERR(request))
        return failed_in_ucx(e, "posting", UCS_PTR_STATUS(request));
    link->posts[link->posted++ % link->posts_room] = request;
    return PIPEGAUGE_OK;
}

static uint64_t posted(const pipegauge_link *link)
{
    return link->posted;
}

/* Counts the first posts that are done. */
static int count_done(pipegauge_link *link, error *e)
{
    while (link->posts_done < link->posted) {
        const ucs_status_ptr_t one = link->posts[link->posts_done % link->posts_room];
        const ucs_status_t status = one == NULL ? UCS_OK : ucp_request_check_status(one);
        if (status == UCS_INPROGRESS)
            break;
        if (one != NULL)
            ucp_request_free(one);
        link->posts_done++;
        if (status != UCS_OK)
            return failed_in_ucx(e, "sending what was posted", status);
    }
    return PIPEGAUGE_OK;
}

static int poll_posts(pipegauge_link *link, uint64_t until, double seconds, uint64_t *done, error *e)
{
    const double over = now() + seconds;
    struct wait wait = {0, 0, 0};
    for (;;) {
        int code = count_done(link, e);
        *done = link->posts_done;
        if (code != PIPEGAUGE_OK || *done >= until)
            return code;
        code = progressed(link, &wait);
        if (code != PIPEGAUGE_OK)
            return code;
        if (seconds <= 0 || (wait.idle % LOOKS == 0 && now() >= over)) {
            code = count_done(link, e);
            *done = link->posts_done;
            return code;
        }
    }
}

/* ---- Memory that is exposed. ---- */

/* What the peer is told of it, before the key. */
struct exposure {
    uint64_t at, len;
};

static int reserve(pipegauge_link *link, size_t len, error *e)
{
    if (link->memory && len <= link->exposed_len)
        return PIPEGAUGE_OK;
    if (link->memory)
        ucp_mem_unmap(link->context, link->memory);
    link->memory = NULL;
    /* Allocated by the library: over shared memory, it is memory that the peer can map. */
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                         .length = len ? len : 1,
                                         .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attributes = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucs_status_t status = ucp_mem_map(link->context, &params, &link->memory);
    if (status == UCS_OK)
        status = ucp_mem_query(link->memory, &attributes);
    if (status != UCS_OK)
        return failed_in_ucx(e, "reserving memory to expose", status);
    link->exposed = attributes.address;
    link->exposed_len = len;
    memset(link->exposed, 0, len);
    return PIPEGAUGE_OK;
}

static int expose(pipegauge_link *link, size_t len, error *e)
{
    char told[MOST_TOLD];
    void *key = NULL;
    size_t key_len = 0;
    int code = reserve(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const ucs_status_t status = ucp_rkey_pack(link->context, link->memory, &key, &key_len);
    if (status != UCS_OK)
        return failed_in_ucx(e, "asking for the key of memory", status);
    const struct exposure exposure = {(uint64_t)(uintptr_t)link->exposed, len};
    if (key_len > sizeof told - sizeof exposure) {
        code = failed(e, PIPEGAUGE_SYSTEM, "the key of exposed memory is longer than can be told");
    } else {
        memcpy(told, &exposure, sizeof exposure);
        memcpy(told + sizeof exposure, key, key_len);
        code = tell(link->peer.fd, EXPOSED, told, sizeof exposure + key_len, link->peer.terms, e);
    }
    ucp_rkey_buffer_release(key);
    return code;
}

static int fill(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    (void)e;
    memcpy(link->exposed + at, from, len);
    return PIPEGAUGE_OK;
}

static int read_exposed(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    (void)e;
    memcpy(into, link->exposed + at, len);
    return PIPEGAUGE_OK;
}

static int withdraw(pipegauge_link *link, double seconds, int *left, error *e)
{
    const double until = now() + seconds;
    struct wait wait = {0, 0, 0};
    size_t len;
    /* Where the transport has no such access of its own, the library does it for the peer in these calls. */
    for (unsigned i = 0;; i++) {
        const int code = progressed(link, &wait);
        if (code == PIPEGAUGE_STALLED)
            wait.since = 0;
        else if (code != PIPEGAUGE_OK)
            return code;
        if (i % LOOKS != 0)
            continue;
        *left = can_hear(link->peer.fd);
        if (*left)
            return hear(link->peer.fd, LEFT, NULL, 0, &len, link->peer.terms, e);
        if (now() >= until)
            return PIPEGAUGE_OK;
    }
}

static int reach(pipegauge_link *link, size_t len, error *e)
{
    char told[MOST_TOLD];
    struct exposure exposure;
    size_t told_len;
    int code = wait_to_hear(link);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, EXPOSED, told, sizeof told, &told_len, link->peer.terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (told_len <= sizeof exposure)
        return failed(e, PIPEGAUGE_PROTOCOL, "what the peer tells of its memory is too short");
    memcpy(&exposure, told, sizeof exposure);
    if (exposure.len < len)
        return failed(e, PIPEGAUGE_PROTOCOL, "the peer exposes less memory than is to be reached");
    if (link->key)
        ucp_rkey_destroy(link->key);
    link->key = NULL;
    link->reached = exposure.at;
    const ucs_status_t status = ucp_ep_rkey_unpack(link->endpoint, told + sizeof exposure, &link->key);
    return status == UCS_OK ? PIPEGAUGE_OK : failed_in_ucx(e, "reaching the peer's memory", status);
}

static int put(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    return finished(link, ucp_put_nbx(link->endpoint, from, len, link->reached + at, link->key, &plain), "putting", e);
}

static int get(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    return finished(link, ucp_get_nbx(link->endpoint, into, len, link->reached + at, link->key, &plain), "getting", e);
}

/* Here the peer makes calls all the time: it waits in withdraw(). */
static int fence(pipegauge_link *link, error *e)
{
    return finished(link, ucp_ep_flush_nbx(link->endpoint, &plain), "waiting for what was put", e);
}

static int leave(pipegauge_link *link, error *e)
{
    const int code = fence(link, e);
    return code == PIPEGAUGE_OK ? tell(link->peer.fd, LEFT, NULL, 0, link->peer.terms, e) : code;
}

/* ---- The module. ---- */

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
