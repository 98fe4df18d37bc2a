/* Memory that one side exposes, and what the other does with it. */
#ifndef PIPEGAUGE_LIBFABRIC_MEMORY_H
#define PIPEGAUGE_LIBFABRIC_MEMORY_H

#include "open.h"

#include "exposed.h"

#include <stdatomic.h>

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

#endif
