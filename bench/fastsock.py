"""Kernel TCP against fast sockets (systems/fastsock) and Active Messages (systems/am), which these stand on.

Each table is of one run whose paths take turns: what is compared is a round of one beside the same round of the other, with a bootstrap
interval over rounds (pairs.py). The library is loaded into the processes of the path alone (`tcp:preload=fastsock`).
"""
import json
import os
import re
import statistics
from pathlib import Path

import programs
from common import PAIRS, QUICK, ROOT, TARGET, WORK, pipegauge, run, say, table
from pairs import bootstrap, interleaved

FAST = "tcp:preload=fastsock"
COMMAND = os.path.join(TARGET, "release/fastsock")
KERNEL_AT, FAST_AT, AM_AT = 0, 1, 2
ROUND_TRIPS = [1, 64, 4 << 10, 64 << 10]
STREAMS = [64, 1 << 10, 4 << 10, 64 << 10, 1 << 20]
# Four processes for each CPU.
CROWD = str(2 * (os.cpu_count() or 1))
PLACES = [("pinned", ["--pin", "0,1"]), ("unpinned", ["--pin", "none"]), ("on one core", ["--pin", "0,0"]),
          ("oversubscribed", ["--pairs", CROWD, "--pin", "none"])]
BUDGET = "3s" if QUICK else "12s"


def each(trial):
    """Seconds of a round trip, or of a message of a stream, as its receiver saw it; none of a trial that has neither."""
    if trial.get("median", 0) > 0:
        return trial["median"]
    far = trial.get("far") or {}
    return far["seconds"] * trial["size"] / far["bytes"] if far.get("seconds") and far.get("bytes") else None


def rounds(events, path, size):
    """Seconds of each round: the median of its trials."""
    found = {}
    for e in events:
        if e["event"] == "trial" and not e.get("warmup") and (e["path"], e["size"]) == (path, size) and (time := each(e)):
            found.setdefault(e["block"], []).append(time)
    return {block: statistics.median(times) for block, times in found.items()}


def beside(events, first, second, size):
    """How many times as long the first path takes as the second: median and 95% interval over their rounds; none of fewer than five."""
    a, b = rounds(events, first, size), rounds(events, second, size)
    pairs = [a[block] / b[block] for block in sorted(a.keys() & b.keys())]
    return bootstrap(pairs) if len(pairs) >= 5 else None


def cpu(events, path, size):
    """CPU time of a round trip or a message, both sides together, nanoseconds: the median of trials; none where nobody counted."""
    def side(cost):
        return cost["cpu_ns"] / cost["iterations"] if cost and cost.get("iterations") else None

    both = []
    for e in events:
        if e["event"] == "trial" and not e.get("warmup") and (e["path"], e["size"]) == (path, size):
            sides = side(e.get("cost")), side((e.get("far") or {}).get("cost"))
            if None not in sides:
                both.append(sum(sides))
    return statistics.median(both) if both else None


def in_words(ratio):
    """A ratio of two paths, 1 and more in favour of the second."""
    return "-" if ratio is None else "{:.2f} [{:.2f}, {:.2f}]".format(*ratio)


def verdict(ratio, target):
    """Whether a target is met, as far as the interval tells."""
    if ratio is None:
        return "not measured"
    _, low, high = ratio
    return "met" if low >= target else "missed" if high < target else "not told"


def bytes_in_words(size):
    return f"{size} B" if size < 1 << 10 else f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def time_in_words(seconds):
    return "-" if seconds is None else f"{seconds * 1e6:.2f} us" if seconds >= 1e-7 else f"{seconds * 1e9:.1f} ns"


def measured(pattern, sizes, place):
    flags = ["--pattern", pattern, "--sizes", ",".join(map(str, sizes)), "--budget", BUDGET, *place]
    return pipegauge("tcp", FAST, "am", *flags, timeout=900, out=os.path.join(WORK, f"{pattern}-{place[-1]}.run.jsonl"))


def rows_of(events, what, sizes):
    rows = []
    for size in sizes:
        typical = lambda path: statistics.median(rounds(events, path, size).values()) if rounds(events, path, size) else None
        used = [cpu(events, path, size) for path in (KERNEL_AT, FAST_AT, AM_AT)]
        rows.append([f"{what}, {bytes_in_words(size)}", *(time_in_words(typical(path)) for path in (KERNEL_AT, FAST_AT, AM_AT)),
                     in_words(beside(events, KERNEL_AT, FAST_AT, size)), *(time_in_words(ns and ns * 1e-9) for ns in used)])
    return rows


def connects():
    """How many times as long a transaction with a connection of its own takes over the kernel as over the library (systems/fastsock/contract/rate.c, whose
    server makes its listener itself and accepts one connection after the other); and the times and CPU times of both."""
    program = os.path.join(WORK, "rate")
    source = os.path.join(ROOT, "systems/fastsock/contract/rate.c")
    run(["cc", "-O2", source, "-o", program, "-ldl"])

    def once(*under):
        said = re.match(r"([\d.]+) us a transaction, CPU time ([\d.]+) us", run([*under, program, "20000"], timeout=300))
        return float(said[1]), float(said[2])

    pairs = interleaved(PAIRS, once, lambda: once(COMMAND, "run"))
    middle = lambda side, what: statistics.median(pair[side][what] for pair in pairs)
    table("A connection for each transaction", ["", "kernel TCP", "fast", "kernel / fast [95%]"],
          [[name, f"{middle(0, what):.1f} us", f"{middle(1, what):.1f} us", in_words(bootstrap([a[what] / b[what] for a, b in pairs]))]
           for what, name in enumerate(["time", "CPU time of both sides"])],
          "`rate 20000`: connect, a byte there, a byte back, close; blocking calls, unpinned.")
    return bootstrap([a[0] / b[0] for a, b in pairs])


def asleep():
    """How many times as long a round trip of 1 B takes over the kernel as over fast sockets whose sides both sleep at once and never spin."""
    os.environ["FASTSOCK_WAIT"] = "sleep"
    try:
        events = measured("ping-pong", [1], ["--pin", "0,1"])
    finally:
        del os.environ["FASTSOCK_WAIT"]
    table("A receiver asleep, pinned", HEAD, rows_of(events, "round trip", [1]), "Fast sockets with `FASTSOCK_WAIT=sleep`: a side that waits sleeps at once and is woken by the other, as the kernel's does. "
          "am waits as ever.")
    return beside(events, KERNEL_AT, FAST_AT, 1)


def requests():
    """Targets of redis and nginx: name, aim, and measured ratio, none where a program is not installed."""
    found, rows = [], {}
    for at, work in enumerate(programs.WORKS):
        ratio = None
        if lacking := programs.missing(work):
            say(f"skipped: {work.name}: not installed: {', '.join(lacking)}")
        else:
            folder = Path(WORK, f"programs-{at}")
            folder.mkdir()
            ratio, line = programs.row(work, programs.compare(COMMAND, work, folder, PAIRS, 20_000 if QUICK else 100_000))
            rows.setdefault(work.place, []).append(line)
        found.append((f"{work.name}, {work.place}", work.target, ratio))
    for place, lines in rows.items():
        table(f"Requests of unmodified programs, {place}", ["", "kernel TCP", "fast", "fast / kernel [95%]", "CPU time of a request, both sides: kernel", "fast"], lines,
              "`redis-benchmark -t get` (*16 at a time*: `-P 16`), and `wrk -t 1` with nginx (one worker, `return 200 hello`): "
              f"server and client {'on a CPU each' if place == 'pinned' else 'where the system puts them'}, a run of each in turn.")
    return found


def over_am(events, sizes, what):
    return [[f"{what}, {bytes_in_words(size)}", in_words(beside(events, FAST_AT, AM_AT, size))] for size in sizes]


HEAD = ["", "kernel TCP", "fast", "am", "kernel / fast [95%]", "CPU time of both sides: kernel", "fast", "am"]
NOTE = ("Median times of a round trip, and of a message of a stream as its receiver saw it. A ratio above 1 says that fast sockets take less time; it is the median over rounds of one run, "
        "in which the paths take turns.")


def part_fastsock():
    trips, streams, floors = {}, {}, []
    for name, place in PLACES:
        trips[name], streams[name] = measured("ping-pong", ROUND_TRIPS, place), measured("stream", STREAMS, place)
        table(f"Kernel TCP against fast sockets, {name}", HEAD,
              rows_of(trips[name], "round trip", ROUND_TRIPS) + rows_of(streams[name], "stream", STREAMS),
              NOTE + (f" {CROWD} pairs of processes at once." if name == "oversubscribed" else ""))
        if name != "pinned":
            found = [(beside(events[name], KERNEL_AT, FAST_AT, size), f"{what}, {bytes_in_words(size)}")
                     for events, what, sizes in ((trips, "round trip", ROUND_TRIPS), (streams, "stream", STREAMS)) for size in sizes]
            floors += [(ratio, f"{name}: {what}") for ratio, what in found if ratio]
    table("The socket layer over Active Messages, pinned", ["", "fast / am [95%]"],
          over_am(trips["pinned"], ROUND_TRIPS, "round trip") + over_am(streams["pinned"], STREAMS, "stream"),
          "How many times as long fast sockets take as Active Messages on the same rings.")
    pinned = lambda events, size: beside(events["pinned"], KERNEL_AT, FAST_AT, size)
    least = min(floors, default=(None, "none was measured"))
    layer = beside(trips["pinned"], AM_AT, FAST_AT, 1)
    targets = [
        ("round trip of 1 B, pinned", 30, pinned(trips, 1)),
        *((f"stream of {bytes_in_words(size)}, pinned", 15, pinned(streams, size)) for size in (1 << 10, 4 << 10)),
        *((f"stream of {bytes_in_words(size)}, pinned", 2.7, pinned(streams, size)) for size in (64 << 10, 1 << 20)),
        ("a connection for each transaction", 3, connects()),
        (f"the least of all {len(floors)} unpinned, on one core and oversubscribed ({least[1]})", 0.95, least[0]),
        ("round trip of 1 B against am's (0.8 is 1.25 times as long)", 0.8, layer),
        ("stream of 1 MiB against am's", 0.95, beside(streams["pinned"], AM_AT, FAST_AT, 1 << 20)),
    ]
    told("Fast sockets: targets and what was measured", targets, "Those of redis, of nginx and of a receiver asleep are measured by the part `programs`.")


def told(title, targets, note=""):
    table(title, ["time: kernel TCP / fast, or am / fast; rate: fast / kernel TCP", "target, at least", "measured [95%]", ""],
          [[what, target, in_words(ratio), verdict(ratio, target)] for what, target, ratio in targets], note)


def part_programs():
    """Unmodified programs, and a receiver that always sleeps."""
    told("Fast sockets: targets of programs, and of a receiver asleep", [*requests(), ("round trip of 1 B, receiver asleep, pinned", 1.6, asleep())])
