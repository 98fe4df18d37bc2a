"""A round trip as a user types it: sockperf, which leaves its placement to the scheduler, against pipegauge as it pins by default and with `--pin none`."""
import statistics
import subprocess
import time

import peers
from common import PAIRS, WORK, pipegauge, points, table
from pairs import interleaved, ratio
from together import SMALL, missing

PORT = "11250"
PLACES = [("`pipegauge run tcp --sizes 64`", []), ("`pipegauge run tcp --sizes 64 --pin none`", ["--pin", "none"])]
NO_FIGURE = (RuntimeError, KeyError, subprocess.TimeoutExpired)


def mine(place):
    return points(pipegauge("tcp", "--sizes", str(SMALL), "--budget", "1s", *place))[SMALL]["median"]


def theirs():
    server = subprocess.Popen(["sockperf", "server", "--tcp", "-p", PORT], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        client = ["sockperf", "ping-pong", "--tcp", "-i", "127.0.0.1", "-p", PORT, "-m", str(SMALL), "-t", "1"]
        said = subprocess.run(client, capture_output=True, text=True, timeout=60, cwd=WORK).stdout
        return peers.number(r"percentile 50.000 =\s*([\d.]+)", said) * 1e-6
    finally:
        server.terminate()
        try:
            server.wait(3)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def part_typed():
    if missing("sockperf"):
        return
    rows = []
    for name, place in PLACES:
        pairs = interleaved(PAIRS, lambda: mine(place), theirs, failed=NO_FIGURE)
        median = lambda i: f"{statistics.median(p[i] for p in pairs) * 1e6:.2f} us"
        rows.append([name, median(1), median(0), ratio(pairs), len(pairs)])
    table(f"{SMALL} B round trip over TCP as typed, against sockperf", ["", "sockperf ping-pong --tcp -m 64 (median)", "pipegauge (median)", "ratio pipegauge/sockperf, paired [95%]", "pairs"], rows,
          "RTT/2, medians of a run of about a second, in turns. Nothing is pinned but by pipegauge's default, which keeps each side to a CPU of its own; the scheduler may put both sides on one, where a message wakes nobody on another.")
