/* libfabric as a transport of pipegauge: messages between two endpoints of a provider, and memory that one exposes to the other.
 *
 * Both sides meet over TCP (meeting.h) and tell each other the name of their endpoint. Each link has a domain, an endpoint and a completion
 * queue of its own, so that links of several threads share nothing. Most providers move messages only where the queue is read: every wait
 * reads it in a loop, and looks now and then at the clock and at the meeting's connection, which tells that the peer's process has ended.
 */
#define _GNU_SOURCE

#include "meeting.h"

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdatomic.h>
#include <sys/mman.h>

typedef struct pipegauge_error error;
typedef struct pipegauge_settings settings;
typedef struct pipegauge_terms terms;

/* What both sides tell each other over the meeting's connection. */
enum { NAMED = 1, WIRED, EXPOSED, LEFT };
/* The only tag; longest name of an endpoint; completions that are read at once. */
enum { TAG = 1, MOST_NAME = 256, EVENTS = 8 };

enum { TCP, SHM, UDP };
static const char *const providers[] = {"tcp", "shm", "udp", NULL};
enum { RDM, MSG, DGRAM };
static const char *const endpoints[] = {"rdm", "msg", "dgram", NULL};
static const enum fi_ep_type types[] = {FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM};
enum { OP_MESSAGE, OP_TAGGED };
static const char *const ops[] = {"message", "tagged", NULL};

/* Largest message of a reliable path: one that ready() receives ahead has memory of its own, of which only what is written to is used. */
#define LARGEST (UINT64_C(1) << 30)

/* What options ask of a link. */
struct wanted {
    int provider, endpoint, op;
};

struct pipegauge_listener {
    struct door door;
    const terms *terms;
    struct wanted wanted;
};

/* A transfer that the library has. Its first member is the library's. */
struct operation {
    struct fi_context2 context;
    int done;
    /* What came of it: 0, or an error of the library's. */
    int came;
    size_t len;
    fi_addr_t from;
};

struct pipegauge_link {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *events;
    struct fid_pep *passive;
    struct fid_cq *queue;
    struct fid_av *names;
    struct fid_ep *endpoint;
    fi_addr_t to;
    struct peer peer;
    struct wanted wanted;
    /* A transfer could not be taken back: the library is not called for this link any more. */
    int broken;

    struct operation sending, receiving, accessing;
    /* Memory of a message that was received ahead: ready() begins that, and datagrams are always received so. */
    char *ahead;
    size_t ahead_len;
    int ahead_waits;
    /* A datagram of the peer has come: until then it may not have begun. */
    int heard;

    /* Posts that are not done, oldest first. */
    struct operation **posts;
    size_t posts_room;
    uint64_t posted, posts_done;

    /* What this side exposes, and what it reaches of the peer's. */
    struct fid_mr *memory;
    char *exposed;
    size_t exposed_len;
    uint64_t reached, key;
};

/* What the library answered; `came` is negative. */
static int failed_in_fabric(error *e, const char *doing, ssize_t came)
{
    const int cause = came < 0 ? (int)-came : (int)came;
    failed_with(e, doing, fi_strerror(cause));
    switch (cause) {
    case FI_ETRUNC:
        return failed(e, PIPEGAUGE_PROTOCOL, "a longer message came than the one that was expected");
    /* A provider cancels what an endpoint has when its connection ends; what this module cancels itself it does not ask about. */
    case FI_ECANCELED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case EPIPE:
    case FI_ECONNREFUSED:
    case FI_EHOSTUNREACH:
        return PIPEGAUGE_CLOSED;
    default:
        return PIPEGAUGE_SYSTEM;
    }
}

/* ---- Settings. ---- */

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

static int word_of(const char *const *words, const char *text)
{
    int which = 0;
    while (strcmp(words[which], text) != 0)
        which++;
    return which;
}

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
static int fits(struct wanted wanted, error *e)
{
    if ((wanted.provider == UDP) != (wanted.endpoint == DGRAM))
        return failed(e, PIPEGAUGE_UNSUPPORTED, "provider=udp has endpoint=dgram, and no other provider has it");
    if (wanted.endpoint == MSG && wanted.provider != TCP)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "endpoint=msg is a connection: provider=tcp has it, shm does not");
    if (wanted.op == OP_TAGGED && wanted.endpoint != RDM)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "op=tagged is for endpoint=rdm (provider=tcp or provider=shm)");
    return PIPEGAUGE_OK;
}

/* ---- The library. ---- */

/* Its providers are loaded by the first call, and lists of interfaces are the process's own: one thread at a time. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

/* What is asked of a provider; NULL without memory. */
static struct fi_info *hints_for(struct wanted wanted)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return NULL;
    hints->caps = wanted.op == OP_TAGGED ? FI_TAGGED | FI_RMA : wanted.endpoint == DGRAM ? FI_MSG | FI_SOURCE : FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = types[wanted.endpoint];
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    /* A link is used by one thread at a time. */
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    if (wanted.endpoint != DGRAM)
        hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(providers[wanted.provider]);
    return hints;
}

/* Finds what the provider offers at an address of this host, NULL for any. */
static int found(struct wanted wanted, const char *host, struct fi_info **out, error *e)
{
    struct fi_info *hints = hints_for(wanted);
    if (!hints)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory to ask libfabric");
    const int at = wanted.provider != SHM && host != NULL;
    pthread_mutex_lock(&guard);
    const int came = fi_getinfo(FI_VERSION(1, 17), at ? host : NULL, NULL, at ? FI_SOURCE | FI_NUMERICHOST : 0, hints, out);
    pthread_mutex_unlock(&guard);
    fi_freeinfo(hints);
    if (came == 0)
        return PIPEGAUGE_OK;
    snprintf(e->text, sizeof e->text, "asking libfabric for provider %s, endpoint %s%s%s: %s (fi_info -p %s says what is here)",
             providers[wanted.provider], endpoints[wanted.endpoint], at ? " at " : "", at ? host : "", fi_strerror(-came),
             providers[wanted.provider]);
    return PIPEGAUGE_SYSTEM;
}

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    const struct wanted wanted = read_settings(set);
    struct fi_info *info = NULL;
    int code = fits(wanted, e);
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

/* ---- Completions. ---- */

static void complete(void *context, int came, size_t len, fi_addr_t from)
{
    struct operation *one = context;
    if (!one)
        return;
    one->done = 1;
    one->came = came;
    one->len = len;
    one->from = from;
}

/* Reads what the library has completed, which lets it move messages, too: how many, or an error. */
static inline ssize_t reap(pipegauge_link *link)
{
    struct fi_cq_msg_entry entries[EVENTS];
    fi_addr_t from[EVENTS];
    ssize_t n = fi_cq_readfrom(link->queue, entries, EVENTS, from);
    if (n == -FI_EAGAIN)
        return 0;
    if (n == -FI_EAVAIL) {
        struct fi_cq_err_entry wrong = {0};
        n = fi_cq_readerr(link->queue, &wrong, 0);
        if (n == 1)
            complete(wrong.op_context, wrong.err, wrong.len, FI_ADDR_NOTAVAIL);
        return n == -FI_EAGAIN ? 0 : n;
    }
    for (ssize_t i = 0; i < n; i++)
        complete(entries[i].op_context, 0, entries[i].len, from[i]);
    return n;
}

/* Lets the library move what it can; what ends the wait, or PIPEGAUGE_OK. */
static inline int progressed(pipegauge_link *link, struct wait *wait, error *e)
{
    const ssize_t n = reap(link);
    return n < 0 ? failed_in_fabric(e, "reading the completion queue", n) : called(&link->peer, wait, n > 0);
}

/* Takes back a transfer that nobody waits for any more. The memory is the caller's again, so that one that can't be ended ends the link. */
static void abandon(pipegauge_link *link, struct operation *one)
{
    fi_cancel(&link->endpoint->fid, one);
    for (int i = 0; i < 1000 && !one->done; i++)
        reap(link);
    link->broken |= !one->done;
}

/* Waits for a transfer that has begun. */
static int finished(pipegauge_link *link, struct operation *one, const char *doing, error *e)
{
    struct wait wait = {0, 0, 0};
    while (!one->done) {
        const int code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK) {
            abandon(link, one);
            return code;
        }
    }
    return one->came == 0 ? PIPEGAUGE_OK : failed_in_fabric(e, doing, one->came);
}

/* Begins a transfer with a call that the library may refuse for now: what came of it is PIPEGAUGE_OK once it is begun. */
#define BEGIN(link, one, doing, call, e)                                         \
    ({                                                                           \
        struct wait wait_ = {0, 0, 0};                                           \
        int code_ = (link)->broken ? PIPEGAUGE_CLOSED : PIPEGAUGE_OK;            \
        ssize_t came_ = -FI_EAGAIN;                                              \
        (one)->done = 0;                                                         \
        while (code_ == PIPEGAUGE_OK && (came_ = (call)) == -FI_EAGAIN)          \
            code_ = progressed(link, &wait_, e);                                 \
        if (code_ == PIPEGAUGE_OK && came_ != 0)                                 \
            code_ = failed_in_fabric(e, doing, came_);                           \
        code_;                                                                   \
    })

static inline int start_sending(pipegauge_link *link, struct operation *one, const void *message, size_t len, error *e)
{
    if (link->wanted.op == OP_TAGGED)
        return BEGIN(link, one, "sending", fi_tsend(link->endpoint, message, len, NULL, link->to, TAG, one), e);
    return BEGIN(link, one, "sending", fi_send(link->endpoint, message, len, NULL, link->to, one), e);
}

static inline int start_receiving(pipegauge_link *link, void *into, size_t len, error *e)
{
    struct operation *one = &link->receiving;
    if (link->wanted.op == OP_TAGGED)
        return BEGIN(link, one, "receiving", fi_trecv(link->endpoint, into, len, NULL, link->to, TAG, 0, one), e);
    return BEGIN(link, one, "receiving", fi_recv(link->endpoint, into, len, NULL, FI_ADDR_UNSPEC, one), e);
}

/* ---- Making an endpoint. ---- */

/* Address of an end of the meeting's connection as text. */
static int text_of_end(int fd, char *out, size_t room, error *e)
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        return failed_in_system(e, "asking for the address that both sides met over");
    const int came = getnameinfo((struct sockaddr *)&at, len, out, (socklen_t)room, NULL, 0, NI_NUMERICHOST);
    return came == 0 ? PIPEGAUGE_OK : failed_with(e, "writing the address that both sides met over", gai_strerror(came));
}

/* Whether a socket address is of the host at the other end of the meeting's connection. */
static int of_peer(int fd, const void *name, size_t len)
{
    struct sockaddr_storage met;
    socklen_t met_len = sizeof met;
    if (getpeername(fd, (struct sockaddr *)&met, &met_len) != 0)
        return 0;
    if (met.ss_family == AF_INET && len == sizeof(struct sockaddr_in)) {
        struct sockaddr_in one;
        memcpy(&one, name, len);
        return one.sin_family == AF_INET && one.sin_addr.s_addr == ((struct sockaddr_in *)&met)->sin_addr.s_addr;
    }
    if (met.ss_family == AF_INET6 && len == sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 one;
        memcpy(&one, name, len);
        return one.sin6_family == AF_INET6 && memcmp(&one.sin6_addr, &((struct sockaddr_in6 *)&met)->sin6_addr, 16) == 0;
    }
    return 0;
}

static const char in_memory[] = "fi_shm://";

/* Whether a name is of an endpoint in shared memory: numbers and colons behind the scheme. */
static int of_memory(const char *name, size_t len)
{
    const size_t scheme = sizeof in_memory - 1;
    return len > scheme + 1 && name[len - 1] == 0 &&
           strncmp(name, in_memory, scheme) == 0 && strspn(name + scheme, "0123456789:") == len - scheme - 1;
}

/* A peer's endpoint is at its own address, or in this host's memory: nothing else is handed to the library. */
static int valid_name(const pipegauge_link *link, const char *name, size_t len, error *e)
{
    const int right = link->wanted.provider == SHM ? of_memory(name, len) : of_peer(link->peer.fd, name, len);
    return right ? PIPEGAUGE_OK : failed(e, PIPEGAUGE_PROTOCOL, "the peer tells the name of an endpoint that is not its own");
}

/* Tells the peer a name and hears its own. */
static int swap_names(pipegauge_link *link, fid_t named, char *theirs, size_t *len, error *e)
{
    char mine[MOST_NAME];
    *len = sizeof mine;
    const int came = fi_getname(named, mine, len);
    if (came != 0)
        return failed_in_fabric(e, "asking for the endpoint's name", came);
    int code = tell(link->peer.fd, NAMED, mine, *len, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, NAMED, theirs, MOST_NAME, len, link->peer.terms, e);
    return code == PIPEGAUGE_OK ? valid_name(link, theirs, *len, e) : code;
}

/* Opens fabric, domain and queue. */
static int open_domain(pipegauge_link *link, error *e)
{
    struct fi_cq_attr attributes = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    struct fi_eq_attr events = {.wait_obj = FI_WAIT_UNSPEC};
    int came = fi_fabric(link->info->fabric_attr, &link->fabric, NULL);
    if (came == 0 && link->wanted.endpoint == MSG)
        came = fi_eq_open(link->fabric, &events, &link->events, NULL);
    if (came == 0)
        came = fi_domain(link->fabric, link->info, &link->domain, NULL);
    if (came == 0)
        came = fi_cq_open(link->domain, &attributes, &link->queue, NULL);
    return came == 0 ? PIPEGAUGE_OK : failed_in_fabric(e, "opening a domain of the provider", came);
}

/* Opens an endpoint of what `info` describes, with its queue and whatever tells it of peers. */
static int open_endpoint(pipegauge_link *link, struct fi_info *info, struct fid *peers, error *e)
{
    int came = fi_endpoint(link->domain, info, &link->endpoint, NULL);
    if (came == 0)
        came = fi_ep_bind(link->endpoint, peers, 0);
    if (came == 0)
        came = fi_ep_bind(link->endpoint, &link->queue->fid, FI_TRANSMIT | FI_RECV);
    if (came == 0)
        came = fi_enable(link->endpoint);
    return came == 0 ? PIPEGAUGE_OK : failed_in_fabric(e, "opening an endpoint", came);
}

/* An endpoint without a connection: it is told the peer's name. */
static int open_unconnected(pipegauge_link *link, error *e)
{
    struct fi_av_attr attributes = {.type = FI_AV_TABLE, .count = 1};
    char theirs[MOST_NAME];
    size_t len;
    const int came = fi_av_open(link->domain, &attributes, &link->names, NULL);
    if (came != 0)
        return failed_in_fabric(e, "opening a table of names", came);
    int code = open_endpoint(link, link->info, &link->names->fid, e);
    if (code == PIPEGAUGE_OK)
        code = swap_names(link, &link->endpoint->fid, theirs, &len, e);
    if (code == PIPEGAUGE_OK && fi_av_insert(link->names, theirs, 1, &link->to, 0, NULL) != 1)
        code = failed(e, PIPEGAUGE_SYSTEM, "the provider does not take the name of the peer's endpoint");
    return code;
}

/* Waits for an event of a connection. */
static int event(pipegauge_link *link, uint32_t wanted, void *entry, size_t room, size_t *len, error *e)
{
    struct wait wait = {0, 0, 0};
    for (;;) {
        uint32_t which = 0;
        const ssize_t n = fi_eq_read(link->events, &which, entry, room, 0);
        if (n >= 0 && which == wanted) {
            *len = (size_t)n;
            return PIPEGAUGE_OK;
        }
        if (n == -FI_EAVAIL) {
            struct fi_eq_err_entry wrong = {0};
            fi_eq_readerr(link->events, &wrong, 0);
            return failed_in_fabric(e, "connecting the endpoints", wrong.err);
        }
        if (n < 0 && n != -FI_EAGAIN)
            return failed_in_fabric(e, "connecting the endpoints", n);
        const int code = called(&link->peer, &wait, 0);
        if (code != PIPEGAUGE_OK)
            return code;
    }
}

/* What a connection request carries, so that nobody else's is taken for the peer's. */
struct request {
    struct fi_eq_cm_entry entry;
    unsigned char shown[SECRET];
};

/* Waits for the request of who was told the secret; others are refused. */
static int requested(pipegauge_link *link, const unsigned char *secret, struct fi_info **out, error *e)
{
    for (;;) {
        struct request request;
        size_t len = 0;
        const int code = event(link, FI_CONNREQ, &request, sizeof request, &len, e);
        if (code != PIPEGAUGE_OK)
            return code;
        *out = request.entry.info;
        /* Its secret begins where the entry's data do. */
        if (len >= sizeof request.entry + SECRET && same_secret(request.entry.data, secret))
            return PIPEGAUGE_OK;
        fi_reject(link->passive, request.entry.info->handle, NULL, 0);
        fi_freeinfo(request.entry.info);
    }
}

/* Waits for the peer's connection: the side that listened. */
static int open_accepting(pipegauge_link *link, error *e)
{
    unsigned char secret[SECRET];
    char mine[MOST_NAME];
    size_t len = sizeof mine;
    struct fi_info *info = NULL;
    struct fi_eq_cm_entry entry;
    if (getrandom(secret, SECRET, 0) != SECRET)
        return failed(e, PIPEGAUGE_SYSTEM, "the system gives no random bytes for a secret");
    int came = fi_passive_ep(link->fabric, link->info, &link->passive, NULL);
    if (came == 0)
        came = fi_pep_bind(link->passive, &link->events->fid, 0);
    if (came == 0)
        came = fi_listen(link->passive);
    if (came == 0)
        came = fi_getname(&link->passive->fid, mine, &len);
    if (came != 0)
        return failed_in_fabric(e, "listening for the peer's endpoint", came);
    int code = tell(link->peer.fd, NAMED, mine, len, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = tell(link->peer.fd, NAMED, secret, SECRET, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = requested(link, secret, &info, e);
    if (code == PIPEGAUGE_OK)
        code = open_endpoint(link, info, &link->events->fid, e);
    if (code == PIPEGAUGE_OK && (came = fi_accept(link->endpoint, NULL, 0)) != 0)
        code = failed_in_fabric(e, "accepting the peer's endpoint", came);
    if (info)
        fi_freeinfo(info);
    return code == PIPEGAUGE_OK ? event(link, FI_CONNECTED, &entry, sizeof entry, &len, e) : code;
}

/* Connects to the endpoint that the peer tells of: the side that connected. */
static int open_connecting(pipegauge_link *link, error *e)
{
    char theirs[MOST_NAME];
    unsigned char secret[SECRET];
    size_t len, secret_len;
    struct fi_eq_cm_entry entry;
    int code = hear(link->peer.fd, NAMED, theirs, sizeof theirs, &len, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = valid_name(link, theirs, len, e);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, NAMED, secret, SECRET, &secret_len, link->peer.terms, e);
    if (code == PIPEGAUGE_OK && secret_len != SECRET)
        code = failed(e, PIPEGAUGE_PROTOCOL, "the peer's secret for its endpoint is too short");
    if (code == PIPEGAUGE_OK)
        code = open_endpoint(link, link->info, &link->events->fid, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const int came = fi_connect(link->endpoint, theirs, secret, SECRET);
    return came == 0 ? event(link, FI_CONNECTED, &entry, sizeof entry, &len, e) : failed_in_fabric(e, "connecting", came);
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e);

/* Waits until the peer has told something, and lets the library move what it can meanwhile. */
static int wait_to_hear(pipegauge_link *link, error *e)
{
    struct wait wait = {0, 0, 0};
    while (!can_hear(link->peer.fd)) {
        const int code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

/* Removes the name of an endpoint in shared memory, which the peer has mapped by now: a process that is killed leaves no file behind. */
static void forget_name(const pipegauge_link *link)
{
    char name[MOST_NAME];
    size_t len = sizeof name;
    if (link->wanted.provider == SHM && fi_getname(&link->endpoint->fid, name, &len) == 0 && of_memory(name, len))
        shm_unlink(name + sizeof in_memory - 1);
}

/* Waits until the library has connected both endpoints, on both sides: it does so with the first message, in calls of both. */
static int wire_up(pipegauge_link *link, error *e)
{
    char here = 'w', there = 0;
    size_t len;
    int code = link->wanted.endpoint == DGRAM ? PIPEGAUGE_OK : exchange(link, &here, 1, &there, 1, e);
    if (code == PIPEGAUGE_OK)
        code = tell(link->peer.fd, WIRED, NULL, 0, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        code = wait_to_hear(link, e);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, WIRED, NULL, 0, &len, link->peer.terms, e);
    if (code == PIPEGAUGE_OK)
        forget_name(link);
    return code;
}

/* ---- Links. ---- */

static void close_fid(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}

static void free_posts(pipegauge_link *link)
{
    for (uint64_t i = link->posts_done; i < link->posted; i++)
        free(link->posts[i % link->posts_room]);
    free(link->posts);
}

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    pthread_mutex_lock(&guard);
    close_fid(link->endpoint ? &link->endpoint->fid : NULL);
    close_fid(link->passive ? &link->passive->fid : NULL);
    close_fid(link->memory ? &link->memory->fid : NULL);
    close_fid(link->names ? &link->names->fid : NULL);
    close_fid(link->queue ? &link->queue->fid : NULL);
    close_fid(link->events ? &link->events->fid : NULL);
    close_fid(link->domain ? &link->domain->fid : NULL);
    close_fid(link->fabric ? &link->fabric->fid : NULL);
    if (link->info)
        fi_freeinfo(link->info);
    pthread_mutex_unlock(&guard);
    free_posts(link);
    free(link->exposed);
    if (link->ahead)
        munmap(link->ahead, link->ahead_len);
    close(link->peer.fd);
    free(link);
}

/* Memory for a message that is received ahead. Only what is written to is used. */
static int room_ahead(pipegauge_link *link, error *e)
{
    const size_t most = link->info->ep_attr->max_msg_size;
    link->ahead_len = most < LARGEST ? most : LARGEST;
    link->ahead = mmap(NULL, link->ahead_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (link->ahead != MAP_FAILED)
        return PIPEGAUGE_OK;
    link->ahead = NULL;
    return failed_in_system(e, "reserving addresses for a message");
}

/* A link over a meeting's connection, which it takes over. */
static int link_over(int fd, int accepted, struct wanted wanted, const terms *terms, pipegauge_link **out, error *e)
{
    char host[INET6_ADDRSTRLEN + 20];
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        close(fd);
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    }
    link->peer = (struct peer){fd, terms, 0};
    link->wanted = wanted;
    link->to = FI_ADDR_UNSPEC;
    int code = text_of_end(fd, host, sizeof host, e);
    if (code == PIPEGAUGE_OK)
        code = found(wanted, host, &link->info, e);
    if (code == PIPEGAUGE_OK)
        code = room_ahead(link, e);
    if (code == PIPEGAUGE_OK)
        code = open_domain(link, e);
    if (code == PIPEGAUGE_OK)
        code = wanted.endpoint != MSG ? open_unconnected(link, e) : accepted ? open_accepting(link, e) : open_connecting(link, e);
    if (code == PIPEGAUGE_OK)
        code = wire_up(link, e);
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
    const struct wanted wanted = read_settings(set);
    int code = fits(wanted, e);
    if (code != PIPEGAUGE_OK)
        return code;
    pipegauge_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a listener");
    listener->terms = terms;
    listener->wanted = wanted;
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
            code = link_over(fd, 1, listener->wanted, listener->terms, out, e);
        /* Who leaves as soon as it has come is no reason to end. */
        if (code != PIPEGAUGE_CLOSED)
            return code;
    }
}

static int connect_to(const settings *set, const char *at, const char *host, const terms *terms, pipegauge_link **out, error *e)
{
    const struct wanted wanted = read_settings(set);
    int fd = -1, code = fits(wanted, e);
    if (code == PIPEGAUGE_OK)
        code = meet_at_place(at, host, &fd, terms, e);
    return code == PIPEGAUGE_OK ? link_over(fd, 0, wanted, terms, out, e) : code;
}

/* ---- Messages. ---- */

static int send_message(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const int code = start_sending(link, &link->sending, message, len, e);
    return code == PIPEGAUGE_OK ? finished(link, &link->sending, "sending", e) : code;
}

/* Begins to receive the next message ahead, where none is being received so. */
static int receive_ahead(pipegauge_link *link, error *e)
{
    if (link->ahead_waits)
        return PIPEGAUGE_OK;
    const int code = start_receiving(link, link->ahead, link->ahead_len, e);
    link->ahead_waits = code == PIPEGAUGE_OK;
    return code;
}

/* Hands over what was received ahead. */
static int take_ahead(pipegauge_link *link, void *message, size_t len, error *e)
{
    const struct operation *one = &link->receiving;
    link->ahead_waits = 0;
    int code = one->came == 0 ? of_length(one->len, len, e) : failed_in_fabric(e, "receiving", one->came);
    if (code == PIPEGAUGE_OK)
        memcpy(message, link->ahead, len);
    return code;
}

/* Waits for what is being received ahead. Memory of the link's own may go on waiting where this wait ends. */
static int wait_ahead(pipegauge_link *link, error *e)
{
    struct wait wait = {0, 0, 0};
    int code = PIPEGAUGE_OK;
    while (code == PIPEGAUGE_OK && !link->receiving.done)
        code = progressed(link, &wait, e);
    return code;
}

/* Whether a datagram that came is the one that is waited for: of the peer, and not a late one of another length. */
static int is_expected(const pipegauge_link *link, size_t len)
{
    const struct operation *one = &link->receiving;
    return one->came == 0 && one->from == link->to && one->len == len;
}

/* Waits for a datagram, which may be lost. */
static int receive_datagram(pipegauge_link *link, void *message, size_t len, error *e)
{
    const double until = now() + (link->heard ? link->peer.terms->loss_timeout : link->peer.terms->patience);
    struct wait wait = {0, 0, 0};
    for (;;) {
        int code = receive_ahead(link, e);
        if (code == PIPEGAUGE_OK)
            code = progressed(link, &wait, e);
        if (code != PIPEGAUGE_OK)
            return code;
        if (link->receiving.done && is_expected(link, len)) {
            link->heard = 1;
            return take_ahead(link, message, len, e);
        }
        if (link->receiving.done)
            link->ahead_waits = 0;
        else if (wait.idle % LOOKS == 0 && now() >= until)
            return link->heard ? PIPEGAUGE_LOST : PIPEGAUGE_STALLED;
    }
}

static int receive_message(pipegauge_link *link, void *message, size_t len, error *e)
{
    if (link->wanted.endpoint == DGRAM)
        return receive_datagram(link, message, len, e);
    if (link->ahead_waits) {
        const int code = wait_ahead(link, e);
        return code == PIPEGAUGE_OK ? take_ahead(link, message, len, e) : code;
    }
    int code = start_receiving(link, message, len, e);
    if (code == PIPEGAUGE_OK)
        code = finished(link, &link->receiving, "receiving", e);
    return code == PIPEGAUGE_OK ? of_length(link->receiving.len, len, e) : code;
}

static int exchange(pipegauge_link *link, const void *out, size_t out_len, void *into, size_t into_len, error *e)
{
    /* A datagram's send waits for nobody, and what is received ahead waits already. */
    const int ahead = link->ahead_waits || link->wanted.endpoint == DGRAM;
    int code = ahead ? PIPEGAUGE_OK : start_receiving(link, into, into_len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    code = send_message(link, out, out_len, e);
    if (ahead)
        return code == PIPEGAUGE_OK ? receive_message(link, into, into_len, e) : code;
    if (code != PIPEGAUGE_OK) {
        abandon(link, &link->receiving);
        return code;
    }
    code = finished(link, &link->receiving, "receiving", e);
    return code == PIPEGAUGE_OK ? of_length(link->receiving.len, into_len, e) : code;
}

static int ready(pipegauge_link *link, double seconds, int *is, error *e)
{
    const double until = now() + seconds;
    struct wait wait = {0, 0, 0};
    for (;;) {
        int code = receive_ahead(link, e);
        if (code == PIPEGAUGE_OK)
            code = progressed(link, &wait, e);
        /* A receive finds what is wrong. */
        *is = code == PIPEGAUGE_CLOSED || link->receiving.done;
        if (*is)
            return PIPEGAUGE_OK;
        if (code != PIPEGAUGE_OK && code != PIPEGAUGE_STALLED)
            return code;
        if (now() >= until)
            return PIPEGAUGE_OK;
    }
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

/* ---- Posts. ---- */

/* Makes room for one more post. */
static int room_for_post(pipegauge_link *link, error *e)
{
    if (link->posted - link->posts_done < link->posts_room)
        return PIPEGAUGE_OK;
    const size_t room = link->posts_room ? 2 * link->posts_room : 64;
    struct operation **all = calloc(room, sizeof *all);
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
    int code = room_for_post(link, e);
    if (code != PIPEGAUGE_OK)
        return code;
    struct operation *one = calloc(1, sizeof *one);
    if (!one)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a post");
    code = start_sending(link, one, message, len, e);
    if (code == PIPEGAUGE_OK)
        link->posts[link->posted++ % link->posts_room] = one;
    else
        free(one);
    return code;
}

static uint64_t posted(const pipegauge_link *link)
{
    return link->posted;
}

/* Counts the first posts that are done. */
static int count_done(pipegauge_link *link, error *e)
{
    while (link->posts_done < link->posted && link->posts[link->posts_done % link->posts_room]->done) {
        struct operation *one = link->posts[link->posts_done++ % link->posts_room];
        const int came = one->came;
        free(one);
        if (came != 0)
            return failed_in_fabric(e, "sending what was posted", came);
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
        code = progressed(link, &wait, e);
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

/* What the peer is told of it. */
struct exposure {
    uint64_t at, len, key;
};

static int reserve(pipegauge_link *link, size_t len, error *e)
{
    static _Atomic uint64_t next_key = 1;
    if (link->memory && len <= link->exposed_len)
        return PIPEGAUGE_OK;
    close_fid(link->memory ? &link->memory->fid : NULL);
    link->memory = NULL;
    free(link->exposed);
    link->exposed = aligned_alloc(4096, (len + 4096) & ~(size_t)4095);
    if (!link->exposed)
        return failed(e, PIPEGAUGE_SYSTEM, "no memory to expose");
    memset(link->exposed, 0, len);
    const int came = fi_mr_reg(link->domain, link->exposed, len ? len : 1, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                               atomic_fetch_add(&next_key, 1), 0, &link->memory, NULL);
    link->exposed_len = len;
    return came == 0 ? PIPEGAUGE_OK : failed_in_fabric(e, "registering memory to expose", came);
}

static int expose(pipegauge_link *link, size_t len, error *e)
{
    const int code = reserve(link, len, e);
    if (code != PIPEGAUGE_OK)
        return code;
    const int virtual = (link->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    const struct exposure exposure = {virtual ? (uint64_t)(uintptr_t)link->exposed : 0, len, fi_mr_key(link->memory)};
    return tell(link->peer.fd, EXPOSED, &exposure, sizeof exposure, link->peer.terms, e);
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
    /* Where the provider has no such access of its own, it does it for the peer in these calls. */
    for (unsigned i = 0;; i++) {
        const int code = progressed(link, &wait, e);
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
    struct exposure exposure;
    size_t told;
    int code = wait_to_hear(link, e);
    if (code == PIPEGAUGE_OK)
        code = hear(link->peer.fd, EXPOSED, &exposure, sizeof exposure, &told, link->peer.terms, e);
    if (code != PIPEGAUGE_OK)
        return code;
    if (told != sizeof exposure || exposure.len < len)
        return failed(e, PIPEGAUGE_PROTOCOL, "the peer exposes less memory than is to be reached");
    link->reached = exposure.at;
    link->key = exposure.key;
    return PIPEGAUGE_OK;
}

static int put(pipegauge_link *link, size_t at, const void *from, size_t len, error *e)
{
    const struct iovec here = {(void *)from, len};
    const struct fi_rma_iov there = {link->reached + at, len, link->key};
    const struct fi_msg_rma message = {
        .msg_iov = &here, .iov_count = 1, .addr = link->to, .rma_iov = &there, .rma_iov_count = 1, .context = &link->accessing};
    /* Complete once the bytes are there: fence() has nothing left to wait for. */
    const int code =
        BEGIN(link, &link->accessing, "putting", fi_writemsg(link->endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE), e);
    return code == PIPEGAUGE_OK ? finished(link, &link->accessing, "putting", e) : code;
}

static int get(pipegauge_link *link, size_t at, void *into, size_t len, error *e)
{
    const int code = BEGIN(link, &link->accessing, "getting",
                           fi_read(link->endpoint, into, len, NULL, link->to, link->reached + at, link->key, &link->accessing), e);
    return code == PIPEGAUGE_OK ? finished(link, &link->accessing, "getting", e) : code;
}

static int fence(pipegauge_link *link, error *e)
{
    (void)link, (void)e;
    return PIPEGAUGE_OK;
}

static int leave(pipegauge_link *link, error *e)
{
    return tell(link->peer.fd, LEFT, NULL, 0, link->peer.terms, e);
}

/* ---- The module. ---- */

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
