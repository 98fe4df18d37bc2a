/* Making the endpoint of a link: without a connection, or with one that the listening side accepts. */
#ifndef PIPEGAUGE_LIBFABRIC_ENDPOINT_H
#define PIPEGAUGE_LIBFABRIC_ENDPOINT_H

#include "completions.h"
#include "names.h"

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

#endif
