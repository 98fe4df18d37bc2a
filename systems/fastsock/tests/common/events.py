"""Echo over sockets that don't block: a server of asyncio, one of selectors, and clients of asyncio, selectors and time limits.

events.py server asyncio|selectors PORT; events.py client asyncio|selectors|timeout PORT. A client says whether its connection is fast.
"""
import asyncio
import ctypes
import selectors
import socket
import sys
import time

CLIENTS, LINES = 5, 120
role, kind, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def fast(descriptor):
    try:
        return bool(ctypes.CDLL(None).fastsock_is_fast(descriptor))
    except AttributeError:
        return False


def line(i, n):
    return bytes(97 + (i + n + k) % 26 for k in range(n * 97)) + b"\n"


async def serve(reader, writer):
    while data := await reader.readline():
        writer.write(data)
        await writer.drain()
    writer.close()


async def asyncio_server():
    server = await asyncio.start_server(serve, "127.0.0.1", port, limit=1 << 20)
    async with server:
        await server.serve_forever()


def selectors_server():
    chosen, waiting = selectors.DefaultSelector(), {}
    listener = socket.create_server(("127.0.0.1", port), backlog=50)
    listener.setblocking(False)
    chosen.register(listener, selectors.EVENT_READ)
    while True:
        for key, mask in chosen.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setblocking(False)
                waiting[connection] = b""
                chosen.register(connection, selectors.EVENT_READ)
                continue
            connection = key.fileobj
            if mask & selectors.EVENT_READ:
                data = connection.recv(4096)
                if not data:
                    chosen.unregister(connection)
                    connection.close()
                    del waiting[connection]
                    continue
                waiting[connection] += data
            if waiting[connection]:
                try:
                    sent = connection.send(waiting[connection])
                except BlockingIOError:
                    sent = 0
                waiting[connection] = waiting[connection][sent:]
            chosen.modify(connection, selectors.EVENT_READ | (selectors.EVENT_WRITE if waiting[connection] else 0))


async def asyncio_client(i):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    for n in range(LINES):
        writer.write(line(i, n))
        await writer.drain()
        assert await reader.readline() == line(i, n)
    said = fast(writer.get_extra_info("socket").fileno())
    writer.close()
    return said


def selectors_client():
    chosen, said = selectors.DefaultSelector(), []
    for i in range(CLIENTS):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", port))
        chosen.register(one, selectors.EVENT_WRITE, [i, 0, line(i, 0), b""])
    while chosen.get_map():
        for key, mask in chosen.select(60):
            one, state = key.fileobj, key.data
            i, n, out, got = state
            if mask & selectors.EVENT_WRITE:
                out = out[one.send(out):]
            if mask & selectors.EVENT_READ:
                got += one.recv(65536)
                if got.endswith(b"\n"):
                    assert got == line(i, n)
                    n, got = n + 1, b""
                    if n == LINES:
                        said.append(fast(one.fileno()))
                        chosen.unregister(one)
                        one.close()
                        continue
                    out = line(i, n)
            state[:] = [i, n, out, got]
            chosen.modify(one, selectors.EVENT_WRITE if out else selectors.EVENT_READ, state)
    return all(said) and len(said) == CLIENTS


def timeout_client():
    one = socket.create_connection(("127.0.0.1", port), timeout=30)
    for n in range(LINES):
        one.sendall(line(0, n))
        got = b""
        while not got.endswith(b"\n"):
            got += one.recv(65536)
        assert got == line(0, n)
    one.settimeout(0.05)
    try:
        one.recv(1)
        raise AssertionError("nothing was sent")
    except TimeoutError:
        return fast(one.fileno())


async def all_clients():
    return all(await asyncio.gather(*map(asyncio_client, range(CLIENTS))))


if role == "server":
    asyncio.run(asyncio_server()) if kind == "asyncio" else selectors_server()
else:
    until = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.02)
    said = {"asyncio": lambda: asyncio.run(all_clients()), "selectors": selectors_client, "timeout": timeout_client}[kind]()
    print("fast" if said else "kernel")
