/* The context of a link, and its worker. */
#ifndef PIPEGAUGE_UCX_CONTEXT_H
#define PIPEGAUGE_UCX_CONTEXT_H

#include "messages.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>

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

#endif
