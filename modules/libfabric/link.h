/* A libfabric link, and what the library offers for it. */
#ifndef PIPEGAUGE_LIBFABRIC_LINK_H
#define PIPEGAUGE_LIBFABRIC_LINK_H

#include "posts.h"
#include "wanted.h"

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

/* What both sides tell each other over the meeting's connection. */
enum { NAMED = 1, WIRED, EXPOSED, LEFT };
/* The only tag; longest name of an endpoint; completions that are read at once. */
enum { TAG = 1, MOST_NAME = 256, EVENTS = 8 };

/* Largest message of a reliable path: one that ready() receives ahead has memory of its own, of which only what is written to is used. */
#define LARGEST (UINT64_C(1) << 30)

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

    /* What was posted: operations. */
    struct posts posts;

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

#endif
