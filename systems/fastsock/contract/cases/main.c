/* Begins as one of the two sides, and runs one case. */
#include "cases.h"

static const struct { const char *name; void (*run)(int, int); } cases[] = {
    {"echo", echo}, {"stream", stream}, {"lists", lists}, {"half_close", half_close}, {"peek", peek},
    {"nonblocking", nonblocking}, {"timeouts", timeouts}, {"signalled", signalled}, {"reset", reset},
    {"broken_pipe", broken_pipe}, {"duplicates", duplicates}, {"forks", forks}, {"polled", polled},
    {"selected", selected}, {"epolled", epolled}, {"files", files}, {"program", program}, {"spawned", spawned},
    {"killed", killed}, {"threads", threads}, {"urgent", urgent}, {"urgent_mark", urgent_mark}, {"streams", streams}, {"passed", passed},
    {"linger", linger}, {"changed", changed}, {"edges", edges}, {"once", once}, {"once_early", once_early}, {"exclusive", exclusive}, {"nested", nested},
    {"mixed", mixed}, {"room", room}, {"early", early}, {"set_forked", set_forked}, {"set_filled", set_filled}, {"set_altered", set_altered}, {"set_outlives", set_outlives},
    {"crew", crew}, {"two_waits", two_waits}, {"interrupted", interrupted}, {"endings", endings},
    {"killed_in_set", killed_in_set}, {"again", again}, {"again_order", again_order}, {"again_forked", again_forked},
    {"again_polled", again_polled}, {"again_loop", again_loop}, {"again_threads", again_threads}, {"held", held}, {"standard", standard},
    {"standard_free", standard_free}, {"shells", shells}, {"vectors", vectors}, {"lists_wrong", lists_wrong}, {"handlers", handlers},
    {"kernels_own", kernels_own}, {"left_to_come", left_to_come}, {"stamped", stamped}, {"told_of", told_of}, {"handler_sends", handler_sends},
    {"jumped", jumped}, {"at_once", at_once}, {"cancelled", cancelled}, {"strict", strict}, {"strict_early", strict_early}, {"numbers", numbers},
    {"numbers_set", numbers_set}, {"program_limited", program_limited}, {"vector_flags", vector_flags}, {"queued", queued}, {"faults", faults}, {"strict_one_way", strict_one_way}, {"probed", probed}, {"again_cancelled", again_cancelled},
    {"served", served}, {"preforked", preforked}, {"left_unread", left_unread}, {"urgent_behind", urgent_behind},
    {"left_half", left_half}, {"left_looked", left_looked}, {"little_room", little_room}, {"little_room_ends", little_room_ends}, {"program_at", program_at}, {"program_few", program_few}, {"crashed", crashed},
    {"served_reading", served_reading}, {"number_high", number_high}, {"connected_twice", connected_twice}, {"again_loop_forks", again_loop_forks}, {"messages_limit", messages_limit}, {"ranges", ranges},
    {"cloned", cloned}, {"cloned_numbers", cloned_numbers}, {"cloned_memory", cloned_memory}, {"cloned_waits", cloned_waits}, {"program_none", program_none}, {"other_user", other_user}, {"numbers_high", numbers_high},
    {"handed", handed}, {"handed_late", handed_late}, {"handed_input", handed_input}, {"handed_leaves", handed_leaves}, {"allowed", allowed},
    {"program_many", program_many}, {"passed_on", passed_on}, {"spawned_again", spawned_again}, {"little_room_jumped", little_room_jumped},
    {"little_room_cut", little_room_cut}, {"cloned_asked", cloned_asked},
    {"numbered", numbered}, {"submitted", submitted}, {"asked_unseen", asked_unseen}, {"upper", upper}, {"lingers", lingers}, {"drained", drained}, {"vforks", vforks},
    {"fortified", fortified}, {"counted", counted},
};

int main(int argc, char **argv)
{
    struct sockaddr_in a = {0};
    socklen_t len = sizeof a;
    int fd = -1, server;
    self = argv[0];
    alarm(60);
    signal(SIGPIPE, SIG_IGN);
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) puts(cases[i].name);
        return 0;
    }
    if (argc < 3) return 2;
    if (!strcmp(argv[1], "begun")) return begun_with(argc, argv);
    if (!strcmp(argv[1], "exec")) {
        /* The new program of the cases program, spawned, left_unread and handed_late. */
        fd = atoi(argv[3]);
        if (argc > 4) { stream_in(fd, argc > 5 ? (unsigned long)atoi(argv[5]) : 0, (unsigned long)atoi(argv[4])); all_out(fd, "okay", 4); return 0; }
        printf("in the new program %lu\n", to_end(fd, 1000));
        stream_out(fd, 4, 70000, 1000);
        return 0;
    }
    server = !strcmp(argv[1], "server");
    /* Numbers that the cases take for nobody's: whoever started this may have left some open. */
    closefrom(3);
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (server) {
        int l = socket(AF_INET, SOCK_STREAM, 0);
        MUST(l >= 0 && bind(l, (struct sockaddr *)&a, len) == 0 && listen(l, 5) == 0);
        MUST(getsockname(l, (struct sockaddr *)&a, &len) == 0);
        printf("%d\n", ntohs(a.sin_port));
        fflush(stdout);
        MUST((fd = accept(l, NULL, NULL)) >= 0);
        close(l);
    } else {
        MUST((fd = socket(AF_INET, SOCK_STREAM, 0)) >= 0);
        a.sin_port = htons((unsigned short)atoi(argv[3]));
        MUST(connect(fd, (struct sockaddr *)&a, len) == 0);
    }
    /* For `fastsock status`: the server's calls could go through a ring before the connection is fast. */
    if (server && getenv("CALLS_BY_RING") && !own_ring()) fprintf(stderr, "no ring\n");
    { int one = 1; MUST(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0); }
    warm(fd, server);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(cases[i].name, argv[2])) {
            signal(SIGPIPE, SIG_DFL);
            cases[i].run(fd, server);
            fflush(stdout);
            return 0;
        }
    return 2;
}
