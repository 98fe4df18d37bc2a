/* Memory that one side exposes, and what the other does with it. */
#ifndef PIPEGAUGE_UCX_MEMORY_H
#define PIPEGAUGE_UCX_MEMORY_H

#include "open.h"

#include "exposed.h"

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

static int reach(pipegauge_link *link, size_t len, error *e)
{
    char told[MOST_TOLD];
    struct exposure exposure;
    size_t told_len;
    int code = wait_to_hear(link, e);
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

#endif
