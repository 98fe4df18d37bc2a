/* JGroups as a group of pipegauge: casts in one order of all members (SEQUENCER), or in that of each sender.
 *
 * Each member's process has a Java machine of its own, which the module calls through JNI (vm.h); what comes is kept by Member.java until it is taken, several
 * messages at once. Members join one after another, so that their ranks are their places in the view. Answers go over the connections on which members met
 * (members.h).
 *
 * JGroups has no virtual synchrony since it removed FLUSH in 2024: a view may change between casts that some members have and others have not.
 */
#include "wanted.h"

#include "group.h"

#include "vm.h"

enum { LARGEST = 1 << 20 };
/* Casts between two looks at what came. */
enum { LOOK_AFTER = 16 };
/* What rank 0 tells the others, and hears: who is to join which cluster, that it has. */
enum { JOIN = 1, JOINED };
enum { NAME = 40 };

struct pipegauge_link {
    /* To the other side of the meeting. */
    int fd;
    const terms *terms;
    struct wanted wanted;
    struct group group;
    /* The member in the Java machine; NULL before. */
    jobject member;
    unsigned casts;
};

#include "members.h"

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
    *out = link;
    return PIPEGAUGE_OK;
}

#include "listening.h"

static void close_link(pipegauge_link *link)
{
    if (!link)
        return;
    JNIEnv *java;
    error e = {.size = sizeof e};
    if (link->member && enter_java(&java, &e) == PIPEGAUGE_OK) {
        (*java)->CallVoidMethod(java, link->member, vm.close);
        (*java)->ExceptionClear(java);
        (*java)->DeleteGlobalRef(java, link->member);
    }
    end_group(&link->group);
    close(link->fd);
    free(link);
}

/* ---- What came. ---- */

static int readable_at(const pipegauge_link *link)
{
    (void)link;
    return -1;
}

/* Takes a heading and its message from what Java kept, and so on. */
static void take(struct group *group, const char *at, size_t left)
{
    struct {
        int32_t from, len;
    } heading;
    while (left >= sizeof heading) {
        memcpy(&heading, at, sizeof heading);
        arrived(group, (uint32_t)heading.from, at + sizeof heading, (size_t)heading.len);
        at += sizeof heading + (size_t)heading.len;
        left -= sizeof heading + (size_t)heading.len;
    }
}

static int pumped(pipegauge_link *link, int wait, error *e)
{
    JNIEnv *java;
    int code = enter_java(&java, e);
    if (code != PIPEGAUGE_OK)
        return code;
    jobject full = (*java)->CallObjectMethod(java, link->member, vm.next, (jint)wait);
    code = threw(java, e, "taking what JGroups has");
    if (code == PIPEGAUGE_OK && full) {
        const jint len = (*java)->CallStaticIntMethod(java, vm.member, vm.length, full);
        jbyteArray array = (*java)->CallObjectMethod(java, full, vm.array);
        /* Nothing of Java is called until it is given back. */
        char *bytes = (*java)->GetPrimitiveArrayCritical(java, array, NULL);
        if (bytes)
            take(&link->group, bytes, (size_t)len);
        else
            code = failed(e, PIPEGAUGE_SYSTEM, "the Java machine has no memory for what came");
        if (bytes)
            (*java)->ReleasePrimitiveArrayCritical(java, array, bytes, JNI_ABORT);
        (*java)->DeleteLocalRef(java, array);
    } else if (code == PIPEGAUGE_OK) {
        link->group.gone |= (*java)->CallIntMethod(java, link->member, vm.state) < 0;
    }
    (*java)->DeleteLocalRef(java, full);
    return code;
}

/* ---- Joining. ---- */

/* Makes this process's member, which joins the cluster of this name. */
static int connect_member(pipegauge_link *link, const char *name, error *e)
{
    JNIEnv *java;
    int code = enter_java(&java, e);
    if (code != PIPEGAUGE_OK)
        return code;
    jstring protocols = (*java)->NewStringUTF(java, link->wanted.order == TOTAL ? "sequencer.xml" : "udp.xml");
    jstring cluster = (*java)->NewStringUTF(java, name);
    jobject member = (*java)->NewObject(java, vm.member, vm.begin, protocols, cluster, (jint)link->group.members, (jint)link->wanted.asking,
                                       (jboolean)(link->group.rank == 0));
    code = threw(java, e, "joining the cluster");
    if (code == PIPEGAUGE_OK)
        link->member = (*java)->NewGlobalRef(java, member);
    (*java)->DeleteLocalRef(java, member);
    (*java)->DeleteLocalRef(java, cluster);
    (*java)->DeleteLocalRef(java, protocols);
    return code;
}

/* Waits until all members are in the view. */
static int complete(pipegauge_link *link, error *e)
{
    JNIEnv *java;
    int code = enter_java(&java, e);
    const struct timespec slice = {0, 5000000};
    for (double since = 0; code == PIPEGAUGE_OK; nanosleep(&slice, NULL)) {
        const jint state = (*java)->CallIntMethod(java, link->member, vm.state);
        if (state != 0)
            return state > 0 ? PIPEGAUGE_OK : PIPEGAUGE_CLOSED;
        code = goes_on(&since, link->terms);
    }
    return code;
}

/* Rank 0: joins as the first, and has the others join one after another. */
static int lead(pipegauge_link *const *links, size_t count, error *e)
{
    char name[NAME] = "pipegauge-";
    unsigned char drawn[8];
    if (getrandom(drawn, sizeof drawn, 0) != sizeof drawn)
        return failed(e, PIPEGAUGE_SYSTEM, "the system gives no random bytes for a cluster's name");
    for (size_t i = 0; i < sizeof drawn; i++)
        sprintf(name + strlen(name), "%02x", drawn[i]);
    int code = connect_member(links[0], name, e);
    for (size_t i = 0; i < count && code == PIPEGAUGE_OK; i++) {
        char none;
        size_t len;
        code = tell(links[i]->fd, JOIN, name, sizeof name, links[i]->terms, e);
        if (code == PIPEGAUGE_OK)
            code = hear(links[i]->fd, JOINED, &none, sizeof none, &len, links[i]->terms, e);
    }
    return code;
}

static int follow(pipegauge_link *link, error *e)
{
    char name[NAME];
    size_t len;
    JNIEnv *java;
    /* A machine takes a while to begin: all do at once. */
    int code = enter_java(&java, e);
    if (code == PIPEGAUGE_OK)
        code = hear(link->fd, JOIN, name, sizeof name, &len, link->terms, e);
    if (code == PIPEGAUGE_OK && (len != sizeof name || name[NAME - 1] != 0))
        code = failed(e, PIPEGAUGE_PROTOCOL, "rank 0 names no cluster");
    if (code == PIPEGAUGE_OK)
        code = connect_member(link, name, e);
    return code == PIPEGAUGE_OK ? tell(link->fd, JOINED, "", 1, link->terms, e) : code;
}

static int join(pipegauge_link *const *links, size_t count, uint32_t rank, uint32_t members, error *e)
{
    int code = begin_group(links, count, rank, members, e);
    if (code == PIPEGAUGE_OK)
        code = rank == 0 ? lead(links, count, e) : follow(links[0], e);
    return code == PIPEGAUGE_OK ? complete(links[0], e) : code;
}

/* ---- Casting. ---- */

static enum pipegauge_order order(const pipegauge_link *link)
{
    return link->wanted.order == TOTAL ? PIPEGAUGE_OF_ALL : PIPEGAUGE_OF_EACH_SENDER;
}

static int cast(pipegauge_link *link, const void *message, size_t len, error *e)
{
    JNIEnv *java;
    int code = enter_java(&java, e);
    if (code != PIPEGAUGE_OK)
        return code;
    /* Who only casts takes what came, too. */
    if (link->casts++ % LOOK_AFTER == LOOK_AFTER - 1 && (code = pumped(link, 0, e)) != PIPEGAUGE_OK)
        return code;
    if ((code = group_goes_on(link, e)) != PIPEGAUGE_OK)
        return code;
    jbyteArray bytes = (*java)->NewByteArray(java, (jsize)len);
    if (bytes) {
        (*java)->SetByteArrayRegion(java, bytes, 0, (jsize)len, message);
        (*java)->CallVoidMethod(java, link->member, vm.cast, bytes);
    }
    code = threw(java, e, "casting");
    (*java)->DeleteLocalRef(java, bytes);
    return code;
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

static int available(error *e)
{
    char path[4000], library[4100];
    folder(path, sizeof path);
    snprintf(library, sizeof library, "%s/jgroups-" JGROUPS ".jar", path);
    if (access(library, R_OK) == 0)
        return PIPEGAUGE_OK;
    snprintf(e->text, sizeof e->text, "%.150s is not there (make -C modules/jgroups fetches it)", library);
    return PIPEGAUGE_UNSUPPORTED;
}

static int effective(pipegauge_link *link, const char *option, char *out, size_t room, error *e)
{
    (void)e;
    out[0] = 0;
    if (strcmp(option, "order") == 0)
        snprintf(out, room, "%s", orders[link->wanted.order]);
    return PIPEGAUGE_OK;
}

static const char *const spoken[] = {"jgroups", "java groups", NULL};

static const struct pipegauge_module module = {
    .size = sizeof module,
    .abi = PIPEGAUGE_ABI,
    .name = "jgroups",
    .version = "0.1.0",
    .summary = "JGroups " JGROUPS ": casts in one order or that of each sender, each member in a Java machine",
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
