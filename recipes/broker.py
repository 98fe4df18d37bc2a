#!/usr/bin/env python3
"""Connects standard input and output to a message broker, at whose other end the same program is an echo: a path for `pipegauge run`.

    pipegauge run 'exec:label=redis,python3 broker.py redis 127.0.0.1:6379' 'exec:label=none,python3 broker.py none'

What is read is published in messages on one channel, and what comes back on another one is written. Without --channel the echo is a process
of this program's own. With --channel NAME it is another that was started with --echo, on this host or another:

    python3 broker.py --echo --channel NAME nats 192.0.2.7:4222

`none` is the same two processes over a socket between them: what the broker adds is the difference. Of redis the password is taken from
REDISCLI_AUTH, of nats the name and password from NATS_USER and NATS_PASSWORD. Needs no packages."""

import argparse
import json
import os
import re
import secrets
import select
import socket
import sys
import time

CHUNK = 1 << 20  # bytes of a message at most, where the broker takes so many
# Bytes that may be on their way there and back. Brokers cut a subscriber off that is too far behind (Redis from 8 MB on, NATS from 64 MB on).
WINDOW = 4 << 20
WAIT = 10.0  # seconds for the broker to answer, and for the echo


class Failed(Exception):
    """What was tried, what was found, what to do."""


def connected(at):
    """A TCP connection to HOST:PORT."""
    host, _, port = at.rpartition(":")
    try:
        sock = socket.create_connection((host.strip("[]"), int(port)), WAIT)
    except (OSError, ValueError) as e:
        raise Failed(f"connecting to {at}: {e}: does the broker listen there (HOST:PORT)?") from None
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout(None)
    return sock


def gone(of):
    return Failed(f"{of} closed the connection: its log says why (a subscriber that is too far behind is cut off)")


def send(sock, of, words):
    try:
        sock.sendall(words)
    except OSError:
        raise gone(of) from None


class Bytes:
    """What a socket receives, taken line by line or in so many bytes. What is not whole yet stays."""

    def __init__(self, sock, of):
        self.sock, self.of, self.held, self.at = sock, of, bytearray(), 0

    def more(self):
        """Receives what is there; waits for something where nothing is."""
        # What was taken goes, once in a while.
        if self.at == len(self.held) or self.at > CHUNK:
            del self.held[:self.at]
            self.at = 0
        try:
            came = self.sock.recv(1 << 18)
        except OSError:
            came = b""
        if not came:
            raise gone(self.of)
        self.held += came

    def line(self):
        """The next line without its end; None where it is not whole."""
        end = self.held.find(b"\r\n", self.at)
        if end < 0:
            return None
        line, self.at = bytes(self.held[self.at:end]), end + 2
        return line

    def block(self, size):
        """So many bytes and the end of a line after them; None where they are not all here."""
        if len(self.held) - self.at < size + 2:
            return None
        block = bytes(memoryview(self.held)[self.at:self.at + size])
        self.at += size + 2
        return block

    def await_line(self):
        """The next line, waited for as a broker's answer is."""
        until = time.monotonic() + WAIT
        while (line := self.line()) is None:
            if not select.select([self.sock], [], [], max(0, until - time.monotonic()))[0]:
                raise Failed(f"{self.of} did not answer within {WAIT:.0f} s: is it a broker of this kind?")
            self.more()
        return line


class Redis:
    """Two connections: one that subscribes may do nothing else."""

    largest = CHUNK

    def __init__(self, at, channel):
        self.of = f"redis at {at}"
        self.out, sock = connected(at), connected(at)
        self.bytes = Bytes(sock, self.of)
        answers = Bytes(self.out, self.of)
        self.log_in(self.out, answers)
        self.log_in(sock, self.bytes)
        # Nobody reads how many received what was published.
        send(self.out, self.of, b"CLIENT REPLY OFF\r\n")
        send(sock, self.of, self.command(b"PSUBSCRIBE", channel.encode()))
        # Its answer has six lines: what was done, to which channel, and how many there are.
        for _ in range(6):
            self.refused(self.bytes.await_line())

    def log_in(self, sock, answers):
        password = os.environ.get("REDISCLI_AUTH")
        if password:
            send(sock, self.of, self.command(b"AUTH", password.encode()))
            self.refused(answers.await_line())
        send(sock, self.of, b"PING\r\n")
        if (line := answers.await_line()) != b"+PONG":
            self.refused(line)
            raise Failed(f"{self.of} answered a PING with {line[:80]!r}: is it Redis?")

    def refused(self, line):
        if line.startswith(b"-"):
            raise Failed(f"{self.of} refused: {line[1:].decode(errors='replace')} (REDISCLI_AUTH holds a password)")

    @staticmethod
    def command(*words):
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)

    def publish(self, channel, message):
        send(self.out, self.of, self.command(b"PUBLISH", channel, message))

    def messages(self):
        """Each message that is here, with its channel: pmessage, pattern, channel, content."""
        held = self.bytes
        while True:
            at, words = held.at, []
            head = held.line()
            while head is not None and len(words) < 4:
                size = held.line()
                word = None if size is None else held.block(int(size[1:]))
                if word is None:
                    break
                words.append(word)
            if len(words) < 4:
                held.at = at
                return
            yield words[2], words[3]


class Nats:
    """One connection, in the words of NATS' protocol for clients."""

    def __init__(self, at, channel):
        self.of = f"nats at {at}"
        self.out = connected(at)
        self.bytes = Bytes(self.out, self.of)
        info = self.bytes.await_line()
        if not info.startswith(b"INFO "):
            raise Failed(f"{self.of} greeted with {info[:80]!r}: is it NATS?")
        self.largest = min(CHUNK, json.loads(info[5:]).get("max_payload", CHUNK))
        given = {"user": os.environ.get("NATS_USER"), "pass": os.environ.get("NATS_PASSWORD")}
        options = {"verbose": False, "pedantic": False, "lang": "python", "version": "1", **{k: v for k, v in given.items() if v}}
        send(self.out, self.of, b"CONNECT %s\r\nSUB %s 1\r\nPING\r\n" % (json.dumps(options).encode(), channel.encode()))
        while (line := self.bytes.await_line()) != b"PONG":
            self.told(line)

    def told(self, line):
        if line.startswith(b"-ERR"):
            raise Failed(f"{self.of} refused: {line[5:].decode(errors='replace')} (NATS_USER and NATS_PASSWORD hold a name and password)")
        if line == b"PING":
            send(self.out, self.of, b"PONG\r\n")

    def publish(self, channel, message):
        send(self.out, self.of, b"PUB %s %d\r\n%s\r\n" % (channel, len(message), message))

    def messages(self):
        held = self.bytes
        while True:
            at = held.at
            line = held.line()
            if line is None:
                return
            if not line.startswith(b"MSG "):
                self.told(line)
                continue
            words = line.split(b" ")
            message = held.block(int(words[-1]))
            if message is None:
                held.at = at
                return
            yield words[1], message


class Direct:
    """No broker: a socket to the other process, over which each message follows its channel and its size."""

    # Both ends may wait for room at once, unless all that is on its way has room.
    largest = 1 << 16

    def __init__(self, sock):
        self.of = "the other process"
        self.out, self.bytes = sock, Bytes(sock, self.of)

    def publish(self, channel, message):
        send(self.out, self.of, b"%s %d\r\n%s\r\n" % (channel, len(message), message))

    def messages(self):
        held = self.bytes
        while True:
            at = held.at
            line = held.line()
            channel, size = line.split(b" ") if line is not None else (b"", 0)
            message = held.block(int(size)) if line is not None else None
            if message is None:
                held.at = at
                return
            yield channel, message


BROKERS = {"redis": Redis, "nats": Nats}


def echo(broker, channel, lifeline=None):
    """Publishes whatever comes on CHANNEL.there.X on CHANNEL.back.X, until the lifeline is closed."""
    there, back = f"{channel}.there.".encode(), f"{channel}.back.".encode()
    inputs = [broker.bytes.sock] + ([lifeline] if lifeline is not None else [])
    while True:
        for name, message in broker.messages():
            broker.publish(back + name.removeprefix(there), message)
        if lifeline in select.select(inputs, [], [])[0]:
            return
        broker.bytes.more()


def greet(broker, there, child):
    """Waits for the echo. Empty messages are those of the greeting; what is published before anybody subscribes is lost."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        if child and os.waitpid(child, os.WNOHANG)[0]:
            raise Failed("the echo ended, and says why above")
        broker.publish(there, b"")
        if select.select([broker.bytes.sock], [], [], 0.05)[0]:
            broker.bytes.more()
        if any(True for _ in broker.messages()):
            return
    raise Failed(f"no echo answered within {WAIT:.0f} s: start one with --echo, the same broker and the same --channel")


def write(message):
    """All of it: what takes standard output may take a part at a time."""
    left = memoryview(message)
    while left:
        left = left[os.write(1, left):]


def carry(broker, there, window):
    """Publishes standard input, and writes what comes back, until the input ends."""
    away = 0
    sock = broker.bytes.sock
    while True:
        inputs = [sock, 0] if away < window else [sock]
        ready = select.select(inputs, [], [])[0]
        if 0 in ready:
            read = os.read(0, min(broker.largest, window - away))
            if not read:
                return
            broker.publish(there, read)
            away += len(read)
        if sock in ready:
            broker.bytes.more()
            for _, message in broker.messages():
                write(message)
                away -= len(message)


def fork(run):
    """A process that runs this, given what tells it that this one has ended."""
    lifeline, held = os.pipe()
    child = os.fork()
    if child:
        os.close(lifeline)
        return child
    os.close(held)
    # Whoever reads the output waits for its end, which this process must not put off.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    try:
        run(lifeline)
    except (Failed, OSError) as e:
        # Where the other process ends at the same time, it had the same failure, or none.
        if not select.select([lifeline], [], [], 0.2)[0]:
            print(f"broker.py: the echo: {e}", file=sys.stderr, flush=True)
        os._exit(1)
    except KeyboardInterrupt:
        pass
    os._exit(0)


def near(given, channel, own):
    """The end that has standard input and output; `own`: the echo is a process of its own."""
    name = secrets.token_hex(6)
    there, back = f"{channel}.there.{name}".encode(), f"{channel}.back.{name}"
    if given.kind == "none":
        here, far = socket.socketpair()

        def run(lifeline):
            here.close()
            echo(Direct(far), channel, lifeline)

        child = fork(run)
        far.close()
        broker, window = Direct(here), Direct.largest
    else:
        kind = BROKERS[given.kind]
        child = fork(lambda lifeline: echo(kind(given.at, f"{channel}.there.*"), channel, lifeline)) if own else 0
        broker, window = kind(given.at, back), WINDOW
    greet(broker, there, child)
    carry(broker, there, window)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("kind", choices=[*BROKERS, "none"], help="which broker, or none")
    parser.add_argument("at", nargs="?", metavar="HOST:PORT", help="where it listens")
    parser.add_argument("--channel", help="the echo is another process, started with --echo and the same name")
    parser.add_argument("--echo", action="store_true", help="be the echo")
    given = parser.parse_args()
    if given.kind != "none" and not given.at:
        parser.error(f"{given.kind} needs the HOST:PORT at which it listens")
    if given.echo and (given.kind == "none" or not given.channel):
        parser.error("--echo is of a broker, and needs the --channel of the other end")
    if given.channel and not re.fullmatch(r"[A-Za-z0-9_-]+", given.channel):
        parser.error("a channel is of letters, digits, '-' and '_'")
    channel = f"pipegauge-{given.channel or secrets.token_hex(6)}"
    try:
        if given.echo:
            broker = BROKERS[given.kind](given.at, f"{channel}.there.*")
            print(f"echo at {given.kind} {given.at}, channel {given.channel}", flush=True)
            echo(broker, channel)
        else:
            near(given, channel, own=not given.channel)
    except (Failed, OSError) as e:
        sys.exit(f"broker.py: {e}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
