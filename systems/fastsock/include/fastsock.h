/* fastsock.h: receive posting between the two ends of a TCP connection within a host.
 *
 * Both programs have the connection, made by accept() and connect(), and both ask for this. From then on they send messages through shared memory: am_posting_buffer(),
 * am_post(), am_send() and am_receive() of am.h, on what they get here; am_posting_free() ends it. The TCP connection stays theirs, and nothing is put on it: a program
 * whose peer is on another host, or has not this library, is refused and goes on over TCP.
 *
 * Link with libfastsock_native.so or libfastsock_native.a (the package fastsock-native), which have what am.h declares, too. Nothing of libfastsock.so, which is for
 * programs that know nothing of fast sockets, is needed; with it loaded as well, both work.
 */
#ifndef FASTSOCK_H
#define FASTSOCK_H

#include <am.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `socket` is a connected TCP socket that this program accepted. Waits until the other end calls fastsock_connected(), for the patience of `options` at most (which may
 * be null; its sizes count). A null pointer, and a sentence in `error` (which may be null), where the connection leaves the host, the other end does not come or is
 * another user's. */
struct am_posting *fastsock_accepted(int socket, const struct am_options *options, struct am_error *error);

/* The same for a socket that this program connected: waits until the other end calls fastsock_accepted(). */
struct am_posting *fastsock_connected(int socket, const struct am_options *options, struct am_error *error);

#ifdef __cplusplus
}
#endif
#endif
