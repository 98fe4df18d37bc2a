"""Parts of `make bench` in which several processes run at once, or in which the CPU time is what is compared: message rate over pairs,
latency under load, and CPU time of a byte. Each figure is held against a peer's of the same work, in pairs that take turns."""
import json
import os
import shutil
import statistics
import subprocess
import time

import peers
from common import PAIRS, PG, WORK, pipegauge, points, say, table
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
# Its own CPU time is too short to be seen in a byte's.
LIMIT = ["timeout", "120"]


def stream_of(repeats):
    """One stream of so many messages: its run file's trials, warm-up too, and the CPU time of both sides' processes (of what a process waited for, too)."""
    file = os.path.join(WORK, "cost.run.jsonl")
    if os.path.exists(file):
        os.unlink(file)
    flags = ["--pattern", "stream", "--sizes", str(peers.BLOCK), "--trials", "1", "--repeats", str(repeats), "--wait", "block", "--pin", "0,1", *SETTINGS().mine()]
    child = subprocess.Popen([*LIMIT, PG, "run", "tcp", *flags, "-o", file, "--no-html", "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = waited(child)
    with open(file) as f:
        return [e for e in map(json.loads, f) if e["event"] == "trial"], used


def waited(child):
    """Waits for the end of a process; seconds of CPU time that it and what it waited for took."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def bytes_moved(all_trials):
    """Bytes that arrived in all trials, those before the clock started too: the CPU time of these is in the sum."""
    return sum(t["far"]["received"] * t["size"] for t in all_trials)


def cost_mine():
    """CPU time of all processes for a byte, in a run whose trial is about as long as the peer's."""
    tried, _ = stream_of(5000)
    found, used = stream_of(max(5000, round(5000 * SECONDS / tried[-1]["seconds"])))
    return used / bytes_moved(found)


def cost_theirs():
    """The same of iperf3's server and client."""
    out = os.path.join(WORK, "iperf3.json")
    server = subprocess.Popen([*LIMIT, "taskset", "-c", "1", "iperf3", "-s", "-p", "11232", "-1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        with open(out, "w") as to:
            client = subprocess.Popen([*LIMIT, "taskset", "-c", "0", "iperf3", "-c", "127.0.0.1", "-p", "11232", "-t", str(SECONDS), "-N", "-l", str(peers.BLOCK), "-C",
                                       peers.system_congestion(), "-J"], stdout=to, stderr=subprocess.STDOUT)
            used = waited(client)
        with open(out) as f:
            text = f.read()
        moved = json.loads(text[text.index("{"):])["end"]["sum_received"]["bytes"]
        # It serves one client and ends.
        return (used + waited(server)) / moved
    finally:
        if server.returncode is None:
            ended([server])


def part_cost():
    if missing("iperf3"):
        return
    pairs = interleaved(PAIRS, cost_mine, cost_theirs, failed=(RuntimeError, KeyError, ValueError, IndexError, OSError))
    median = lambda i: f"{statistics.median(p[i] for p in pairs) * 1e12:.1f} ps/B"
    table("CPU time of a byte, 128 KiB stream over TCP, all processes of both sides", ["iperf3 -N (median)", "pipegauge (median)", "ratio pipegauge/iperf3, paired [95%]", "pairs"],
          [[median(1), median(0), ratio(pairs), len(pairs)]],
          "Lower is less CPU time. Of both tools: getrusage of all processes of both sides, from their start to their end, over all bytes that arrived. pipegauge's calibration, "
          "trials of warm-up and report are in it, as are iperf3's reports. Both pinned to CPUs 0 and 1, NODELAY and the system's congestion control; both send for about two seconds.")
