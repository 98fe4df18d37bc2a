"""Part `fabrics` of `make bench`: pipegauge over UCX against ucx_perftest, and over libfabric against fi_pingpong, at like settings in pairs that
take turns. Both sides of a pair are told the same transport, size and number of messages, wait by calling the library, and are pinned to the same
CPUs. No I/O but in `part_fabrics` and what it calls: scripts/test-bench.py tests the rest.
"""
import os
import re
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass

SMALL, BLOCK = 64, 131072
# Messages of a trial, about a second on a machine that is left alone.
WARM, TIMES = 1000, {SMALL: 20000, BLOCK: 8000}
PORT = "11240"


@dataclass(frozen=True)
class Fabric:
    """One comparison: a path of pipegauge, and the tool of the same library with what it is told beside size and times."""
    path: str
    pattern: str
    program: str
    # Words before the tool's own (environment), and flags.
    before: tuple
    flags: tuple
    size: int = SMALL

    @property
    def times(self):
        return TIMES[self.size]

    @property
    def a_rate(self):
        """Whether its figure is bits a second; else it is seconds."""
        return self.size == BLOCK

    @property
    def what(self):
        """What is measured, in words."""
        if self.pattern == "ping-pong":
            return f"{self.size} B, RTT/2"
        return f"{self.size >> 10} KiB {self.pattern}" if self.a_rate else f"{self.pattern} of {self.size} B"

    def module(self):
        return self.path.split(":")[0]

    def mine(self):
        """The arguments of pipegauge: one trial, of which the mean counts, as the tool's own figure is one."""
        return [self.path, "--pattern", self.pattern, "--sizes", str(self.size), "--trials", "1", "--repeats", str(self.times)]

    def server(self):
        port = ["-B", PORT] if self.program == "fi_pingpong" else ["-p", PORT]
        more = self.common() if self.program == "fi_pingpong" else []
        return [*self.before, self.program, *port, *more]

    def client(self):
        port = ["-P", PORT] if self.program == "fi_pingpong" else ["-p", PORT]
        at = ["127.0.0.1"]
        if self.program == "fi_pingpong":
            return [*self.before, self.program, *port, *self.common(), *at]
        return [*self.before, self.program, *at, *port, *self.common()]

    def common(self):
        if self.program == "fi_pingpong":
            return [*self.flags, "-I", str(self.times), "-S", str(self.size)]
        return [*self.flags, "-s", str(self.size), "-n", str(self.times), "-w", str(WARM), "-f", "-v"]

    def read(self, text):
        """Its figure: seconds of half a round trip or of an access, or bits a second."""
        if self.program == "fi_pingpong":
            return of_pingpong(text, self.size)
        latency, rate = of_perftest(text)
        return rate if self.a_rate else latency


def of_perftest(text):
    """Mean seconds of a message and bits a second, from its line of commas; it counts megabytes of 2^20."""
    rows = [line.split(",") for line in text.splitlines() if re.match(r"^\d+(,[\d.]+){7}$", line.strip())]
    if not rows:
        raise RuntimeError(f"no figures in: {text[-400:]}")
    return float(rows[-1][2]) * 1e-6, float(rows[-1][4]) * 1024 * 1024 * 8


def of_pingpong(text, size):
    """Seconds of a transfer, half a round trip: the last column but one of the row of this size."""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[0] == str(size):
            return float(fields[6]) * 1e-6
    raise RuntimeError(f"no row of {size} bytes in: {text[-400:]}")


# What ucx_perftest calls the tests of its upper layer: small messages to and fro, and large ones one way.
UCX_MESSAGES = {"tag": ("tag_lat", "tag_bw"), "am": ("ucp_am_lat", "ucp_am_bw"), "stream": ("stream_lat", "stream_bw")}


def ucx(path, tls, pattern, test, size):
    # The module keeps to the loopback interface, over which both sides meet. pipegauge has one send or access under way, so the tool has one, too.
    one = () if pattern == "ping-pong" else ("-O", "1")
    return Fabric(path, pattern, "ucx_perftest", ("env", f"UCX_TLS={tls}", "UCX_NET_DEVICES=lo"), ("-t", test, *one), size)


def ucx_messages(op, tls):
    latency, rate = UCX_MESSAGES[op]
    path = f"ucx:tls={tls},op={op}"
    return [ucx(path, tls, "ping-pong", latency, SMALL), ucx(path, tls, "stream", rate, BLOCK)]


def ucx_accesses(tls):
    """Its put latency is of puts to and fro, which pipegauge has no pattern of."""
    path = f"ucx:tls={tls}"
    return [ucx(path, tls, "get", "ucp_get", SMALL), ucx(path, tls, "get", "ucp_get", BLOCK), ucx(path, tls, "put", "ucp_put_bw", BLOCK)]


def libfabric(provider, endpoint, op="message"):
    mode = "tagged" if op == "tagged" else "msg"
    return Fabric(f"libfabric:provider={provider},endpoint={endpoint},op={op}", "ping-pong", "fi_pingpong", (),
                  ("-p", provider, "-e", endpoint, "-m", mode))


FABRICS = [*(fabric for op in UCX_MESSAGES for tls in ("tcp", "shm") for fabric in ucx_messages(op, tls)),
           *ucx_accesses("tcp"), *ucx_accesses("shm"),
           libfabric("tcp", "rdm"), libfabric("tcp", "rdm", "tagged"), libfabric("tcp", "msg"), libfabric("shm", "rdm"), libfabric("udp", "dgram")]


def ours(fabric):
    from common import pipegauge, trials
    found = trials(pipegauge(*fabric.mine()))[0]
    if fabric.pattern == "stream":
        return found["far"]["bytes"] * 8 / found["far"]["seconds"]
    each = found["seconds"] / found["repeats"]
    if fabric.pattern == "ping-pong":
        return each / 2
    return fabric.size * 8 / each if fabric.a_rate else each


def theirs(fabric):
    from common import WORK
    from together import ended, started
    server = started(fabric.server(), "1")
    try:
        time.sleep(0.5)
        client = subprocess.run(["taskset", "-c", "0", *fabric.client()], capture_output=True, text=True, timeout=60, cwd=WORK)
        return fabric.read(client.stdout + client.stderr)
    finally:
        ended([server])


def part_fabrics():
    from common import PAIRS, ROOT, WORK, run, say, table
    from pairs import interleaved, ratio
    folder = os.path.join(WORK, "modules")
    run([os.path.join(ROOT, "scripts/modules.sh"), folder])
    os.environ["PIPEGAUGE_MODULES"] = folder
    rows, failed = [], (RuntimeError, KeyError, IndexError, OSError, subprocess.TimeoutExpired)
    for fabric in FABRICS:
        if not shutil.which(fabric.program) or not os.path.exists(os.path.join(folder, fabric.module() + ".so")):
            say(f"skipped: {fabric.path}, as {fabric.program} or the library is not installed")
            continue
        try:
            pairs = interleaved(PAIRS, lambda: ours(fabric), lambda: theirs(fabric), failed=failed)
        except failed as e:
            say(f"{fabric.path}: {e}")
            continue
        unit, scale = ("Gbit/s", 1e-9) if fabric.a_rate else ("us", 1e6)
        median = lambda i: f"{statistics.median(p[i] for p in pairs) * scale:.2f} {unit}"
        rows.append([f"`{fabric.path}`, {fabric.what}", f"`{' '.join([fabric.program, *fabric.flags])}`", median(1), median(0), ratio(pairs), len(pairs)])
    table("UCX against ucx_perftest, libfabric against fi_pingpong", ["pipegauge", "peer", "peer (median)", "pipegauge (median)", "ratio pipegauge/peer, paired [95%]", "pairs"], rows,
          f"Pairs in turns, each side first in every other one; both pinned to CPUs 0 and 1, over the same transport and the loopback interface, as many messages or round trips of one size, means. "
          "Of times lower is better, of rates higher; not told apart: the interval has 1 in it. ucx_perftest times a stream where it is sent, pipegauge where it arrives. A put of pipegauge is over when its bytes are there (a flush after each), one of ucp_put_bw when its memory may be used again. fi_pingpong sends small messages by fi_inject, pipegauge all by fi_send.")
