"""Parts of `make bench` in which several processes run at once, or in which the CPU time is what is compared: message rate over pairs,
latency under load, and CPU time of a byte. Each figure is held against a peer's of the same work, in pairs that take turns."""
import json
import os
import shutil
import statistics
import subprocess
import time

import peers
from common import PAIRS, WORK, pipegauge, points, say, table, trials
from pairs import interleaved, ratio

SMALL = 64
# Of a stream whose CPU time is read.
SECONDS = 2
SETTINGS = lambda: peers.Settings(True, peers.system_congestion())


def missing(*programs):
    absent = [p for p in programs if not shutil.which(p)]
    for program in absent:
        say(f"skipped: {program} is not installed")
    return bool(absent)


def started(command, cpu):
    return subprocess.Popen(["taskset", "-c", cpu, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=WORK)


def ended(processes):
    for p in processes:
        if p.poll() is None:
            p.terminate()
    for p in processes:
        try:
            p.wait(3)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


# -- message rate over pairs ----------------------------------------------------------------------------------------------
def pairs_mine(n):
    """Messages a second of all pairs: the best of a few trials is no figure of a rate, so the median of them."""
    e = pipegauge("tcp", "--pairs", str(n), "--pattern", "stream", "--sizes", str(SMALL), "--budget", "3s", *SETTINGS().mine())
    return 1 / points(e)[SMALL]["median"]


def pairs_theirs(n):
    """So many nuttcp at once, each with a server of its own: the sum of what each carried in its second."""
    ports = range(11210, 11210 + n)
    servers = [started(["nuttcp", "-S", "--nofork", "-P", str(port)], "1") for port in ports]
    try:
        time.sleep(0.3)
        clients = [started(["nuttcp", "-P", str(port), "-p", str(port + 100), "-D", "-T1", f"-l{SMALL}", "-fparse", "127.0.0.1"], "0") for port in ports]
        said = [c.communicate(timeout=60)[0] for c in clients]
        return sum(peers.number(r"rate_Mbps=([\d.]+)", text) * 1e6 / 8 / SMALL for text in said)
    finally:
        ended(servers)


def part_pairs():
    if missing("nuttcp"):
        return
    rows = []
    for n in (1, 2, 4):
        pairs = interleaved(PAIRS, lambda: pairs_mine(n), lambda: pairs_theirs(n), failed=(RuntimeError, KeyError, subprocess.TimeoutExpired))
        median = lambda i: f"{statistics.median(p[i] for p in pairs) / 1e6:.3f} million/s"
        rows.append([n, median(1), median(0), ratio(pairs), len(pairs)])
    table(f"Message rate of {SMALL} B over pairs of processes, TCP", ["pairs", "nuttcp, as many at once (median)", "pipegauge --pairs (median)", "ratio pipegauge/nuttcp, paired [95%]", "pairs of runs"], rows,
          "Higher is better. NODELAY and the system's congestion control on both sides; all near processes on CPU 0 and all far ones on CPU 1 with nuttcp, where pipegauge spreads its own over the CPUs that it may use. nuttcp's processes begin when they begin, so that their sum counts seconds in which fewer than all ran; pipegauge counts common time alone.")


# -- latency under load ---------------------------------------------------------------------------------------------------
def load_mine():
    e = pipegauge("tcp", "--load", "1", "--sizes", str(SMALL), "--budget", "4s", "--wait", "block", *SETTINGS().mine())
    # The idle path is the first of the two.
    idle, loaded = [next(p for p in e if p["event"] == "point" and p["path"] == path and p["size"] == SMALL)["median"] for path in (0, 1)]
    return loaded / idle


def sockperf():
    client = ["sockperf", "pp", "--tcp", "-p", "11230", "-m", str(SMALL), "-t", "1", "-i", "127.0.0.1"]
    said = subprocess.run(["taskset", "-c", "0", *client], capture_output=True, text=True, timeout=60, cwd=WORK).stdout
    return peers.number(r"percentile 50.000 =\s*([\d.]+)", said)


def load_theirs():
    """sockperf alone, and again while an iperf3 stream fills the loopback interface the same way."""
    server = started(["sockperf", "sr", "--tcp", "-p", "11230"], "1")
    other = started(["iperf3", "-s", "-p", "11231"], "1")
    stream = None
    try:
        time.sleep(0.5)
        idle = sockperf()
        stream = started(["iperf3", "-c", "127.0.0.1", "-p", "11231", "-t", "20", "-N", "-l", str(peers.BLOCK)], "0")
        time.sleep(0.5)
        return sockperf() / idle
    finally:
        ended([p for p in (stream, other, server) if p])


def part_load():
    if missing("sockperf", "iperf3"):
        return
    pairs = interleaved(PAIRS, load_mine, load_theirs, failed=(RuntimeError, StopIteration, subprocess.TimeoutExpired))
    median = lambda i: f"{statistics.median(p[i] for p in pairs):.2f} times"
    table(f"Latency of {SMALL} B under the load of one stream, over that of the idle path", ["pipegauge --load 1 (median)", "sockperf beside iperf3 (median)", "ratio of the two, paired [95%]", "pairs"],
          [[median(0), median(1), ratio(pairs), len(pairs)]],
          "How many times as long the median takes while one stream goes the same way. Probe and load share two CPUs on both sides; what the figures tell is how the scheduler divides these as much as how long messages queue.")


# -- CPU time of a byte ---------------------------------------------------------------------------------------------------
def stream_of(repeats):
    """The trial of one stream of so many blocks."""
    e = pipegauge("tcp", "--pattern", "stream", "--sizes", str(peers.BLOCK), "--trials", "1", "--repeats", str(repeats), "--wait", "block", *SETTINGS().mine())
    return trials(e)[0]


def cost_mine():
    """CPU time of the sending thread for a byte, as the command reports it, in a trial about as long as the peer's."""
    tried = stream_of(5000)
    t = stream_of(round(5000 * SECONDS / tried["seconds"]))
    return t["cost"]["cpu_ns"] * 1e-9 / (t["cost"]["iterations"] * peers.BLOCK)


def cost_theirs():
    """CPU time of the iperf3 client's process (getrusage) for a byte that it sent."""
    server = started(["iperf3", "-s", "-p", "11232", "-1"], "1")
    try:
        time.sleep(0.3)
        out = os.path.join(WORK, "iperf3.json")
        with open(out, "w") as to:
            client = subprocess.Popen(["taskset", "-c", "0", "iperf3", "-c", "127.0.0.1", "-p", "11232", "-t", str(SECONDS), "-N", "-l", str(peers.BLOCK), "-C",
                                       peers.system_congestion(), "-J"], stdout=to, stderr=subprocess.STDOUT)
            _, _, used = os.wait4(client.pid, 0)
            client.returncode = 0
        text = open(out).read()
        return (used.ru_utime + used.ru_stime) / json.loads(text[text.index("{"):])["end"]["sum_sent"]["bytes"]
    finally:
        ended([server])


def part_cost():
    if missing("iperf3"):
        return
    pairs = interleaved(PAIRS, cost_mine, cost_theirs, failed=(RuntimeError, KeyError, ValueError, subprocess.TimeoutExpired))
    median = lambda i: f"{statistics.median(p[i] for p in pairs) * 1e12:.1f} ps/B"
    table("CPU time of a byte sent, 128 KiB stream over TCP", ["iperf3 -N, getrusage of its client (median)", "pipegauge, as it reports (median)", "ratio pipegauge/iperf3, paired [95%]", "pairs"],
          [[median(1), median(0), ratio(pairs), len(pairs)]],
          "Lower is less CPU time. Two programs that send the same way should cost about the same: iperf3's figure is its whole process, start and reports included; pipegauge's is its sending thread between the first and the last timed message. Both send for about two seconds.")
