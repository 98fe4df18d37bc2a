"""Requests of unmodified programs over kernel TCP and under fast sockets: redis with redis-benchmark, nginx with wrk, servers and clients on CPUs of their own, or
where the system puts them.

A server of each side runs all the time, the clients come in turns. scripts/test-bench.py tests what has no I/O."""
import contextlib
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from pairs import bootstrap, interleaved
from peers import number

SERVER_CPU, CLIENT_CPU = "0", "1"
PATIENCE = 60
PLACES = os.environ.get("PATH", "") + ":/usr/sbin"


def redis_server(port, folder):
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(folder)]


def nginx(port, folder):
    """One worker that answers by itself and lets a connection live as long as the client likes. Of root's it stays root's: connections of two users are the
    kernel's."""
    user = "user root; " if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error crit;\nevents {{ worker_connections 256; }}\n"
        f"http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;\n"
        f"uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; server {{ listen 127.0.0.1:{port}; location / {{ return 200 hello; }} }} }}\n")
    return ["nginx", "-e", str(folder / "error"), "-p", str(folder), "-c", str(folder / "nginx.conf")]


def redis_benchmark(clients, pipelined=1):
    """`pipelined`: requests that a client sends before it reads an answer."""
    return lambda port, requests: ["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-t", "get", "-c", str(clients), "-n", str(requests), "-q",
                                   *(["-P", str(pipelined)] if pipelined > 1 else [])]


def wrk(clients):
    return lambda port, _: ["wrk", "-t", "1", "-c", str(clients), "-d", "1", f"http://127.0.0.1:{port}/"]


def of_redis(text, requests):
    """Requests a second, and how many there were."""
    # It tells how far it has come in the same line.
    return number(r"GET: ([\d.]+) requests per second", text), requests


def of_wrk(text, _):
    if re.search(r"Non-2xx|Socket errors", text):
        raise RuntimeError(f"not every request was answered: {text.strip()[-300:]}")
    return number(r"Requests/sec:\s*([\d.]+)", text), int(number(r"(\d+) requests in", text))


@dataclass(frozen=True)
class Work:
    """Requests of one kind, and how many times the kernel's rate is the aim."""
    name: str
    target: float
    needs: tuple
    server: Callable
    client: Callable
    read: Callable
    # How many times as many requests as others: each connection needs some thousand calls to be fast most of the time.
    times: int = 1
    # Requests of a run at most.
    most: int = 1 << 40
    # On a CPU each, or where the system puts them.
    place: str = "pinned"

    def requests(self, asked):
        return min(asked * self.times, self.most)


PLACED = ("pinned", "unpinned")
REDIS, NGINX = ("redis-server", "redis-benchmark"), ("nginx", "wrk")
WORKS = [Work("redis GET, 1 client", 5, REDIS, redis_server, redis_benchmark(1), of_redis),
         Work("redis GET, 50 clients", 1.8, REDIS, redis_server, redis_benchmark(50), of_redis, times=10),
         *(Work("redis GET, 50 clients, 16 at a time", 0.95, REDIS, redis_server, redis_benchmark(50, 16), of_redis, times=100, most=2_000_000, place=place) for place in PLACED),
         Work("nginx keep-alive, 1 connection", 2.5, NGINX, nginx, wrk(1), of_wrk),
         Work("nginx keep-alive, 16 connections", 2.5, NGINX, nginx, wrk(16), of_wrk)]


def under(fastsock, work, command, cpu):
    """The command, on its CPU if the work is pinned; `fastsock`: the command that loads the library, or none."""
    return [*(["taskset", "-c", cpu] if work.place == "pinned" else []), *([fastsock, "run"] if fastsock else []), *command]


def environment():
    return {**os.environ, "PATH": PLACES, "LC_ALL": "C"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port, server):
    until = time.monotonic() + 10
    while time.monotonic() < until and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.01)
    raise RuntimeError(f"{' '.join(server.args)} does not answer at port {port}")


@contextlib.contextmanager
def serving(fastsock, work, folder):
    """The server's port and process."""
    folder.mkdir()
    port = free_port()
    server = subprocess.Popen(under(fastsock, work, work.server(port, folder), SERVER_CPU), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        answers(port, server)
        yield port, server.pid
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def family(pid):
    """The process and its children."""
    with contextlib.suppress(OSError):
        return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    return [pid]


def cpu_of(pid):
    """CPU seconds that the process and its children used so far."""
    # After the name, which may have blanks in it, user and system time are the twelfth and thirteenth field.
    fields = (Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in family(pid))
    return sum(int(f[11]) + int(f[12]) for f in fields) / os.sysconf("SC_CLK_TCK")


def once(fastsock, work, port, pid, requests):
    """Requests a second, and CPU seconds of both sides for a request."""
    requests = work.requests(requests)
    server, before = cpu_of(pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = under(fastsock, work, work.client(port, requests), CLIENT_CPU)
    ran = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    rate, count = work.read(ran.stdout, requests)
    used = cpu_of(pid) - server + after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return rate, used / count


def missing(work):
    return [program for program in work.needs if not shutil.which(program, path=PLACES)]


def compare(fastsock, work, folder, pairs, requests):
    """Rates and CPU times a request, kernel first, pair by pair."""
    with serving(None, work, folder / "kernel") as (port, pid), serving(fastsock, work, folder / "fast") as (fast_port, fast_pid):
        return interleaved(pairs, lambda: once(None, work, port, pid, requests), lambda: once(fastsock, work, fast_port, fast_pid, requests))


def row(work, pairs):
    """Of the table: rates, how many times the kernel's, CPU time of a request; and the ratio."""
    times = bootstrap([fast[0] / kernel[0] for kernel, fast in pairs])
    middle = lambda side, what: statistics.median(pair[side][what] for pair in pairs)
    return times, [work.name, *(f"{middle(side, 0) / 1e3:.1f} k/s" for side in (0, 1)), "{:.2f} [{:.2f}, {:.2f}]".format(*times),
                   *(f"{middle(side, 1) * 1e6:.1f} us" for side in (0, 1))]
