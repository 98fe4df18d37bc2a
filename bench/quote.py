#!/usr/bin/env python3
"""Puts the figures of bench/RESULTS.md into README.md, between its two marks. bench.py runs it; nothing is made up here."""
import os
import re
from pathlib import Path

import dips
import same
import shares
import truths

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN, END = "<!-- measured: bench/quote.py writes this -->", "<!-- end of measured -->"


class Parts:
    """The parts of RESULTS.md, and which of them were quoted."""

    def __init__(self, text):
        self.bodies = {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in text.split("\n## ")[1:]}
        self.quoted = []

    def rows(self, title):
        """The rows of a part's table; none where the part was not measured."""
        body = self.bodies.get(title, "")
        if body:
            self.quoted.append(body)
        return rows(body)

    def head(self, title):
        """The names of a part's columns."""
        return cells(next(line for line in self.bodies[title].split("\n") if line.startswith("|")))


# Points that must fall into the range that earlier runs foretold, percent.
TARGET = 90


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def rows(body):
    return [cells(line) for line in [line for line in body.split("\n") if line.startswith("|")][2:]]


def days(bodies):
    """The days on which these parts were measured."""
    stamps = sorted({m.group(0) for body in bodies if (m := re.search(r"\d{4}-\d\d-\d\d", body))})
    return stamps[0] if len(stamps) == 1 else f"{stamps[0]} to {stamps[-1]}"


def machines(bodies):
    """The machines that these parts name, in words."""
    named = sorted({m.group(1) for body in bodies if (m := re.search(r"^\d{4}-[-\d]* [:\d]+, (\d+ CPUs \([^)]*\))", body, re.M))})
    return "shared virtual machines" + (" with " + " or ".join(named) if named else "")


def in_time(figure, ratio):
    """A ratio to the floor and its interval as one of times; where the figures are rates, the ratio is one of rates."""
    at, low, high = (float(x) for x in re.findall(r"\d+\.\d+", ratio))
    return (1 / at, 1 / high, 1 / low) if "bit/s" in figure else (at, low, high)


def cost(figure, ratio):
    """A ratio to the floor as a cost in time, in words where it is not above 0."""
    at, low, high = in_time(figure, ratio)
    told = f"{at - 1:+.1%} [{low - 1:+.1%}, {high - 1:+.1%}]"
    return told if low > 1 else f"none seen ({told})" if high < 1 else f"not told from none ({told})"


def curve_in_words(rows):
    """What a curve takes, and how far runs of both tools lay apart: the same figure of both, or none."""
    of = {row[0]: row[1:] for row in rows if len(row) == 3}
    took = of.get("time for the curve")
    if not took:
        return None
    netpipe = f" NetPIPE 3.7's schedule took {took[0]} for its own." if took[0] != "-" else ""
    said = (f"A default curve over TCP loopback took {took[1]}: that is its budget of 12 s with what comes before and after, on any path, and `--budget` sets it.{netpipe}")
    for name, (theirs, mine) in of.items():
        apart = re.fullmatch(r"spread of (\d+) runs \((.*)\), (.*)", name)
        if apart and "-" not in (theirs, mine):
            said += (f" {apart[1]} runs of each, in turns, lay {mine} (pipegauge, medians) and {theirs} (NetPIPE, shortest trials) apart ({apart[2]}, {apart[3]}).")
    return said


def size_in_words(rows, names):
    """What the command takes besides time, beside its peers."""
    of = {row[0]: row[1:] for row in rows}

    def told(start):
        """The figures of the row that begins so, pipegauge's and in brackets the others'."""
        mine, *others = next(cells for name, cells in of.items() if name.startswith(start))
        beside = ", ".join(f"{name} {figure}" for name, figure in zip(names[1:], others) if figure != "-")
        return f"{mine} ({beside})" if beside else mine

    return (f"A stream over TCP on this host takes {told('processes')} processes, {told('threads')} threads, {told('descriptors')} descriptors and {told('largest resident memory, sum')} of memory, "
            f"both sides together; with messages of 8 MiB {told('largest resident memory with')}. On disk the program has {told('program on disk')} without symbols, "
            f"{told('with the shared')} with its shared libraries. `--help` takes {told('`--help`')}.")


def quoted(text, truth=""):
    """What README says, from RESULTS.md and TRUTH.md."""
    parts = Parts(text)
    out = []
    # Rows that don't say what was sent before the clock started were not measured at like settings: nothing of them is quoted.
    floor = [r for r in parts.rows("pipegauge against the floor") if len(r) == 6]
    out += ["Each ratio and each cost is the median of those of interleaved pairs, with a bootstrap 95% interval. The two figures beside it are each side's",
            "own median, and divide to another ratio.", ""]
    if floor:
        out += ["What pipegauge costs over a bare program that makes the same system calls at the same settings of the socket; of streams, time a byte. A",
                "row says what each had sent when its clock started. A sustained stream is timed at pipegauge's receiver and at the floor's sender. The",
                "floor is a bare program, not the fastest possible one: a figure below 0 is no lead, but tells how far two programs of the same work",
                "lie apart.", "",
                "| what | messages before the clock | bare floor | pipegauge | cost over the floor |", "|---|---|---|---|---|"]
        out += [f"| {r[0]} | {r[1]} | {r[2]} | {r[3]} | {cost(r[2], r[4])} |" for r in floor] + [""]
    out += ["Against other tools, both sides at like settings of the socket. Where the interval has 1 in it, the two are not told apart. Each interval is that of its",
            "row alone: of twenty rows of tools that are alike one leaves out 1 by chance.",
            "All of them measure one path, so that no ratio is a merit of either: one away from 1 says that the two send, warm up or count",
            "differently, or that the machine treated them so. Several flows against `iperf3 -P` and pairs of processes against nuttcp are not here:",
            "threads and CPUs are not alike there ([bench/RESULTS.md](bench/RESULTS.md))."]
    # How far two programs of the same work lie apart here.
    apart = max((1 - in_time(r[2], r[4])[0] for r in floor), default=0)
    if apart > 0:
        out.append(f"Here pipegauge took up to {apart:.1%} less time than the floor, which does the same work: a ratio within that of 1 is no lead, whatever its interval.")
    out += ["",
            "| against | what | ratio pipegauge / other |", "|---|---|---|"]
    for title, what in (("64 B TCP latency (RTT/2) against peers", "64 B TCP latency, RTT/2"),
                        ("TCP throughput, 128 KiB writes, against peers", "TCP throughput, 128 KiB writes")):
        for r in parts.rows(title):
            if len(r) == 6:
                out.append(f"| {r[0]} | {what}, {r[1]} ({r[3]}, {r[0]}: {r[2]}) | {r[4]} |")
            # Rows without their settings were not measured at like ones: nothing of them is quoted.
    for r in parts.rows("Latency of 64 B under the load of one stream, over that of the idle path"):
        if len(r) == 4:
            out.append(f"| sockperf beside iperf3 | 64 B latency beside one stream, over that of the idle path ({r[0]}, sockperf: {r[1]}) | {r[2]} |")
    for r in parts.rows("CPU time of a byte, 128 KiB stream over TCP, all processes of both sides"):
        if len(r) == 4:
            out.append(f"| iperf3 -N | CPU time of a byte, 128 KiB writes, all processes of both sides from start to end ({r[1]}, iperf3: {r[0]}) | {r[2]} |")
    away = [f"{r[0]}, {r[1]}" for r in parts.rows("TCP throughput, 128 KiB writes, against peers") if len(r) == 6 and not r[4].startswith("not told apart")]
    # What only waits, on both sides, and takes less time than the floor's does not come of what pipegauge does beside.
    away = [f"the floor, {r[0]}" for r in floor if in_time(r[2], r[4])[2] < 1] + away
    words = [f"Not explained: why these are told apart: {'; '.join(away)}."] if away else []
    if curve := curve_in_words(parts.rows("A default curve, 1 B to 8 MiB over TCP loopback")):
        words.append(curve)
    # Runs spread over an hour, and runs one after another: both are told, the harder one first.
    for title, when in (("Does a repeat fall where earlier runs foretold? Over an hour", "begun over an hour"),
                        ("Does a repeat fall where earlier runs foretold?", "one after another")):
        ranges = parts.rows(title)
        if len(ranges) <= 2:
            continue
        inside = [float(r[1].rstrip("%")) for r in ranges[:-2]]
        missed = sum(share < TARGET for share in inside)
        fell = f", the target of {TARGET:.0f}% missed in {missed} of them" if missed else ""
        sizes = sorted(int(r[3]) for r in ranges[:-2])
        earlier, wide, lay = int(ranges[0][0]) - 1, ranges[-2][1].lstrip("x"), ranges[-1][1].lstrip("x")
        words.append(f"Of runs {when}: in each of {len(inside)} later ones, at least {min(inside):.1f}% of the points fell into the range that {earlier} earlier runs foretold{fell}. "
                     f"Points are the sizes that both have, {sizes[0]} to {sizes[-1]} of the {ranges[-2][3]} with a range. "
                     f"From so few runs the range is wide: its upper end is typically {wide} times its lower end, while all runs lay within a factor of {lay}.")
    compared = parts.rows("Two sides of one thing, compared")
    if compared:
        runs = re.search(r"^(\d+) runs of", parts.bodies["Two sides of one thing, compared"], re.M)
        words.append(same.in_words(compared, runs and runs[1]))
    planted = parts.rows("Finding a planted difference with `run --vs`")
    if planted:
        told = lambda r: f"{r[0]} planted: {r[3].split()[0]} of {r[1]} {shares.in_words(int(r[3].split()[0]), int(r[1]))}"
        words.append(f"`run --vs`, two sides in turns, said that they differ ({'; '.join(told(r) for r in planted)}; in brackets the 95% interval of the share).")
    honesty = parts.rows("Honesty: the server stopped 100 ms in every 500 ms")
    if len(honesty) == 2:
        words.append(f"A server stopped 100 ms in every 500 ms (true p99 about 95 ms): the open loop says {honesty[0][2]}; the closed loop sees "
                     f"{honesty[1][2]} and warns that it can't see it.")
    dip, start = parts.rows("A planted dip, a twentieth of a decade wide"), parts.rows("Start and size")
    if dip:
        words.append(dips.in_words(dip[0]))
    words += filter(None, [truths.in_words(truth)])
    if start:
        words.append(size_in_words(start, parts.head("Start and size")[1:]))
    measured = f"Measured {days(parts.quoted)} on {machines(parts.quoted)}, by `make bench`."
    return "\n".join([measured, "", *out]) + "\n\n" + "\n\n".join(words)


def main():
    results, truth = (Path(ROOT, "bench", name).read_text() for name in ("RESULTS.md", "TRUTH.md"))
    new = quoted(results, truth)
    path = os.path.join(ROOT, "README.md")
    with open(path) as f:
        text = f.read()
    begin, end = text.index(BEGIN), text.index(END)
    with open(path, "w") as f:
        f.write(text[:begin] + BEGIN + "\n" + new + "\n" + text[end:])


if __name__ == "__main__":
    main()
