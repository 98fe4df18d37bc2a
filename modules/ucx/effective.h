/* What took effect on a link, from what the library prints of its endpoint. */
#ifndef PIPEGAUGE_UCX_EFFECTIVE_H
#define PIPEGAUGE_UCX_EFFECTIVE_H

#include "link.h"

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

#endif
