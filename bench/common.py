"""What the parts of `make bench` share: where the programs are, how the command is run, and the tables that are kept."""
import atexit
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

from pairs import FEWEST_PAIRS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
PG = os.path.join(TARGET, "release/pipegauge")
FLOOR = os.path.join(TARGET, "release/pipegauge-floor")
QUICK = "--quick" in sys.argv
# Part `repeat`: its runs' files stay in the first folder, and those found there are read; they are spread over so many seconds.
KEEP = os.environ.get("KEEP")
OVER = float(os.environ.get("OVER", 0))
PAIRS = 5 if QUICK else max(20, FEWEST_PAIRS)
WORK = tempfile.mkdtemp(prefix="pipegauge-bench-")
# Whoever imports this: a bench that measures nothing (`--help`), and its tests, too.
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
# The user's earlier runs are neither read nor added to.
os.environ["PIPEGAUGE_HISTORY"] = os.path.join(WORK, "history")
TABLES = {}


def say(*words):
    print(*words, flush=True)


def machine():
    """What a part was measured on, without the trade marks and the build of the kernel."""
    with open("/proc/cpuinfo") as f:
        cpu = next((l.split(":")[1] for l in f if l.startswith("model name")), "unknown CPU")
    cpu = " ".join(re.sub(r"\((R|TM)\)", "", cpu).split())
    return f"{os.cpu_count()} CPUs ({cpu}), Linux {platform.release().split('-')[0]}"


MACHINE = machine()


def table(title, head, rows, note=""):
    """Keeps a table for RESULTS.md and prints it. Where nothing was measured, the table that is there stays."""
    if not rows:
        say(f"skipped: {title}, as nothing of it was measured; its table in RESULTS.md stays as it is\n")
        return
    lines = [f"## {title}", "", f"{time.strftime('%Y-%m-%d %H:%M')}, {MACHINE}.", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    if note:
        lines += ["", note]
    TABLES[title] = "\n".join(lines)
    say("\n".join(lines) + "\n")


def run(command, timeout=120, **more):
    p = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **more)
    if p.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {p.returncode}: {p.stderr.strip()[-500:]}")
    return p.stdout


def pipegauge(*args, timeout=120, out=None):
    """Runs the command, gives the run file's events; the file stays where `out` says."""
    out = out or os.path.join(WORK, "bench.run.jsonl")
    if os.path.exists(out):
        os.unlink(out)
    p = subprocess.run([PG, "run", *args, "-o", out, "--no-html", "--quiet"], capture_output=True, text=True, timeout=timeout)
    if p.returncode == 2:
        raise RuntimeError(f"pipegauge {' '.join(args)}: {p.stderr.strip()[-500:]}")
    with open(out) as f:
        return [json.loads(line) for line in f]


def trials(events):
    return [e for e in events if e["event"] == "trial" and not e.get("warmup")]


def points(events):
    return {e["size"]: e for e in events if e["event"] == "point"}
