"""Part `layers` of `make bench`: what a layer of strata costs, what FAST gains, and how long a view change takes.

The stacks of a load are of one run and take turns, as those of part `group` do; the examples of strata, which measure CPU time of a cast and the time from a suspicion to the next view, are run again and again.
No I/O but in `part_layers` and what it calls: scripts/test-bench.py tests the rest.
"""
import os
import re
import shutil
import statistics

from common import QUICK, ROOT, TARGET, run, table
from fastsock import in_words, verdict
from group import Carrier, Load, explained, figures, measured, reason, told
from pairs import FEWEST_PAIRS, bootstrap, interleaved

# One more than an interval takes: a round may be lost.
ROUNDS = 5 if QUICK else FEWEST_PAIRS + 1
FEWEST = ROUNDS - 1
# View changes of one run of the example.
VIEWS = 5 if QUICK else 40
BELOW = "MBRSHIP:FRAG:NAK:COM:udp"


def stack(layers, name):
    return Carrier(name, f"strata:stack={layers},label={re.sub('[^a-z0-9]+', '-', name.lower())}", "")


PLAIN, FRAG_2, FRAG_10 = (stack(f"TOTAL:{BELOW.replace('FRAG', frag)}", name) for frag, name in (("FRAG", "FRAG once"), ("FRAG*2", "FRAG twice"), ("FRAG*10", "FRAG ten times")))
FAST, FAST_10 = stack(f"FAST:TOTAL:{BELOW}", "FAST, FRAG once"), stack(f"FAST:TOTAL:{BELOW.replace('FRAG', 'FRAG*10')}", "FAST, FRAG ten times")
PACKED, PACKED_FAST = stack(f"FC:TOTAL:{BELOW}", "FC"), stack(f"FC:FAST:TOTAL:{BELOW}", "FC, FAST")
STACKS = [PLAIN, FRAG_2, FRAG_10, FAST, FAST_10, PACKED, PACKED_FAST]
LOADS = [
    Load("1 B, m=25", 1, 25, None, 400),
    Load("one way, 1 B, m=1, one sender", 1, 1, None, 2000, pattern="one-sender", timed=True),
]
# What is told of two stacks: the first is so many times as good as the second.
COMPARED = [
    ("FRAG ten times, against once", FRAG_10, PLAIN),
    ("FRAG ten times, against twice", FRAG_10, FRAG_2),
    ("FAST, against none", FAST, PLAIN),
    ("FAST over ten FRAG, against none", FAST_10, FRAG_10),
    ("FC with FAST, against FC alone", PACKED_FAST, PACKED),
]
# Targets in seconds: of a further layer on a cast's way, and of the view after a suspicion where all cast (its p90).
LAYER, VIEW = 10e-9, 10e-3


def beside(first, second, timed):
    """How many times as good the first is as the second, over rounds that both have: median and 95% interval; none of too few."""
    blocks = sorted(first.keys() & second.keys())
    return bootstrap([second[b] / first[b] if timed else first[b] / second[b] for b in blocks]) if len(blocks) >= FEWEST else None


def further(many, few, layers):
    """Seconds for each further layer by two stacks that differ by so many, over rounds that both have."""
    blocks = sorted(many.keys() & few.keys())
    return bootstrap([(many[b] - few[b]) / layers for b in blocks]) if len(blocks) >= FEWEST else None


def nanoseconds(estimate):
    return "-" if estimate is None else "{:.1f} ns [{:.1f}, {:.1f}]".format(*(x * 1e9 for x in estimate))


def milliseconds(estimate):
    return "-" if estimate is None else "{:.2f} ms [{:.2f}, {:.2f}]".format(*(x * 1e3 for x in estimate))


def of_layers(text):
    """CPU seconds that examples/layers prints: of a cast with one FRAG, with eleven, with FAST on eleven, and of a further layer."""
    fast = re.search(r"with FAST on eleven: ([\d.]+) ns", text)
    cast = re.search(r": ([\d.]+) ns with one FRAG, ([\d.]+) ns with eleven: (-?[\d.]+) ns a layer", text)
    if not fast or not cast:
        raise RuntimeError(f"examples/layers printed no figure: {text.strip()[:200]}")
    return [float(ns) * 1e-9 for ns in (cast[1], cast[2], fast[1], cast[3])]


def of_view(text):
    """Seconds that examples/view prints: p50, p90 and the longest."""
    said = re.search(r"p50 ([\d.]+) ms, p90 ([\d.]+) ms, at most ([\d.]+) ms", text)
    if not said:
        raise RuntimeError(f"examples/view printed no figure: {text.strip()[:200]}")
    return [float(ms) * 1e-3 for ms in said.groups()]


def under(values, most):
    """How many times as good as a target that is the most: 1 and more meets it. A difference that is nothing or less meets any."""
    middle, low, high = bootstrap(values)
    part = lambda value: most / value if value > 0 else float("inf")
    return part(middle), part(high), part(low)


def target(name, wanted, values, most, words):
    ratio = under(values, most)
    return [name, wanted, words(bootstrap(values)), in_words(ratio), verdict(ratio, 1)]


def example(name):
    return os.path.join(TARGET, "release/examples", name)


def by_examples():
    """Rounds of examples/layers; and of examples/view, quiet and all casting, in turns."""
    run(["cargo", "build", "--locked", "--release", "-p", "strata", "--example", "layers", "--example", "view"], timeout=1800, cwd=ROOT)
    costs = [of_layers(run([example("layers")])) for _ in range(ROUNDS)]
    view = lambda *casts: of_view(run([example("view"), "--members", "3", "--times", str(VIEWS), *casts], timeout=300))
    # A member that another process kept from its CPU for a second is parted from the others, which ends the example: that pair is made again.
    views = interleaved(ROUNDS, view, lambda: view("--casts"), failed=RuntimeError)
    return costs, [pair[0] for pair in views], [pair[1] for pair in views]


def by_the_command():
    """Rows of the stacks, of what is told of two of them, what a further layer costs one way, and why cells are empty."""
    rows, ratios = [[c.name, c.path.split("stack=")[1].split(",")[0]] for c in STACKS], [[name] for name, *_ in COMPARED]
    empty, more = [], None
    for load in LOADS:
        events, said = measured(STACKS, load, ROUNDS)
        of = [figures(events, path, load.timed) for path in range(len(STACKS))]
        for path, each in enumerate(of):
            rows[path].append(told(each, load))
            if len(each) < FEWEST:
                empty.append((STACKS[path].name, load.name, reason(events, path, STACKS, load.timed, said, FEWEST)))
        two = lambda first, second: (of[STACKS.index(first)], of[STACKS.index(second)])
        for row, (_, first, second) in zip(ratios, COMPARED):
            row.append(in_words(beside(*two(first, second), load.timed)))
        if load.timed:
            more = further(*two(FRAG_10, FRAG_2), 8)
    return rows, ratios, more, empty


def part_layers():
    if not shutil.which("unshare"):
        raise RuntimeError("unshare is not installed (util-linux)")
    rows, ratios, more, empty = by_the_command()
    names = [load.name for load in LOADS]
    table("Layers of strata", ["three members", "stack", *names], rows,
          f"As the part `group` measures: medians over the {ROUNDS} rounds of one run for each column, in which all stacks take turns, over the loopback of a network namespace at an MTU of 1,500." + explained(empty))
    table("Layers of strata: what they cost and what FAST gains", ["times as good", *names], ratios,
          f"Ratios of the same rounds with 95% intervals: below 1 it costs. A stack with FRAG once is one type, whose calls are direct; those with more of it are boxed, so that twice is the fair one to hold ten times against. "
          f"By these two a further layer adds {nanoseconds(more)} one way.")
    costs, quiet, casting = by_examples()
    once, eleven, fast, _ = (bootstrap(each) for each in zip(*costs))
    gain = bootstrap([each[1] / each[2] for each in costs])
    column = lambda runs, at: [each[at] for each in runs]
    table("Layers and view changes of strata by its examples", ["", "median of the runs [95%]"], [
        ["a cast down one stack and up at both members, FRAG once, CPU time", nanoseconds(once)],
        ["FRAG eleven times", nanoseconds(eleven)],
        ["FAST on eleven", nanoseconds(fast)],
        ["times as long without FAST on eleven", in_words(gain)],
        ["suspicion to the next view, nobody casting: p50", milliseconds(bootstrap(column(quiet, 0)))],
        ["p90", milliseconds(bootstrap(column(quiet, 1)))],
        ["all casting: p50", milliseconds(bootstrap(column(casting, 0)))],
        ["p90", milliseconds(bootstrap(column(casting, 1)))],
        ["the longest of all runs, nobody casting; all casting", "; ".join(f"{max(column(runs, 2)) * 1e3:.2f} ms" for runs in (quiet, casting))],
    ], f"`examples/layers` and `examples/view --members 3 --times {VIEWS}` of systems/strata, {ROUNDS} runs of each, those of `view` with and without `--casts` in turns.")
    table("Layers and view changes of strata: targets and what was measured", ["", "target", "measured [95%]", "of the target [95%]", ""], [
        target("a further layer, CPU time (examples/layers)", "at most 10 ns", column(costs, 3), LAYER, nanoseconds),
        target("a view change, all casting, p90 (examples/view)", "at most 10 ms", column(casting, 1), VIEW, milliseconds),
    ])
