"""Runs each recipe on the exports of a modelled run: what it draws must show what the export holds, and an input that is none
must be refused in words. The model's clock is virtual and its noise seeded, so that every run of this test draws the same.

Usage: test-recipes.py PIPEGAUGE, a command built with the feature parquet; run it with a Python that has matplotlib, pandas,
pyarrow and nbconvert. Closes with "N passed, N failed, N skipped"."""

import base64
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pyarrow.parquet as pq

PROGRAM = str(Path(sys.argv[1]).resolve())
RECIPES = Path(__file__).resolve().parent.parent / "recipes"
COLOURS = ["#0072b2", "#d55e00"]  # of the first path and the second, in every recipe
GRAPHS = ["throughput", "signature", "saturation"]


def run(*command, expect=0, **env):
    p = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, env={**os.environ, **env})
    said = p.stdout + p.stderr
    assert (p.returncode == 0) == (expect == 0), f"{command} ended with {p.returncode}: {said[-2000:]}"
    return said


def pipegauge(*arguments):
    p = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert p.returncode != 2, p.stderr


def modelled(at, name, link):
    """The events of a run of the theoretical link."""
    pipegauge("run", "theory", "--theory", link, "--to", "64KiB", "--budget", "1s", "--no-html", "--quiet", "-o", at / name)
    return [json.loads(line) for line in (at / name).read_text().splitlines()]


def two_paths(first, second):
    """The first run with the path of the second beside its own, as if that were a UNIX socket."""
    first[0]["plan"]["paths"] = [{"transport": "theory"}, {"transport": "unix"}]
    for event in second:
        if "path" in event:
            event["path"] = 1
        if event["event"] == "path":
            event["transport"] = "unix"
    own = [e for e in second if e["event"] not in ("run", "end")]
    return first[:-1] + own + first[-1:]


def measure(at):
    """A run of a path without noise and a noisy one, and its exports."""
    # Iterations so long that what reading this machine's clock costs moves nothing.
    plain = modelled(at, "plain.run.jsonl", "latency=100us,rate=1Gbit/s")
    noisy = modelled(at, "noisy.run.jsonl", "latency=40us,rate=2Gbit/s,noise=10%,round-noise=10%,seed=3")
    (at / "a.run.jsonl").write_text("".join(json.dumps(e, separators=(",", ":")) + "\n" for e in two_paths(plain, noisy)))
    pipegauge("export", at / "a.run.jsonl", "--format", "csv", "-o", at / "a.csv")
    pipegauge("export", at / "a.run.jsonl", "--format", "parquet", "-o", at / "a.parquet")
    with open(at / "a.csv", newline="") as f:
        rows = list(csv.reader(f))
    head = rows[0]
    low, median, high = (head.index(c) for c in ("low_s", "median_s", "high_s"))

    def write(name, rows):
        with open(at / name, "w", newline="") as f:
            csv.writer(f).writerows(rows)

    write("no-median.csv", [r[:median] + r[median + 1:] for r in rows])
    write("no-points.csv", rows[:1])
    outlier = 1 + len(rows) // 3
    write("outlier.csv", [["1e6" if n == outlier and i == high else "0" if n == outlier and i == low else v for i, v in enumerate(r)] for n, r in enumerate(rows)])
    write("no-bounds.csv", [head] + [["" if i == high else v for i, v in enumerate(r)] for r in rows[1:]])
    write("certain.csv", [head] + [[r[median] if i in (low, high) else v for i, v in enumerate(r)] for r in rows[1:]])
    write("shuffled.csv", [r[::-1] for r in rows])
    (at / "empty.csv").write_text("")
    (at / "empty.parquet").write_text("")
    table = pq.read_table(at / "a.parquet")
    pq.write_table(table.drop_columns("point_median_s"), at / "no-median.parquet")


def coloured(png, colour):
    """How many pixels of a picture have about this colour."""
    pixels = matplotlib.image.imread(png)[..., :3]
    wanted = np.array([int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)])
    return int((np.abs(pixels - wanted).max(axis=-1) < 0.06).sum())


def has_curves(png):
    for colour in COLOURS:
        found = coloured(png, colour)
        assert found > 1000, f"{png}: {found} pixels of {colour}"


def pale(png):
    """How many pixels are a quarter of a curve's colour on white: those of the bands."""
    return sum(coloured(png, "#" + "".join(f"{round(255 - (255 - int(c[i:i + 2], 16)) / 4):02x}" for i in (1, 3, 5))) for c in COLOURS)


def drawing(recipe):
    """Tests of a recipe that draws CSV: `recipe(csv, picture, graph)` is its command."""
    def draws(at):
        for graph in [None, *GRAPHS]:
            run(*recipe(at / "a.csv", at / "p.png", graph))
            has_curves(at / "p.png")
            (at / "p.png").unlink()
        run(*recipe(at / "a.csv", at / "p.svg", None))
        svg = ElementTree.parse(at / "p.svg").getroot()
        text = " ".join(svg.itertext())
        for word in ("theory", "unix", "Throughput", "RTT/2", "KiB"):
            assert word in text, f"{word} is not in {text}"
        for colour in COLOURS:
            as_rgb = "rgb(" + ",".join(str(int(colour[i:i + 2], 16)) for i in (1, 3, 5)) + ")"
            drawn = (at / "p.svg").read_text().lower().replace(" ", "")
            assert colour in drawn or as_rgb in drawn, colour
        run(*recipe(at / "a.csv", at / "p.pdf", "signature"))
        assert (at / "p.pdf").read_bytes().startswith(b"%PDF") and (at / "p.pdf").stat().st_size > 2000

    def shows_intervals(at):
        for graph in GRAPHS:
            run(*recipe(at / "a.csv", at / "p.png", graph))
            run(*recipe(at / "certain.csv", at / "q.png", graph))
            band, none = pale(at / "p.png"), pale(at / "q.png")
            assert band > none + 50, f"{graph}: {band} pixels with intervals, {none} without"

    def knows_columns_by_name(at):
        run(*recipe(at / "a.csv", at / "p.png", None))
        run(*recipe(at / "shuffled.csv", at / "q.png", None))
        assert (at / "p.png").read_bytes() == (at / "q.png").read_bytes()

    def unbounded(at):
        run(*recipe(at / "no-bounds.csv", at / "p.png", None))
        has_curves(at / "p.png")

    def a_wild_interval_leaves_the_axes_to_the_curves(at):
        for name in ("a", "outlier"):
            run(*recipe(at / f"{name}.csv", at / f"{name}.png", "signature"))
        before, after = (sum(coloured(at / name, c) for c in COLOURS) for name in ("a.png", "outlier.png"))
        assert after > 0.5 * before, f"the curves have {after} pixels beside one outlying interval, {before} without"

    def refuses(at):
        for name, words in (("empty.csv", ["empty.csv"]), ("no-such.csv", ["no-such.csv"]), ("no-points.csv", ["no point"]),
                            ("no-median.csv", ["no column", "median_s", "pipegauge export"])):
            said = run(*recipe(at / name, at / "never.png", None), expect=1)
            assert all(w in said for w in words) and "Traceback" not in said, said
            assert not (at / "never.png").exists()
        run(*recipe(at / "a.csv", at / "never.xyz", None), expect=1)

    def quotes(at):
        odd = at / "it's a run.csv"
        shutil.copy(at / "a.csv", odd)
        run(*recipe(odd, at / "p.png", "signature"))
        has_curves(at / "p.png")

    def of_netpipe(at):
        pipegauge("export", at / "a.run.jsonl", "--format", "np", "--path", "unix", "-o", at / "np.out")
        (at / "np.run.jsonl").unlink(missing_ok=True)
        pipegauge("import", at / "np.out", "-o", at / "np.run.jsonl")
        pipegauge("export", at / "np.run.jsonl", "--format", "csv", "-o", at / "np.csv")
        run(*recipe(at / "np.csv", at / "p.png", None))
        assert coloured(at / "p.png", COLOURS[0]) > 1000

    return [draws, shows_intervals, knows_columns_by_name, unbounded,
            a_wild_interval_leaves_the_axes_to_the_curves, refuses, quotes, of_netpipe]


def notebook(file, at, expect=0):
    return run(sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", RECIPES / "pipegauge.ipynb", "--output-dir", at,
               "--output", "done.ipynb", expect=expect, PIPEGAUGE_PARQUET=str(file))


def notebook_runs_whole(at):
    notebook(at / "a.parquet", at)
    cells = json.loads((at / "done.ipynb").read_text())["cells"]
    code = [c for c in cells if c["cell_type"] == "code"]
    assert all(c["execution_count"] for c in code)
    outputs = [o for c in code for o in c["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error"]
    pictures = [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]
    assert len(pictures) == 2, len(pictures)
    for picture in pictures:
        (at / "cell.png").write_bytes(base64.b64decode(picture))
        has_curves(at / "cell.png")
    text = "".join("".join(o.get("text", "")) for o in outputs)
    trials = sum('"event":"trial"' in line for line in (at / "a.run.jsonl").read_text().splitlines())
    assert f"{trials} trials, 2 paths" in text, text


def notebook_refuses(at):
    for name, words in (("empty.parquet", ["empty"]), ("no-median.parquet", ["no column point_median_s", "pipegauge export"])):
        said = notebook(at / name, at, expect=1)
        assert all(w in said for w in words), said[-2000:]


def notebook_is_clean(_):
    cells = json.loads((RECIPES / "pipegauge.ipynb").read_text())["cells"]
    assert not [c for c in cells if c.get("outputs") or c.get("execution_count")], "the notebook is committed without results"


TESTS = [("matplotlib", drawing(lambda file, to, graph: [sys.executable, RECIPES / "plot.py", file, to, *(["--graph", graph] if graph else [])])),
         ("gnuplot", drawing(lambda file, to, graph: ["gnuplot", "-c", RECIPES / "pipegauge.gp", file, to, *([graph] if graph else [])])),
         ("notebook", [notebook_runs_whole, notebook_refuses, notebook_is_clean])]

passed = failed = skipped = 0
with tempfile.TemporaryDirectory() as scratch:
    measure(Path(scratch))
    (Path(scratch) / "again").mkdir()
    measure(Path(scratch) / "again")
    exports = [(Path(scratch) / at / "a.csv").read_text() for at in (".", "again")]
    assert exports[0] == exports[1], "the modelled run is not the same each time: timing would decide what is drawn"
    passed += 1
    for recipe, tests in TESTS:
        if recipe == "gnuplot" and not shutil.which("gnuplot"):
            print("gnuplot: gnuplot is not installed")
            skipped += len(tests)
            continue
        for test in tests:
            try:
                test(Path(scratch))
                passed += 1
                print(f"ok - {recipe}: {test.__name__}")
            except Exception:
                failed += 1
                print(f"not ok - {recipe}: {test.__name__}\n{traceback.format_exc()}")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
