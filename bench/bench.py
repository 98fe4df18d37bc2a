#!/usr/bin/env python3
"""make bench: how fast and how good, as ratios measured side by side in one run.

Every comparison interleaves what it compares (A B B A ...) at like settings of both sides (bench/peers.py) and reports the
median of the paired ratios with a bootstrap 95% interval (bench/pairs.py): machines are shared and noisy, and a single run
can't rank two tools. Where an interval has 1 in it, two tools are not told apart. Writes bench/RESULTS.md.

    bench/bench.py [--quick] [PART ...]            --help names the parts

KEEP=DIR OVER=3600 bench/bench.py repeat      ten runs spread over an hour; again without OVER's wait from the files in DIR
"""
import argparse
import datetime
import glob
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import dips
import fabrics
import fastsock
import footprint
import group
import layers
import mpi
import peers
import planted
import same
import spread
import together
import typed
from common import FLOOR, KEEP, OVER, PAIRS, PG, QUICK, ROOT, TABLES, TARGET, WORK, pipegauge, points, run, say, table, trials
from pairs import interleaved, ratio

# -- the floor ----------------------------------------------------------------------------------------------------------
CPUS = ["--pin", "0,1"]
# Iterations with which NetPIPE's schedule looks at a size before it measures it.
LOOKED = 100


def before_clock(pattern, burst=1):
    """Messages, or round trips, that pipegauge sends by NetPIPE's schedule before the clock of its only trial starts: always as many, so that the
    floor can send as many. Each of a stream's two trials begins with one more, with which its receiver's clock starts."""
    return LOOKED * burst + (2 if pattern == "stream" else 0)


def sent_before(events, burst=1):
    """The same as a run file tells it: what arrived of all trials, less what was timed."""
    (counted,) = trials(events)
    return sum(e["far"]["received"] for e in events if e["event"] == "trial") - counted["repeats"] * burst


def against_floor(path, pattern, size, repeats, spin, congestion=None):
    """Pairs of pipegauge and the floor, each after as many messages before the clock. `burst` is so many messages and an answer, which the floor's stream
    of as many is, too: both begin on an empty path and end when the answer is here."""
    burst = repeats if pattern == "burst" else 1
    warm = before_clock(pattern, burst)
    wait = ["--wait", "spin" if spin else "block"]
    times = ["--burst", str(burst), "--repeats", "1"] if pattern == "burst" else ["--repeats", str(repeats)]

    def mine():
        events = pipegauge(path, "--pattern", pattern, "--schedule", "netpipe", "--from", str(size), "--to", str(size), "--perturb", "0", "--trials", "1",
                           *times, *wait, *CPUS, *like(path, congestion))
        if sent_before(events, burst) != warm:
            raise RuntimeError(f"pipegauge sent {sent_before(events, burst)} messages before its clock started, and the floor {warm}: not at like settings")
        (t,) = trials(events)
        if pattern == "stream":
            return t["far"]["bytes"] * 8 / t["far"]["seconds"]
        return burst * size * 8 / t["seconds"] if pattern == "burst" else t["seconds"] / t["repeats"]

    def floor():
        args = ["--pattern", "pingpong" if pattern == "ping-pong" else "stream", "--size", str(size), "--repeats", str(repeats), "--warmup", str(warm)]
        of_tcp = ["--congestion", congestion] if congestion else []
        said = json.loads(run([FLOOR, path, *args, *CPUS, *of_tcp] + (["--spin"] if spin else [])))
        if path == "tcp" and said["congestion"] != [congestion or peers.system_congestion()] * 2:
            raise RuntimeError(f"the floor's sockets have {said['congestion']}, and {congestion or peers.system_congestion()} was asked for: not at like settings")
        return said["seconds_per_iteration" if pattern == "ping-pong" else "bits_per_second"]

    # Bursts take 2 ms, and over bbr have one of two speeds. With few pairs the ratio would depend on which speed each side happened to meet; the other paths' have as many, to be alike.
    return interleaved(PAIRS * (3 if pattern == "burst" else 1), mine, floor), warm


def mine_once(path, pattern, size, repeats, spin, *more, of=1):
    """The figure of one trial; of `of` trials the best, for a peer that reports the best of its own."""
    wait = ["--wait", "spin"] if spin else ["--wait", "block"]
    e = pipegauge(path, "--pattern", pattern, "--sizes", str(size), "--repeats", str(repeats), "--trials", str(of), *wait, *CPUS, *more)
    if pattern == "stream":
        return max(t["far"]["bytes"] * 8 / t["far"]["seconds"] for t in trials(e))
    return min(t["seconds"] / t["repeats"] for t in trials(e))


def like(path, congestion=None):
    """The floor's settings as flags: NODELAY, and the congestion control named, or that the system gives."""
    return peers.Settings(True, congestion or peers.system_congestion()).mine() if path == "tcp" else []


def part_floor():
    rows = []

    def row(what, path, pattern, size, repeats, spin, scale, unit, congestion=None):
        try:
            pairs, warm = against_floor(path, pattern, size, repeats() if callable(repeats) else repeats, spin, congestion)
        except NO_FIGURE as e:
            # Rows that are measured already stay.
            say(f"{what}: {e}")
            return
        digits = 3 if unit == "us" else 1
        median = lambda i: f"{statistics.median(p[i] for p in pairs) * scale:.{digits}f} {unit}"
        rows.append([what, warm, median(1), median(0), ratio(pairs), len(pairs)])

    for path, spin, repeats in [("tcp", False, 20000), ("unix", False, 20000), ("tcp", True, 30000), ("unix", True, 30000), ("shm", True, 500000)]:
        row(f"{path}, {'spinning' if spin else 'blocking'}, 1 B round trip", path, "ping-pong", 1, repeats // (10 if QUICK else 1), spin, 1e6, "us")
    # The congestion control decides more of a stream over loopback than either program does.
    for path, congestion in [*(("tcp", name) for name in dict.fromkeys([peers.system_congestion(), "cubic"])), ("unix", None)]:
        named = f"{path}, {congestion}" if congestion else path
        row(f"{named}, a burst of {BURST['stream']} messages of 128 KiB and an answer", path, "burst", peers.BLOCK, BURST["stream"], False, 1e-9, "Gbit/s", congestion)
        messages = lambda: lasting(path, "stream", peers.BLOCK, "sustained", *like(path, congestion))
        row(f"{named}, stream of messages of 128 KiB, sustained", path, "stream", peers.BLOCK, messages, False, 1e-9, "Gbit/s", congestion)
    if not rows:
        raise RuntimeError("no path has a figure")
    table("pipegauge against the floor", ["path", "messages before the clock, each", "floor (median)", "pipegauge (median)", "ratio, paired [95%]", "pairs"], rows,
          "The floor is `pipegauge-floor`: the same system calls with nothing around them but, of a receive that blocks, two stores for a thread that ends one that lasts too long (pipegauge has such a thread, too). Both sides have the same settings of the socket, CPUs 0 and 1, and have sent "
          "as many messages when the clock starts. Round trips and bursts then begin on an empty path and end with the answer. A sustained stream alone is timed "
          "differently: by pipegauge from one message's arrival to the last one's, at the receiver; by the floor from the first message that leaves to the receiver's answer, "
          "at the sender, which in about a second is longer by the way of a message and an answer. "
          "Latency: lower is better; throughput: higher.")


def part_steps():
    """From the floor's cache line to a trial over the shared-memory link, a step at a time, in one process (the example says what each step is)."""
    run(["cargo", "build", "--locked", "--release", "-p", "pipegauge-measure", "--example", "shm_steps"], timeout=900, cwd=ROOT)
    # The virtual CPUs may lie on one core of the host or far apart: a step of a few nanoseconds shows only where they lie near.
    tries = []
    for _ in range(1 if QUICK else 5):
        lines = run([os.path.join(TARGET, "release/examples/shm_steps"), "11" if QUICK else "81"], timeout=600).splitlines()
        tries.append([re.fullmatch(r"(.+?)  +([\d.]+) ns +(\S+) (\[.*\])", line).groups() for line in lines])
    line = lambda rows: float(rows[0][1])
    rows = min(tries, key=line)
    table("Shared memory: where the nanoseconds go", ["step, 1 B round trip", "median", "more than the step before [quartiles]"],
          [[name, f"{took} ns", f"{more} {spread}" if row else "-"] for row, (name, took, more, spread) in enumerate(rows)],
          f"Two threads on CPUs 0 and 1, all steps in turn in each of the rounds (`examples/shm_steps.rs` of `crates/measure`). Of {len(tries)} runs the one whose floor's line is shortest; it was {line(min(tries, key=line)):.0f} to {line(max(tries, key=line)):.0f} ns.")


def part_module():
    """What a message over a module costs more than one over a transport that is built in (the example says how)."""
    run(["cargo", "build", "--locked", "--release", "-p", "pipegauge-transport", "--example", "module_cost"], timeout=900, cwd=ROOT)
    file = os.path.join(WORK, "copies.so")
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    run(["cc", *flags, "-I" + os.path.join(ROOT, "include"), "-o", file, os.path.join(ROOT, "bench/modules/copies.c")])
    lines = run([os.path.join(TARGET, "release/examples/module_cost"), file, "11" if QUICK else "81"], timeout=600).splitlines()
    rows = [re.fullmatch(r" *(\d+ B) +([\d.]+ ns) +([\d.]+ ns) +(\S+) (\[.*\])", line).groups() for line in lines]
    table("What a module costs in the hot loop", ["message size", "built in (median)", "module (median)", "more a message, ns [quartiles]"],
          [[size, mine, theirs, f"{more} {spread}"] for size, mine, theirs, more, spread in rows],
          "The same two copies in one process, by `memcpy` and by `bench/modules/copies.c`, in turns (`examples/module_cost.rs` of `crates/transport`). The target is less than 5 ns a message.")


# -- peers --------------------------------------------------------------------------------------------------------------
def served(server, client, settle=0.3, cpu=("0", "1"), timeout=60):
    """Runs a server pinned to one CPU and a client pinned to the other; gives the client's output."""
    s = subprocess.Popen(["taskset", "-c", cpu[1], *server], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(settle)
        p = subprocess.run(["taskset", "-c", cpu[0], *client], capture_output=True, text=True, timeout=timeout, cwd=WORK)
        return p.stdout + p.stderr
    finally:
        s.terminate()
        try:
            s.wait(3)
        except subprocess.TimeoutExpired:
            s.kill()
            s.wait()


def netpipe(*flags):
    """Runs NetPIPE with the same flags on both sides (unlike ones end it with errno=104); gives its file's rows."""
    out = os.path.join(WORK, "np.out")
    served(["NPtcp", *flags], ["NPtcp", "-h", "127.0.0.1", *flags, "-o", out], timeout=200)
    with open(out) as f:
        return [[float(x) for x in line.split()] for line in f]


def theirs(peer, pattern, congestion):
    """One figure of a peer: seconds of half a round trip, or bits a second."""
    out = os.path.join(WORK, "np.out")
    if os.path.exists(out):
        os.unlink(out)
    said = served(peer.server(congestion), peer.client(congestion))
    if peer.read:
        return peer.read(said)
    with open(out) as f:
        return peers.of_netpipe(f.read(), pattern == "stream")


# Messages, or round trips, of a trial of about a millisecond.
BURST = {"stream": 40, "ping-pong": 100}
LASTING = {}


def lasting(path, pattern, size, trial, *settings):
    """Messages, or round trips, of a trial as long as the peer's: about a millisecond, or a second at the path's own speed."""
    if trial != "sustained":
        return BURST[pattern]
    key = (path, pattern, size, *settings)
    if key not in LASTING:
        # A fifth of a second tells the speed.
        tried = mine_once(path, pattern, size, BURST[pattern] * 20, False, *settings)
        speed = tried / (size * 8) if pattern == "stream" else 1 / tried
        LASTING[key] = max(BURST[pattern], round(speed * 1.0))
    return LASTING[key]


def ours(pattern, peer, settings):
    """The same figure of pipegauge at the same settings."""
    like = settings.mine()
    if peer in peers.FLOWS:
        flows = peer.name.split()[-1]
        # Each flow its share of what one would carry in that time.
        messages = lasting("tcp", pattern, peers.BLOCK, peer.trial, *like) // int(flows)
        return mine_once("tcp", pattern, peers.BLOCK, messages, False, "--flows", flows, *like)
    if pattern == "ping-pong" and peer.program == "NPtcp":
        # NetPIPE reports the shortest of its trials: so does this.
        e = pipegauge("tcp", "--schedule", "netpipe", "--from", "64", "--to", "64", "--perturb", "0", "--wait", "block", *CPUS, *like)
        return points(e)[64]["min"]
    size = peers.BLOCK if pattern == "stream" else 64
    found = mine_once("tcp", pattern, size, lasting("tcp", pattern, size, peer.trial, *like), False, *like, of=peer.best_of)
    return found if pattern == "stream" else found / 2


# What a tool's run can end in that gives no figure.
NO_FIGURE = (RuntimeError, AttributeError, ValueError, OSError, IndexError, subprocess.TimeoutExpired)


def against(title, pattern, list_of_peers, unit, scale, better, note=""):
    """Each peer against pipegauge at like settings, in pairs; a tool that can choose its congestion control with cubic too."""
    system = peers.system_congestion()
    rows, missing = [], set()
    for peer in list_of_peers:
        if not shutil.which(peer.program):
            missing.add(peer.program)
            continue
        for congestion in [system] + (["cubic"] if peer.chooses and system != "cubic" else []):
            settings = peer.settings(system, congestion)
            try:
                # A peer's run that ends without a figure is no figure of anybody's: the pair is made again.
                pairs = interleaved(PAIRS, lambda: ours(pattern, peer, settings), lambda: theirs(peer, pattern, settings.congestion), failed=NO_FIGURE)
            except NO_FIGURE as e:
                say(f"{peer.name}: {e}")
                continue
            median = lambda i: f"{statistics.median(p[i] for p in pairs) * scale:.2f} {unit}"
            rows.append([peer.name, f"{settings}, {peer.trial}", median(1), median(0), ratio(pairs), len(pairs)])
    for program in sorted(missing):
        say(f"skipped: {program} is not installed")
    table(title, ["peer", "both sides set to, trials", "peer (median)", "pipegauge (median)", "ratio pipegauge/peer, paired [95%]", "pairs"], rows,
          f"Pairs in turns, each side first in every other one; both pinned to CPUs 0 and 1, TCP_NODELAY and congestion control alike, socket buffers the "
          f"system's, the same write size. Sustained trials take about a second. {better} is better; not told apart: the interval has 1 in it.{note}")


def part_latency():
    against("64 B TCP latency (RTT/2) against peers", "ping-pong", peers.LATENCY, "us", 1e6, "Lower")


def part_throughput():
    against("TCP throughput, 128 KiB writes, against peers", "stream", peers.THROUGHPUT, "Gbit/s", 1e-9, "Higher",
            " Bursts are held against the floor alone: NetPIPE's short trials are the first writes of a new connection, which pipegauge sends before its clock starts.")


def part_flows():
    against("TCP throughput of several flows at once, 128 KiB writes, against iperf3 -P", "stream", peers.FLOWS, "Gbit/s", 1e-9, "Higher",
            " pipegauge has a thread for each flow; iperf3 has one for all up to version 3.15, so that on a busy machine it gets a smaller share of the CPUs.")


# -- honesty ------------------------------------------------------------------------------------------------------------
def stutter(pid, stop):
    """Stops a process 100 ms in every 500 ms."""
    while not stop.is_set():
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        stop.wait(0.4)


def part_honesty():
    rows = []
    for name, flags in [("open loop, 10,000/s", ["--rate", "10000"]), ("closed loop", [])]:
        s = subprocess.Popen([PG, "serve", "--bind", "127.0.0.1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = ""
        while "--key" not in line:
            line = s.stdout.readline()
            if not line:
                raise RuntimeError("serve ended before it said how to reach it")
        peer = re.search(r"--peer (\S+)", line).group(1)
        key = re.search(r"--key (\S+)", line).group(1)
        threading.Thread(target=s.stdout.read, daemon=True).start()
        stop = threading.Event()
        t = threading.Timer(0.5, stutter, (s.pid, stop))
        t.start()
        try:
            e = pipegauge("tcp", "--peer", peer, "--key", key, "--sizes", "64", "--budget", "6s" if QUICK else "15s", *flags)
        finally:
            stop.set()
            t.join()
            s.terminate()
            s.wait()
        p = points(e)[64]
        q = p.get("percentiles", {})
        scale = 1 if p["time"] == "round-trip" else 2
        warned = any(w["event"] == "warning" and w["code"] == "closed-loop" for w in e)
        rows.append([name] + [f"{q.get(k, float('nan')) * scale * 1e3:.3f} ms" for k in ("p50", "p99", "p999")] + ["yes" if warned else "no"])
    table("Honesty: the server stopped 100 ms in every 500 ms", ["loop", "p50 RTT", "p99 RTT", "p99.9 RTT", "warns that it can't see it"], rows,
          "True p99 of arrivals at a constant rate: about 95 ms. A closed loop can't see it, and must say so.")


# -- the curve ----------------------------------------------------------------------------------------------------------
def curve():
    begin = time.monotonic()
    e = pipegauge("tcp", timeout=200)
    return time.monotonic() - begin, points(e)


def least_rounds(found, below):
    """Rounds of the size that has the fewest, of those below 64 KiB or of the others."""
    return min(point["blocks"] for size, point in found.items() if (size < 64 << 10) == below)


def part_curve():
    n = 2 if QUICK else 5
    theirs, mine, took_np, took = [], [], [], []
    if not shutil.which("NPtcp"):
        say("skipped: NPtcp is not installed")
    for _ in range(n):
        if shutil.which("NPtcp"):
            begin = time.monotonic()
            rows = netpipe("-u", str(8 << 20))
            took_np.append(time.monotonic() - begin)
            theirs.append({int(r[0]): r[2] for r in rows})
        seconds, found = curve()
        took.append(seconds)
        mine.append(found)
    rows = [["time for the curve", f"{statistics.median(took_np):.1f} s" if took_np else "-", f"{statistics.median(took):.1f} s"],
            ["points", round(statistics.median(len(r) for r in theirs)) if theirs else "-", round(statistics.median(len(m) for m in mine))]]
    small, large = ([least_rounds(m, below) for m in mine] for below in (True, False))
    rows += [["rounds of the size that has the fewest, below 64 KiB", "-", f"{min(small)} to {max(small)}"],
             ["the same from 64 KiB on", "-", f"{min(large)} to {max(large)}"]]
    sizes = spread.common(theirs + mine) if theirs else []
    if sizes:
        medians, shortest = ([{size: point[what] for size, point in m.items()} for m in mine] for what in ("median", "min"))
        far = lambda runs: f"{spread.mean(runs, sizes):.1%}"
        # A run that was too short for so many rounds has points without an interval.
        widths = [(m[s]["high"] - m[s]["low"]) / m[s]["median"] for m in mine for s in sizes if m[s].get("low") is not None and m[s].get("high") is not None]
        rows += [[f"spread of {n} runs (max/min - 1), mean over {len(sizes)} common points", far(theirs), far(medians)],
                 ["the same of the shortest trial, as NetPIPE has it", far(theirs), far(shortest)],
                 [f"width of one run's 95% interval, mean over the same points and {n} runs, where it has one", "says none", f"{statistics.mean(widths):.1%}" if widths else "-"]]
    table("A default curve, 1 B to 8 MiB over TCP loopback", ["", "NetPIPE 3.7", "pipegauge"], rows,
          f"{n} runs of each, in turns; times are medians. pipegauge takes the time of its budget, 12 s where none is named, whatever the path; NetPIPE as long as its "
          "schedule needs. A point is pipegauge's median and NetPIPE's shortest trial.")


class Neighbour:
    """Takes a CPU for up to three seconds and leaves it for as long, again and again, as others on a shared machine do."""

    def __enter__(self):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        r = random.Random(11)
        while not self.over.wait(r.uniform(0.2, 3)):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.over.wait(r.uniform(0.2, 3))
            busy.kill()
            busy.wait()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def same_runs(name, n):
    files = []
    for i in range(n):
        files.append(os.path.join(WORK, f"{name}{i}.run.jsonl"))
        subprocess.run([PG, "run", "tcp", "--budget", "5s", "-o", files[-1], "--no-html", "--quiet"], capture_output=True, check=False, timeout=120)
    return files


def part_same():
    """Pairs of runs of one thing: how often does compare say that they differ?"""
    n = 6 if QUICK else 15
    rows = []
    for machine, files in (("left alone", same_runs("alone", n)), ("with a neighbour", None)):
        if files is None:
            with Neighbour():
                files = same_runs("beside", n)
        r = random.Random(3)
        singles = [([files[j]], [files[i]]) for i in range(n) for j in range(i)]
        threes = [(pick[:3], pick[3:]) for pick in (r.sample(files, 6) for _ in range(100))]
        for sides in (singles, threes):
            found = [json.loads(run([PG, "compare", ",".join(a), ",".join(b), "--json"]))["comparisons"][0] for a, b in sides]
            rows.append(same.row(len(sides[0][0]), found, machine))
    table("Two sides of one thing, compared", same.HEAD, rows,
          f"{n} runs of TCP, 5 s each, one after another: every pair, and 100 random draws of three against three. The neighbour takes a CPU for 0.2 to 3 s at a time, half of the time. Target: at most 5% of the verdicts say that they differ.")


def repeat_runs(files, n, over):
    """Default TCP runs in files, each begun at its moment of `over` seconds."""
    run([PG, "history", "clear"])
    begin = time.monotonic()
    for i in range(n):
        time.sleep(max(0, begin + over * i / n - time.monotonic()))
        files.append(os.path.join(KEEP or WORK, f"repeat{i + 1}.run.jsonl"))
        pipegauge("tcp", timeout=200, out=files[-1])


def part_repeat():
    """Of ten runs, the first three foretell where the others fall."""
    n, known = (5, 2) if QUICK else (10, 3)
    files = sorted(glob.glob(os.path.join(KEEP, "repeat*.run.jsonl")), key=os.path.getmtime) if KEEP else []
    if not files:
        repeat_runs(files, n, OVER)
    shown = [{p["size"]: p for p in json.loads(run([PG, "show", f, "--json"]))["paths"][0]["points"]} for f in files]
    # The range rests on the earlier runs that a run file carries, and on the run itself.
    foretold = {s: p for s, p in shown[known - 1].items() if p.get("repeat_low") is not None and p.get("repeat_high") is not None}
    rows, shares = [], []
    for i, later in list(enumerate(shown, 1))[known:]:
        both = [s for s in foretold if s in later]
        if not both:
            raise RuntimeError(f"run {i} has no size in common with what run {known} foretells: the machine was too busy for whole runs")
        share = sum(foretold[s]["repeat_low"] <= later[s]["median"] <= foretold[s]["repeat_high"] for s in both) / len(both)
        shares.append(share)
        rows.append([i, f"{share:.1%}", f"{statistics.median(later[s]['median'] / foretold[s]['median'] for s in both):.3f}", len(both)])
    all_of = [s for s in foretold if all(s in later for later in shown)]
    width = statistics.median(p["repeat_high"] / p["repeat_low"] for p in foretold.values())
    seen = statistics.median(max(r[s]["median"] for r in shown) / min(r[s]["median"] for r in shown) for s in all_of)
    rows += [["median of the foretold ranges, high / low", f"x{width:.2f}", "", len(foretold)],
             [f"median of what {len(shown)} runs spread, max / min", f"x{seen:.2f}", "", len(all_of)]]
    # Files that were kept say themselves how far apart they began.
    begun = sorted(datetime.datetime.fromisoformat(json.loads(open(f).readline())["started"]).timestamp() for f in files)
    apart = statistics.median(b - a for a, b in zip(begun, begun[1:]))
    table(f"Does a repeat fall where earlier runs foretold?{' Over an hour' if begun[-1] - begun[0] > 3000 else ''}",
          ["run", f"points inside the range that the first {known} runs foretell", f"time against run {known}, median over sizes", "sizes"], rows,
          f"{len(shown)} default TCP runs, {f'one begun every {apart / 60:.0f} min' if apart > 60 else 'one after another'}. Lowest: {min(shares):.1%}. Target: at least 90% of each.")


def part_dip():
    n = 10 if QUICK else 100
    found = others = 0
    r = random.Random(7)
    for seed in range(n):
        start = int(10 ** r.uniform(1.5, 6.5))
        model, end = dips.planted(start, seed)
        e = pipegauge("theory", "--theory", model, "--seed", str(seed))
        said = json.loads(run([PG, "show", "--json", os.path.join(WORK, "bench.run.jsonl")]))
        dips = said["paths"][0]["breaks"]["dips"]
        found += any(d["from"]["below"] < end and d["to"]["above"] > start for d in dips)
        others += sum(d["from"]["below"] >= end or d["to"]["above"] <= start for d in dips)
    table("A planted dip, a twentieth of a decade wide", ["seeds", "found by `show`", "dips said elsewhere"], [[n, found, others]])


def timed(*command):
    """Wall and CPU seconds of a command of ours."""
    begin = time.monotonic()
    child = subprocess.Popen([PG, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) == 2:
        raise RuntimeError(f"pipegauge {' '.join(command[:2])} ended with 2")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime


def part_analysis():
    rounds, runs = (20, 10) if QUICK else (430, 200)
    model = "latency=10us,rate=10Gbit/s,dip=60KiB..66KiB*5,noise=2%"
    at = tempfile.mkdtemp(dir=WORK)

    def theory(name, trials, seed):
        file = os.path.join(at, name)
        command = ["run", "theory", "--theory", f"{model},seed={seed}", "--trials", str(trials), "--repeats", "50", "--seed", str(seed)]
        subprocess.run([PG, *command, "--no-html", "--quiet", "-o", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        return file

    big = theory("big.run.jsonl", rounds, 1)
    with open(big) as f:
        count = sum('"event":"trial"' in line for line in f)
    many = [theory(f"{i}.run.jsonl", 10, i) for i in range(1, runs + 1)]
    half = runs // 2
    rows = []
    one, all_of = f"one run, {count:,} trials, {os.path.getsize(big) / 1e6:.0f} MB", f"{runs} runs, {os.path.getsize(many[0]) / 1e6:.1f} MB each"
    for what, of, target, command in [
        ("`show` (graph, figures, fits, every point)", one, 1, ["show", big]),
        ("`tables`", one, 1, ["tables", big]),
        ("`ask --most`", one, 1, ["ask", big, "--most"]),
        ("`plot -o x.svg`", one, 1, ["plot", big, "-o", os.path.join(at, "x.svg")]),
        ("`plot -o x.png`", one, 1, ["plot", big, "-o", os.path.join(at, "x.png")]),
        ("`plot -o x.html`", one, 1, ["plot", big, "-o", os.path.join(at, "x.html")]),
        ("`compare` with itself", one, 1, ["compare", big, big]),
        ("`compare`, half against half", all_of, 5, ["compare", ",".join(many[:half]), ",".join(many[half:])]),
        ("`compare`, each against the first", all_of, 5, ["compare", *many]),
        ("`plot -o x.svg`", all_of, 5, ["plot", *many, "-o", os.path.join(at, "x.svg")]),
    ]:
        times = [timed(*command) for _ in range(2 if QUICK else 7)]
        wall, cpu = (statistics.median(t[i] for t in times) for i in (0, 1))
        rows.append([what, of, f"{wall:.2f} s", f"{cpu:.2f} s", f"{target} s"])
    table("Analysing and drawing", ["command", "of", "takes", "of that, CPU", "target"], rows,
          "Medians of 7, on files in the page cache; other programs ran beside it at times. Reading the file is part of every figure.")


PARTS = {"floor": part_floor, "steps": part_steps, "module": part_module, "latency": part_latency, "typed": typed.part_typed, "throughput": part_throughput, "flows": part_flows, "pairs": together.part_pairs, "load": together.part_load, "cost": together.part_cost, "fabrics": fabrics.part_fabrics, "mpi": mpi.part_mpi, "fastsock": fastsock.part_fastsock, "programs": fastsock.part_programs, "group": group.part_group, "layers": layers.part_layers, "honesty": part_honesty, "curve": part_curve, "repeat": part_repeat, "same": part_same, "vs": planted.part_vs, "dip": part_dip, "start": footprint.part_start, "analysis": part_analysis}


def keep(target, head):
    """Writes the results, with the tables of this run in the place of their older selves."""
    sections = {}
    if os.path.exists(target):
        for part in open(target).read().split("\n## ")[1:]:
            sections[part.split("\n", 1)[0]] = "## " + part.strip()
    sections.update(TABLES)
    with open(target, "w") as f:
        f.write(head + "\n" + "\n\n".join(sections.values()) + "\n")


def main():
    options = argparse.ArgumentParser(description="Measures all parts, or those named, and replaces their tables in bench/RESULTS.md.")
    options.add_argument("part", nargs="*", help=f"one of: {', '.join(PARTS)}")
    options.add_argument("--quick", action="store_true", help="few and short rounds, printed and not kept")
    wanted = options.parse_args().part or list(PARTS)
    if unknown := [part for part in wanted if part not in PARTS]:
        options.error(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    begin = time.monotonic()
    head = ("# Measured by `make bench`\n\nEach part says when it was measured and on which machine, all of them shared virtual ones; those that "
            "name none had 2 CPUs, too. `bench/bench.py PART` measures one again and replaces it here.\n")
    target = os.path.join(ROOT, "bench", "RESULTS.md")
    failed = []
    for name in wanted:
        try:
            PARTS[name]()
        except (RuntimeError, OSError, subprocess.SubprocessError, KeyError, ValueError, IndexError) as e:
            failed.append(name)
            say(f"{name}: failed: {e}")
        if not QUICK and TABLES:
            keep(target, head)
            run([sys.executable, os.path.join(ROOT, "bench", "quote.py")])
    if failed:
        say(f"failed, and as they were before: {', '.join(failed)}")
    say(f"{target}; {time.monotonic() - begin:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
