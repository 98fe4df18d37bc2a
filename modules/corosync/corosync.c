/* Corosync's closed process groups (CPG) as a group of pipegauge: casts in one order of all members.
 *
 * Rank 0 starts a Corosync daemon for each member (daemons.h) and tells the others where theirs is; each member is a client of its own daemon. CPG has
 * no messages to one member: answers go over the connections on which members met (members.h).
 *
 * CPG knows CPG_TYPE_SAFE and treats it as CPG_TYPE_AGREED: one order of all casts within a membership, virtual synchrony, no wait until all have a cast.
 */
#include "wanted.h"

#include "group.h"

#include <corosync/corotypes.h>
#include <corosync/cpg.h>
#include <pthread.h>

#include "daemons.h"

/* Largest cast: longer ones CPG cuts into pieces of this library's memory. */
enum { LARGEST = 1 << 20 };
/* Casts between two looks at what came. */
enum { LOOK_AFTER = 16 };
/* What rank 0 tells the others: where its daemons are. */
enum { DAEMONS = 1 };

struct pipegauge_link {
    /* To the other side of the meeting. */
    int fd;
    const terms *terms;
    struct wanted wanted;
    struct group group;
    struct daemons daemons;
    /* The client, and what is readable when something came for it; -1 before. */
    cpg_handle_t client;
    int client_fd;
    /* Members of the process group. */
    size_t joined;
    unsigned casts;
};

#include "members.h"

static int failed_in_corosync(error *e, const char *doing, cs_error_t came)
{
    return failed_with(e, doing, cs_strerror(came));
}

/* ---- What the daemon hands over. ---- */

static pipegauge_link *link_of_client(cpg_handle_t client)
{
    void *link = NULL;
    cpg_context_get(client, &link);
    return link;
}

static void delivered(cpg_handle_t client, const struct cpg_name *name, uint32_t node, uint32_t pid, void *message, size_t len)
{
    (void)name;
    (void)pid;
    arrived(&link_of_client(client)->group, node - 1, message, len);
}

static void changed(cpg_handle_t client, const struct cpg_name *name, const struct cpg_address *members, size_t count,
                    const struct cpg_address *left, size_t left_count, const struct cpg_address *new, size_t new_count)
{
    (void)name;
    (void)members;
    (void)left;
    (void)new;
    (void)new_count;
    pipegauge_link *link = link_of_client(client);
    link->joined = count;
    if (left_count > 0)
        link->group.gone = 1;
}

static int readable_at(const pipegauge_link *link)
{
    return link->client_fd;
}

static int pumped(pipegauge_link *link, int wait, error *e)
{
    cs_error_t came = cpg_dispatch(link->client, CS_DISPATCH_ONE_NONBLOCKING);
    if (came == CS_OK)
        return PIPEGAUGE_OK;
    if (came != CS_ERR_TRY_AGAIN)
        return failed_in_corosync(e, "taking what Corosync has", came);
    struct pollfd one = {link->client_fd, POLLIN, 0};
    if (wait > 0)
        poll(&one, 1, wait);
    return PIPEGAUGE_OK;
}

/* ---- Clients. ---- */

/* The library keeps its clients in a table of the process that it does not lock: two that come or go at once break each other's. */
static pthread_mutex_t clients = PTHREAD_MUTEX_INITIALIZER;

static cs_error_t new_client(pipegauge_link *link)
{
    cpg_callbacks_t calls = {.cpg_deliver_fn = delivered, .cpg_confchg_fn = changed};
    /* A wait for the lock would be one that nothing can stop. */
    if (pthread_mutex_trylock(&clients) != 0)
        return CS_ERR_TRY_AGAIN;
    const cs_error_t came = cpg_initialize(&link->client, &calls);
    pthread_mutex_unlock(&clients);
    return came;
}

static void end_client(pipegauge_link *link)
{
    pthread_mutex_lock(&clients);
    cpg_finalize(link->client);
    pthread_mutex_unlock(&clients);
}

/* ---- Joining. ---- */

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    if (link->client_fd >= 0)
        end_client(link);
    end_daemons(&link->daemons, link->terms);
    end_group(&link->group);
    close(link->fd);
    free(link);
}

static int link_over(int fd, int accepted, struct wanted wanted, const terms *terms, pipegauge_link **out, error *e)
{
    (void)accepted;
    pipegauge_link *link = calloc(1, sizeof *link);
    if (!link) {
        close(fd);
        return failed(e, PIPEGAUGE_SYSTEM, "no memory for a link");
    }
    link->fd = fd;
    link->terms = terms;
    link->wanted = wanted;
    link->client_fd = -1;
    *out = link;
    return PIPEGAUGE_OK;
}

#include "listening.h"

/* Becomes a client of its daemon. */
static int connect_client(pipegauge_link *link, pid_t daemons, error *e)
{
    int home, code = enter(daemons, link->group.rank, &home, e);
    if (code != PIPEGAUGE_OK)
        return code;
    cs_error_t came;
    const struct timespec slice = {0, 5000000};
    for (double since = 0; (came = new_client(link)) == CS_ERR_TRY_AGAIN; nanosleep(&slice, NULL))
        if ((code = goes_on(&since, link->terms)) != PIPEGAUGE_OK)
            break;
    const int home_code = come_home(home, e);
    if (code != PIPEGAUGE_OK || home_code != PIPEGAUGE_OK)
        return code != PIPEGAUGE_OK ? code : home_code;
    if (came != CS_OK)
        return failed_in_corosync(e, "connecting to the member's Corosync", came);
    cpg_context_set(link->client, link);
    came = cpg_fd_get(link->client, &link->client_fd);
    if (came != CS_OK) {
        link->client_fd = -1;
        end_client(link);
        return failed_in_corosync(e, "asking for the client's socket", came);
    }
    return PIPEGAUGE_OK;
}

/* Waits until all are members of the process group. */
static int join_process_group(pipegauge_link *link, error *e)
{
    struct cpg_name name = {.length = 9, .value = "pipegauge"};
    const struct timespec slice = {0, 5000000};
    double since = 0;
    cs_error_t came;
    int code;
    while ((came = cpg_join(link->client, &name)) == CS_ERR_TRY_AGAIN) {
        if ((code = goes_on(&since, link->terms)) != PIPEGAUGE_OK)
            return code;
        nanosleep(&slice, NULL);
    }
    if (came != CS_OK)
        return failed_in_corosync(e, "joining the process group", came);
    while (link->joined < link->group.members) {
        if ((code = pumped(link, SLICE, e)) != PIPEGAUGE_OK || (code = group_goes_on(link, e)) != PIPEGAUGE_OK ||
            (code = goes_on(&since, link->terms)) != PIPEGAUGE_OK)
            return code;
    }
    return PIPEGAUGE_OK;
}

static int join(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, error *e)
{
    pipegauge_link *link = links[0];
    int64_t pid = 0;
    size_t len = 0;
    int code = begin_group(links, count, rank, members, e);
    if (code == PIPEGAUGE_OK && rank == 0) {
        code = start_daemons(&link->daemons, members, link->wanted, link->terms, e);
        pid = link->daemons.pid;
        for (size_t i = 0; i < count && code == PIPEGAUGE_OK; i++)
            code = tell(links[i]->fd, DAEMONS, &pid, sizeof pid, link->terms, e);
    } else if (code == PIPEGAUGE_OK) {
        code = hear(link->fd, DAEMONS, &pid, sizeof pid, &len, link->terms, e);
        if (code == PIPEGAUGE_OK && (len != sizeof pid || pid <= 0))
            code = failed(e, PIPEGAUGE_PROTOCOL, "rank 0 does not say where the daemons are");
    }
    if (code == PIPEGAUGE_OK)
        code = connect_client(link, (pid_t)pid, e);
    return code == PIPEGAUGE_OK ? join_process_group(link, e) : code;
}

/* ---- Casting. ---- */

static enum pipegauge_order order(const pipegauge_link *link)
{
    (void)link;
    return PIPEGAUGE_OF_ALL;
}

static int cast(pipegauge_link *link, const void *message, size_t len, error *e)
{
    const struct iovec one = {(void *)message, len};
    cs_error_t came;
    /* It refuses while too much is under way, which ends as members take what came. */
    for (double since = 0; (came = cpg_mcast_joined(link->client, CPG_TYPE_AGREED, &one, 1)) == CS_ERR_TRY_AGAIN;) {
        int code = pumped(link, 1, e);
        if (code == PIPEGAUGE_OK)
            code = group_goes_on(link, e);
        if (code == PIPEGAUGE_OK)
            code = goes_on(&since, link->terms);
        if (code != PIPEGAUGE_OK)
            return code;
    }
    if (came != CS_OK)
        return failed_in_corosync(e, "casting", came);
    /* Who only casts takes what came, too. */
    return ++link->casts % LOOK_AFTER ? PIPEGAUGE_OK : pumped(link, 0, e);
}

static const struct pipegauge_group group = {
    .size = sizeof group,
    .join = join,
    .order = order,
    .hear_itself = hear_itself,
    .cast = cast,
    .deliver = deliver,
    .answer = answer,
    .answered = answered,
};

/* ---- The module. ---- */

static int capabilities(const settings *set, struct pipegauge_capabilities *out, error *e)
{
    out->bits = PIPEGAUGE_MESSAGES | PIPEGAUGE_ORDERED | PIPEGAUGE_RELIABLE | PIPEGAUGE_LOCAL_ONLY | PIPEGAUGE_GROUP;
    out->largest = LARGEST;
    return possible(read_settings(set), e);
}

/* Whether a program is where programs are looked for. */
static int has(const char *program)
{
    char path[200];
    static const char *const folders[] = {"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folders[i], program);
        if (access(path, X_OK) == 0)
            return 1;
    }
    return 0;
}

static int available(error *e)
{
    if (geteuid() != 0)
        return failed(e, PIPEGAUGE_UNSUPPORTED, "its daemons take root: each runs in a network namespace of its own");
    if (!has("corosync"))
        return failed(e, PIPEGAUGE_UNSUPPORTED, "the daemon corosync is not installed (apt install corosync)");
    if (!has("unshare") || !has("setpriv") || !has("ip"))
        return failed(e, PIPEGAUGE_UNSUPPORTED, "its daemons' namespaces take unshare and setpriv (util-linux) and ip (iproute2)");
    return PIPEGAUGE_OK;
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    if (strcmp(option, "transport") == 0)
        snprintf(out, room, "%s", transports[link->wanted.transport]);
    return PIPEGAUGE_OK;
}

static const char *const spoken[] = {"corosync", "cpg", "totem", NULL};

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "corosync",
    .version = "0.1.0",
    .summary = "Corosync CPG: casts in one order, each member with a daemon in a namespace of its own",
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
    .effective = effective,
    .close = close_link,
    .group = &group,
};

const struct pipegauge_module *pipegauge_module(uint32_t abi)
{
    return abi >= PIPEGAUGE_ABI ? &module : NULL;
}
