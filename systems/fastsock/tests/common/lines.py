"""A server that sends back what it gets, and a client that sends lines of every length up to 2000: plain blocking sockets."""
import socket
import sys
import time

role, port = sys.argv[1], int(sys.argv[2])
if role == "server":
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    connection, _ = listener.accept()
    total = 0
    while data := connection.recv(65536):
        connection.sendall(data)
        total += len(data)
    print(total, "bytes")
else:
    until = time.monotonic() + 60
    while True:
        client = socket.socket()
        try:
            client.connect(("127.0.0.1", port))
            break
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.02)
    for length in range(2000):
        line = bytes(97 + (length + i) % 26 for i in range(length)) + b"\n"
        client.sendall(line)
        got = b""
        while not got.endswith(b"\n"):
            got += client.recv(65536)
        assert got == line
    print("2000 lines")
