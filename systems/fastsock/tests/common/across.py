"""A server and a client in two networks: lines there and back, each with a word of its pair's own, so that a line of another pair's shows."""
import signal
import socket
import sys

# What hangs fails.
signal.alarm(200)
role, here, there, word, count = *sys.argv[1:5], int(sys.argv[5])


def address(text):
    host, port = text.rsplit(":", 1)
    return host, int(port)


def reader(connection):
    left = b""
    while True:
        while b"\n" not in left:
            more = connection.recv(65536)
            if not more:
                return
            left += more
        line, left = left.split(b"\n", 1)
        yield line


family = socket.AF_INET6 if ":" in address(here)[0] else socket.AF_INET
own = socket.socket(family)
own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
own.bind(address(here))
if role == "server":
    own.listen()
    print("listens", flush=True)
    connection, _ = own.accept()
    total = 0
    for line in reader(connection):
        assert line.startswith(word.encode()), line
        connection.sendall(line + b" back\n")
        total += 1
    print(total, "lines", flush=True)
else:
    own.connect(address(there))
    lines = reader(own)
    for i in range(count):
        if i in (200, 400) and sys.argv[6:] == ["pauses"]:
            print("pauses", flush=True)
            sys.stdin.readline()
        line = f"{word} {i} {'x' * (i % 300)}".encode()
        own.sendall(line + b"\n")
        got = next(lines)
        assert got == line + b" back", got
    print(count, "lines", flush=True)
    if sys.argv[6:] == ["stays"]:
        sys.stdin.read()
own.close()
