"""The part of `make bench` that asks what `run --vs` finds on this machine: a difference of known size is planted between two sides of
one path, as a latency that each message waits longer, and the share of comparisons that say so is counted; with nothing planted, the
share that says so wrongly."""
import json
import os
import statistics
import subprocess

from common import PG, QUICK, WORK, pipegauge, points, run, say, table

SIZES = "64,256,1KiB,4KiB"
# Both sides wait at least so long, so that the decorator that waits is in both.
BASE = 5e-6
PLANTS = (0.0, 0.03, 0.10)
BUDGET = "6s"


def shape(seconds):
    return ["--shape", f"latency={round(seconds * 1e9)}ns"]


def found(planted, seconds):
    """One comparison: whether it says that the sides differ, whether it judged, and the ratio over all sizes."""
    sides = os.path.join(WORK, "planted")
    # One nanosecond where nothing is planted: sides that are typed alike are refused.
    later = " ".join(shape(BASE + max(planted * seconds, 1e-9)))
    command = [PG, "run", "tcp", "--sizes", SIZES, *shape(BASE), "--budget", BUDGET, "--vs", later, "-o", f"{sides}.run.jsonl", "--no-html", "--quiet"]
    p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if p.returncode == 2:
        raise RuntimeError(f"{' '.join(command)}: {p.stderr.strip()[-500:]}")
    said = json.loads(run([PG, "compare", f"{sides}.a.run.jsonl", f"{sides}.b.run.jsonl", "--json"]))["comparisons"][0]
    for side in "ab":
        os.unlink(f"{sides}.{side}.run.jsonl")
    return said["finding"] == "differ", said["judged"], said["whole"]


def part_vs():
    n = 3 if QUICK else 20
    seconds = statistics.median(p["median"] for p in points(pipegauge("tcp", "--sizes", SIZES, *shape(BASE), "--budget", BUDGET)).values())
    rows = []
    # In turns, so that an hour's change of the machine hits every plant alike.
    told = {planted: [] for planted in PLANTS}
    for _ in range(n):
        for planted in PLANTS:
            told[planted].append(found(planted, seconds))
    for planted, all_of in told.items():
        whole = [w for _, _, w in all_of if w]
        differ = sum(d for d, _, _ in all_of)
        judged = sum(j for _, j, _ in all_of)
        ratio = f"{statistics.median(w['value'] for w in whole):.3f}" if whole else "-"
        width = f"{statistics.median((w['high'] - w['low']) / 2 / w['value'] for w in whole):.1%}" if whole else "-"
        rows.append([f"{planted:.0%}", len(all_of), judged, f"{differ} ({differ / len(all_of):.0%})", ratio, width])
        say(f"planted {planted:.0%}: {differ} of {len(all_of)}")
    table("Finding a planted difference with `run --vs`",
          ["planted", "comparisons", "judged", "said to differ", "ratio over all sizes (median)", "half-width of its interval (median)"], rows,
          f"TCP, blocking, {SIZES} B, {BUDGET} a side. Each side waits {BASE * 1e6:.0f} us a message (`--shape`); the second waits longer by the planted share of the first side's time ({seconds * 1e6:.1f} us). What the wait itself costs is in both sides.")
