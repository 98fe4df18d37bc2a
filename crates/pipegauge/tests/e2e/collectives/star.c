/* Collectives over links, by the simplest way there is: all gives to rank 0, which gives to all. Stands before the table of a new module. */

struct star {
    uint32_t rank, members;
    pipegauge_link *links[];
};

static int join(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, error *e)
{
    (void)e;
    struct star *star = calloc(1, sizeof *star + count * sizeof *links);
    memcpy(star->links, links, count * sizeof *links);
    star->rank = rank;
    star->members = members;
    links[0]->star = star;
    return PIPEGAUGE_OK;
}

/* Each gives `len` bytes to rank 0, which has them in the order of ranks. */
static int collect(pipegauge_link *link, const char *mine, char *all, size_t len, error *e)
{
    struct star *star = link->star;
    int code = PIPEGAUGE_OK;
    if (star->rank > 0)
        return send_message(link, mine, len, e);
    memcpy(all, mine, len);
    for (uint32_t i = 1; i < star->members && code == PIPEGAUGE_OK; i++)
        code = receive_message(star->links[i - 1], all + i * len, len, e);
    return code;
}

/* Rank 0 gives each other one its part of `all`, `step` bytes from the last one's. */
static int spread(pipegauge_link *link, char *all, char *mine, size_t len, size_t step, error *e)
{
    struct star *star = link->star;
    int code = PIPEGAUGE_OK;
    if (star->rank > 0)
        return receive_message(link, mine, len, e);
    for (uint32_t i = 1; i < star->members && code == PIPEGAUGE_OK; i++)
        code = send_message(star->links[i - 1], all + i * step, len, e);
    return code;
}

static int broadcast(pipegauge_link *link, void *block, size_t len, error *e)
{
    return spread(link, block, block, len, 0, e);
}

static int allgather(pipegauge_link *link, const void *mine, void *all, size_t len, error *e)
{
    int code = collect(link, mine, all, len, e);
    return code == PIPEGAUGE_OK ? broadcast(link, all, len * link->star->members, e) : code;
}

static int barrier(pipegauge_link *link, error *e)
{
    char all[256];
    return allgather(link, "x", all, 1, e);
}

static int allreduce(pipegauge_link *link, const void *mine, void *sums, size_t len, error *e)
{
    const uint32_t members = link->star->members;
    char *all = malloc(len * members);
    int code = allgather(link, mine, all, len, e);
    for (size_t at = 0; at < len; at += 8) {
        uint64_t sum = 0, one;
        for (uint32_t i = 0; i < members; i++) {
            memcpy(&one, all + i * len + at, 8);
            sum += one;
        }
        memcpy((char *)sums + at, &sum, 8);
    }
    free(all);
    return code;
}

static int all_to_all(pipegauge_link *link, const void *out, void *into, size_t len, error *e)
{
    const uint32_t members = link->star->members, rank = link->star->rank;
    char *all = malloc(len * members * members);
    int code = allgather(link, out, all, len * members, e);
    for (uint32_t from = 0; from < members; from++)
        memcpy((char *)into + from * len, all + (from * members + rank) * len, len);
    free(all);
    return code;
}

static const struct pipegauge_collective collective = {
    sizeof collective, join, barrier, broadcast, allreduce, allgather, all_to_all,
};

