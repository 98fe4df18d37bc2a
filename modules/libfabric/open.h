/* Making a link, and ending it. */
#ifndef PIPEGAUGE_LIBFABRIC_OPEN_H
#define PIPEGAUGE_LIBFABRIC_OPEN_H

#include "endpoint.h"
#include "listening.h"
#include "messages.h"

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

static void close_fid(struct fid *fid)
{
    if (fid)
        fi_close(fid);
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
    end_posts(&link->posts, free);
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

#endif
