"""The peers of `make bench`: how each is run, at which settings of the socket, and how pipegauge is run at the same ones.

Both sides of a pair have TCP_NODELAY alike, the same congestion control by name, socket buffers left to the system, the same
write size, and are pinned to the same CPUs. A peer without a flag for one of these decides it for both sides. No I/O but
`system_congestion`: scripts/test-bench.py tests the rest.
"""
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

BLOCK = 131072
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}


@dataclass(frozen=True)
class Settings:
    """What a TCP socket is set to."""
    nodelay: bool
    congestion: str

    def mine(self):
        """As flags of pipegauge."""
        return ["--nodelay" if self.nodelay else "--no-nodelay", "--congestion", self.congestion]

    def __str__(self):
        return f"{'NODELAY' if self.nodelay else 'no NODELAY'}, {self.congestion}"


def system_congestion(root="/"):
    """The congestion control of sockets that ask for none."""
    return Path(root, "proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()


def of_netpipe(text, stream):
    """Of the first row of its file: bytes, throughput in Mbit/s of 2^20, seconds of half a round trip."""
    row = [float(x) for x in text.splitlines()[0].split()]
    return row[1] * 1024 * 1024 if stream else row[2]


def number(pattern, text):
    m = re.search(pattern, text)
    if not m:
        raise RuntimeError(f"no '{pattern}' in: {text[-400:]}")
    return float(m.group(1))


def of_iperf3(text):
    return json.loads(text[text.index("{"):])["end"]["sum_received"]["bits_per_second"]


def of_qperf_latency(text):
    m = re.search(r"latency\s*=\s*([\d.]+)\s*(ns|us|ms)", text)
    if not m:
        raise RuntimeError(f"no latency in: {text[-400:]}")
    return float(m.group(1)) * UNITS[m.group(2)]


def of_netperf(text):
    """The first field of the only line that `-P 0 -- -o THROUGHPUT` prints."""
    lines = [line for line in text.splitlines() if re.match(r"^[\d.]+\s*(,|$)", line)]
    if not lines:
        raise RuntimeError(f"no throughput in: {text[-400:]}")
    return float(lines[-1].split(",")[0])


@dataclass(frozen=True)
class Peer:
    """A tool and how it measures one thing."""
    name: str
    program: str
    # Whether its sockets have TCP_NODELAY.
    nodelay: bool
    # How long its trials are: "sustained" (about a second), or a schedule of its own.
    trial: str
    # Command lines; `congestion` is a name, which only a tool with a flag for it can take.
    server: Callable[[str], list]
    client: Callable[[str], list]
    # Its figure from what it prints; none where it writes NetPIPE's file.
    read: Optional[Callable[[str], float]]
    # Whether it has a flag of congestion control.
    chooses: bool = False
    # Of how many trials it reports the best.
    best_of: int = 1

    def settings(self, system, wanted=None):
        """What both sides are set to: `wanted` where the tool can, else what the system gives sockets."""
        return Settings(self.nodelay, wanted if wanted and self.chooses else system)


def netpipe(name, trial, *flags):
    """NetPIPE 3.7 sets TCP_NODELAY on its sockets and reports the best of three trials. It wants the same flags on both sides
    (else: errno=104)."""
    flags = ["-p", "0", *flags]
    return Peer(name, "NPtcp", True, trial, lambda _: ["NPtcp", *flags], lambda _: ["NPtcp", "-h", "127.0.0.1", *flags, "-o", "np.out"], None, best_of=3)


LATENCY = [
    netpipe("NetPIPE (shortest of its trials)", "NetPIPE's schedule", "-l", "64", "-u", "64"),
    Peer("sockperf", "sockperf", True, "sustained",
         lambda _: ["sockperf", "sr", "--tcp", "-p", "11190"],
         lambda _: ["sockperf", "pp", "--tcp", "-p", "11190", "-m", "64", "-t", "1", "-i", "127.0.0.1"],
         lambda t: number(r"avg-latency=([\d.]+)", t) * 1e-6),
    Peer("qperf", "qperf", False, "sustained",
         lambda _: ["qperf", "-lp", "11191"],
         lambda _: ["qperf", "-lp", "11191", "-m", "64", "-t", "1", "-u", "127.0.0.1", "tcp_lat"],
         of_qperf_latency),
    Peer("netperf -D", "netperf", True, "sustained",
         lambda _: ["netserver", "-D", "-p", "11194"],
         lambda c: ["netperf", "-H", "127.0.0.1", "-p", "11194", "-t", "TCP_RR", "-l", "1", "-P", "0", "--", "-r", "64,64", "-D", "-K", c, "-o", "THROUGHPUT"],
         lambda t: 0.5 / of_netperf(t), chooses=True),
]

THROUGHPUT = [
    netpipe("NetPIPE -s (best of 3 trials)", "sustained", "-s", "-l", str(BLOCK), "-u", str(BLOCK), "-n", "40000"),
    Peer("qperf", "qperf", False, "sustained",
         lambda _: ["qperf", "-lp", "11191"],
         lambda _: ["qperf", "-lp", "11191", "-m", str(BLOCK), "-t", "1", "-uu", "127.0.0.1", "tcp_bw"],
         lambda t: number(r"bw\s*=\s*([\d.]+)\s*bytes/sec", t) * 8),
    Peer("iperf3 -N", "iperf3", True, "sustained",
         lambda _: ["iperf3", "-s", "-p", "11192", "-1"],
         lambda c: ["iperf3", "-c", "127.0.0.1", "-p", "11192", "-t", "1", "-l", str(BLOCK), "-N", "-C", c, "-J"],
         of_iperf3, chooses=True),
    Peer("nuttcp -D", "nuttcp", True, "sustained",
         lambda _: ["nuttcp", "-S", "--nofork", "-P", "11193"],
         lambda _: ["nuttcp", "-P", "11193", "-D", "-T1", f"-l{BLOCK}", "-fparse", "127.0.0.1"],
         lambda t: number(r"rate_Mbps=([\d.]+)", t) * 1e6),
    Peer("netperf -D", "netperf", True, "sustained",
         lambda _: ["netserver", "-D", "-p", "11194"],
         lambda c: ["netperf", "-H", "127.0.0.1", "-p", "11194", "-t", "TCP_STREAM", "-l", "1", "-P", "0", "--", "-m", str(BLOCK), "-M", str(BLOCK), "-D", "-K", c, "-o", "THROUGHPUT"],
         lambda t: of_netperf(t) * 1e6, chooses=True),
]


def parallel(flows):
    """iperf3 with so many streams; up to version 3.15 one thread serves all of them, from 3.16 on each has its own."""
    return Peer(f"iperf3 -N -P {flows}", "iperf3", True, "sustained",
                lambda _: ["iperf3", "-s", "-p", "11195", "-1"],
                lambda c: ["iperf3", "-c", "127.0.0.1", "-p", "11195", "-t", "1", "-l", str(BLOCK), "-N", "-P", str(flows), "-C", c, "-J"],
                of_iperf3, chooses=True)


FLOWS = [parallel(flows) for flows in (2, 4, 8)]
