#!/usr/bin/env python3
"""Draws the CSV export of a run with matplotlib: throughput, signature and saturation graph, with 95% intervals as bands.

    pipegauge export RUN --format csv -o run.csv
    python3 plot.py run.csv run.pdf [--graph signature]

The picture's name says what it becomes: .pdf, .svg or .png. Without --graph it holds all three graphs. Needs matplotlib.
"""
import argparse
import csv
import sys
from collections import namedtuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, LogLocator, NullFormatter

NEEDED = ["path", "transport", "size_bytes", "time", "median_s", "low_s", "high_s", "throughput_bits_per_s"]
COLOURS = ["#0072b2", "#d55e00", "#008060", "#b0479a", "#7a5c00", "#3a3a3a", "#4f9fd6", "#e08a00"]
TIMES = {"half-round-trip": "RTT/2", "round-trip": "round trip", "one-way": "one way", "exchange": "exchange", "spacing": "spacing of all flows",
         "transaction": "transaction", "copy": "copy"}

# One size: its time with the ends of its interval, s, and the bits that one transfer moves.
Point = namedtuple("Point", "size seconds low high bits")


def read(name):
    """The paths of an export: a list of (transport, time kind, points)."""
    with open(name, newline="", encoding="utf-8") as f:
        table = csv.DictReader(f)
        missing = [column for column in NEEDED if column not in (table.fieldnames or [])]
        if missing:
            raise ValueError(f"{name} has no column {', '.join(missing)}: it must be what `pipegauge export RUN --format csv` writes")
        paths = {}
        for number, row in enumerate(table, 2):
            try:
                if not row["throughput_bits_per_s"]:
                    raise ValueError("no throughput: a run on a schedule (--rate) and one of HINT have none")
                seconds, rate = float(row["median_s"]), float(row["throughput_bits_per_s"])
                # Nothing bounds the interval of a single block: it has no band. That of two may reach over the whole
                # picture: it is cut at ten times, so that the axes are those of the curves.
                low, high = (float(row[end]) if row[end] else seconds for end in ("low_s", "high_s"))
                low, high = max(low, seconds / 10), min(high, seconds * 10)
                point = Point(int(row["size_bytes"]), seconds, low, high, rate * seconds)
            except (TypeError, ValueError) as e:
                raise ValueError(f"{name}, line {number}: {e}") from None
            if seconds > 0 and rate > 0:
                paths.setdefault((row["path"], row["transport"], row["time"]), []).append(point)
    if not paths:
        raise ValueError(f"{name} holds no point with a time: was anything measured?")
    return [(transport, TIMES.get(time, time), sorted(points)) for (_, transport, time), points in paths.items()]


def bytes_text(size, _=None):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"


def throughput(axes, points, colour, name):
    sizes = [p.size for p in points]
    axes.fill_between(sizes, [p.bits / p.high for p in points], [p.bits / p.low for p in points], color=colour, alpha=0.25, lw=0)
    axes.plot(sizes, [p.bits / p.seconds for p in points], color=colour, label=name)


def saturation(axes, points, colour, name):
    sizes = [p.size for p in points]
    axes.fill_between(sizes, [p.low for p in points], [p.high for p in points], color=colour, alpha=0.25, lw=0)
    axes.plot(sizes, [p.seconds for p in points], color=colour, label=name)


def signature(axes, points, colour, name):
    # A size's interval moves its point along both axes at once: the band lies between the curves of the ends.
    ends = [((p.low, p.bits / p.low), (p.high, p.bits / p.high)) for p in points]
    quads = [[a[0], a[1], b[1], b[0]] for a, b in zip(ends, ends[1:])]
    axes.add_collection(PolyCollection(quads, facecolors=colour, alpha=0.25, linewidths=0))
    axes.plot([p.seconds for p in points], [p.bits / p.seconds for p in points], color=colour, label=name)


GRAPHS = {"throughput": throughput, "signature": signature, "saturation": saturation}


def draw(paths, graphs):
    plt.rcParams.update({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.2,
                         "axes.grid": True, "grid.color": "#e3e6ea", "grid.linewidth": 0.5, "svg.fonttype": "none",
                         "svg.hashsalt": "pipegauge", "axes.axisbelow": True})
    figure, all_axes = plt.subplots(1, len(graphs), figsize=(3.5 * len(graphs), 2.8), layout="constrained", squeeze=False)
    kinds = " / ".join(dict.fromkeys(kind for _, kind, _ in paths))
    for axes, graph in zip(all_axes[0], graphs):
        for number, (name, _, points) in enumerate(paths):
            GRAPHS[graph](axes, points, COLOURS[number % len(COLOURS)], name)
        axes.set(xscale="log", yscale="log", title=f"{graph.capitalize()} graph")
        axes.autoscale_view()
        time_axis, rate_axis = {"throughput": (None, axes.yaxis), "signature": (axes.xaxis, axes.yaxis),
                                "saturation": (axes.yaxis, None)}[graph]
        if time_axis:
            time_axis.set_major_formatter(EngFormatter("s"))
            time_axis.set_label_text(f"Transfer time ({kinds})")
        if rate_axis:
            rate_axis.set_major_formatter(EngFormatter("bit/s"))
            rate_axis.set_label_text("Throughput")
        if graph != "signature":
            axes.xaxis.set_major_locator(FixedLocator([1 << n for n in range(0, 41, 5)]))
            axes.xaxis.set_major_formatter(FuncFormatter(bytes_text))
            axes.xaxis.set_minor_locator(LogLocator(base=2, numticks=99))
            axes.set_xlabel("Block size")
            axes.set_xlim(min(p.size for *_, points in paths for p in points) / 1.2, None)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter(NullFormatter())
        axes.legend(frameon=False, loc="upper left" if graph == "saturation" else "lower right")
    return figure


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("csv", help="what `pipegauge export RUN --format csv` wrote")
    flags.add_argument("picture", help="where to: .pdf, .svg or .png")
    flags.add_argument("--graph", choices=list(GRAPHS), help="this one alone")
    given = flags.parse_args()
    try:
        figure = draw(read(given.csv), [given.graph] if given.graph else list(GRAPHS))
        figure.savefig(given.picture, dpi=300)
    except (OSError, ValueError) as e:
        sys.exit(f"plot.py: {e}")


if __name__ == "__main__":
    main()
