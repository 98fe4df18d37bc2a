#!/usr/bin/env python3
"""Figure 5 of Horus, messages a second over messages a round with a line for each number of members, from a sweep of `--over members=... --over burst=...`.

  scripts/rates.py SWEEP NAME      SWEEP: the folder of the sweep; it writes NAME.svg and NAME.txt and measures nothing

Exit: 0 written, 1 no run of the folder has a rate, 2 wrong words."""
import json
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bench")]
from curves import picture  # noqa: E402
from pairs import bootstrap  # noqa: E402

# Rounds of the sweep from which an interval is told, as the sweep's own table has it.
FEWEST = 4


def rate(events):
    """Members, messages a round, and the rate of a run at which each member delivered what all sent, pauses included; none of a run without a point."""
    plan = next((e["plan"] for e in events if e["event"] == "run"), None)
    point = next((e for e in events if e["event"] == "point"), None)
    if plan is None or point is None or not point.get("transactions"):
        return None
    return plan["paths"][0].get("flows", 1) + 1, plan["burst"], point["transactions"]


def stack(runs):
    """The layers that all runs of a sweep have, for a title."""
    return next((f", {layers}" for run in runs for e in run[:1] if (layers := e["plan"]["paths"][0].get("settings", {}).get("stack"))), "")


def gathered(runs):
    """Rates of all runs, by members and messages a round."""
    found = {}
    for of in filter(None, map(rate, runs)):
        found.setdefault(of[:2], []).append(of[2])
    return found


def lines(found):
    """Of each number of members a line: messages a round, and of the rate the lowest, the median and the highest."""
    by = {}
    for (members, messages), rates in sorted(found.items()):
        by.setdefault(f"{members} members", []).append((messages, min(rates) / 1e3, statistics.median(rates) / 1e3, max(rates) / 1e3))
    return by


def text(found):
    """The same as a table, with an interval where there are rounds enough."""
    rows = [["members", "messages a round", "messages/s", "95% interval", "rounds"]]
    for (members, messages), rates in sorted(found.items()):
        middle, low, high = bootstrap(rates)
        rows.append([str(members), str(messages), f"{middle:,.0f}", f"[{low:,.0f}, {high:,.0f}]" if len(rates) >= FEWEST else "(no interval)", str(len(rates))])
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) + "\n" for row in rows)


def events(file):
    with open(file) as f:
        return [json.loads(line) for line in f]


def main(words):
    if len(words) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, name = Path(words[0]), words[1]
    runs = [events(file) for file in sorted(folder.glob("*.run.jsonl"))]
    found = gathered(runs)
    if not found:
        print(f"rates.py: no run in {folder} has messages a second: measure longer (--budget)", file=sys.stderr)
        return 1
    under = "thousands that each member delivers of what all send, pauses included; medians of runs, the band is from the slowest to the fastest"
    Path(f"{name}.svg").write_text(picture(f"1-byte messages a second over messages a round{stack(runs)}", under, "k/s", lines(found), str))
    Path(f"{name}.txt").write_text(text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
