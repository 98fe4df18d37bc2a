"""Tests of scripts/sockets.py, rates.py and curves.py without measuring. Closes with "N passed, N failed"."""
import argparse
import contextlib
import io
import json
import sys
import tempfile
import traceback
import xml.etree.ElementTree as xml
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import curves  # noqa: E402
import rates  # noqa: E402
import sockets  # noqa: E402

SIZES = [64, 256, 1024, 4096, 16384]


def of_curve(peak, half, size):
    return peak * size / (half + size)


def a_bandwidth_curve_is_found_again():
    for peak, half in ((32.9e6, 441), (9e9, 12000)):
        found = curves.bandwidth_curve(SIZES, [of_curve(peak, half, size) for size in SIZES])
        assert abs(found[0] / peak - 1) < 1e-9 and abs(found[1] / half - 1) < 1e-9, found
    # The same relative error weighs alike at every size: 10% more at the largest does not drown the others.
    rates = [of_curve(1e9, 1000, size) for size in SIZES]
    peak, half = curves.bandwidth_curve(SIZES, [*rates[:-1], 1.1 * rates[-1]])
    assert 1e9 < peak < 1.15e9 and 900 < half < 1250, (peak, half)


def what_tells_no_curve_has_none():
    assert curves.bandwidth_curve(SIZES[:2], [1.0, 2.0]) is None
    assert curves.bandwidth_curve([64, 64, 64], [1.0, 2.0, 3.0]) is None
    # Times that fall with size, and a line that begins below zero.
    assert curves.bandwidth_curve(SIZES, [size ** 2 for size in SIZES]) is None
    assert curves.bandwidth_curve([1, 2, 3], [1.0, 0.7, 0.4]) is None


def a_picture_is_xml_with_a_line_and_a_band_for_each_name():
    lines = {"a & b": [(64, 1.0, 2.0, 3.0), (1024, 5.0, 6.0, 7.0)], "c": [(64, 2.0, 2.0, 2.0)]}
    drawn = curves.picture("A <title>", "under", "MB/s", lines)
    root = xml.fromstring(drawn)
    said = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"A <title>", "under", "a & b", "c", "64 B", "1 KiB", "1 MB/s", "10 MB/s"} <= set(said), said
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == 4 and "nan" not in drawn
    heights = [float(e.get("cy")) for e in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert heights[0] > heights[1] and all(curves.TOP <= y <= curves.BOTTOM for y in heights), heights


def figures_are_read_from_what_the_tools_print():
    assert sockets.of_nuttcp("megabytes=100 real_seconds=1 rate_Mbps=40000.5 tx_cpu=99") == 40000.5e6 / 8
    assert sockets.of_iperf3('starting\n{"end": {"sum_received": {"bits_per_second": 5e10}}}') == 5e10 / 8
    for read in (sockets.of_nuttcp, sockets.of_iperf3):
        try:
            read("connection refused")
        except (TypeError, ValueError):
            continue
        raise AssertionError(f"{read} has a figure of nothing")


def layers_have_like_commands_and_take_turns():
    for server, client, _ in sockets.TOOLS.values():
        kernel, fast = (sockets.under("/x/fastsock", layer, client("1", 64, 10), "1") for layer in sockets.LAYERS.values())
        assert fast[3:5] == ["/x/fastsock", "run"] and kernel[:3] == fast[:3]
        # The port of the data is a free one each time.
        assert [word for word in fast[5:] if not word.isdigit()] == [word for word in kernel[3:] if not word.isdigit()]
        assert not {"-N", "-D"} & {*kernel, *server("1")}, "neither ttcp nor netperf sets TCP_NODELAY"
    assert sockets.FTP_LAYERS[sockets.AT_ONCE] == {"FASTSOCK_AFTER": "8"} and sockets.LAYERS["kernel TCP"] is None
    said = []
    found = sockets.in_turns({"a": 0, "b": 1}, [1, 2], 2, lambda name, size: said.append((name, size)) or len(said))
    order = [name for name, _ in said]
    assert order == ["a", "b", "a", "b", "b", "a", "b", "a"] and all(len(rates) == 2 for by in found.values() for rates in by.values()), said
    assert all(said[at][1] == said[at + 1][1] for at in range(0, 8, 2)), said


def rows_hold_the_medians_and_the_ratio_of_each_round():
    found = {"kernel TCP": {1024: [1e6, 2e6, 4e6]}, "fast": {1024: [3e6, 6e6, 4e6]}}
    rows = sockets.rates_in_words(sockets.in_mb(found))
    assert rows[1] == ["1 KiB", "2", "4", "3.00 [1.00, 3.00]"], rows
    by = {size: [of_curve(100.0, 500, size)] * 3 for size in SIZES}
    assert sockets.fits_in_words("nuttcp", {"fast": by}) == [["nuttcp", "fast", "100 [100, 100]", "500 [500, 500]"]]
    assert sockets.fits_in_words("nuttcp", {"fast": {64: [1.0, 1.0]}}) == [["nuttcp", "fast", "-", "-"]]


def a_budget_is_read_and_shared():
    assert [sockets.seconds(text) for text in ("12s", "300ms", "1.5m")] == [12, 0.3, 90]
    for text in ("12", "s", "-1s", "0s", "1h"):
        try:
            sockets.seconds(text)
        except argparse.ArgumentTypeError:
            continue
        raise AssertionError(text)
    assert [sockets.rounds_of(budget) for budget in (0.3, 6, 12, 600)] == [2, 3, 6, 7]
    assert sockets.sizes_of([1, 2, 3], 0.3) == [1, 3] and sockets.sizes_of([1, 2, 3], 12) == [1, 2, 3]
    assert all(sockets.writes_of(size, 1e-9) == 2048 and sockets.files_of(size, 1e-9) == 3 for size in (1, 1 << 26))


def messages_a_second_are_gathered_from_a_sweeps_runs():
    def run_of(members, messages, per_second):
        path = {"transport": "strata", "settings": {"stack": "A:B"}, **({"flows": members - 1} if members > 2 else {})}
        return [{"event": "run", "plan": {"paths": [path], "burst": messages}}, *([{"event": "point", "size": 1, "transactions": per_second}] if per_second else [])]

    # A run without a point, as of a busy machine, counts for none.
    runs = [run_of(2, 1, 50e3), run_of(2, 1, 70e3), run_of(2, 1, None), run_of(2, 25, 900e3), *(run_of(3, 25, 600e3) for _ in range(4)), run_of(4, 1, None), []]
    found = rates.gathered(runs)
    assert {at: len(each) for at, each in found.items()} == {(2, 1): 2, (2, 25): 1, (3, 25): 4}, found
    assert rates.lines(found) == {"2 members": [(1, 50, 60, 70), (25, 900, 900, 900)], "3 members": [(25, 600, 600, 600)]}
    rows = [row.split() for row in rates.text(found).splitlines()[1:]]
    assert rows == [["2", "1", "60,000", "(no", "interval)", "2"], ["2", "25", "900,000", "(no", "interval)", "1"], ["3", "25", "600,000", "[600,000,", "600,000]", "4"]], rows
    with tempfile.TemporaryDirectory() as at, contextlib.redirect_stderr(io.StringIO()) as said:
        sweep, name = Path(at, "sweep"), str(Path(at, "drawn"))
        sweep.mkdir()
        assert rates.main([str(sweep), name]) == 1 and "no run in" in said.getvalue() and not Path(name + ".svg").exists()
        assert rates.main([str(sweep)]) == 2
        for number, events in enumerate(runs):
            Path(sweep, f"cell-{number}.run.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
        assert rates.main([str(sweep), name]) == 0
        root = xml.parse(name + ".svg").getroot()
        words = {e.text for e in root.iter("{http://www.w3.org/2000/svg}text")}
        assert {"1-byte messages a second over messages a round, A:B", "2 members", "3 members", "1", "25", "1000 k/s"} <= words and Path(name + ".txt").read_text() == rates.text(found), words


passed = failed = 0
for test in [a_bandwidth_curve_is_found_again, what_tells_no_curve_has_none, a_picture_is_xml_with_a_line_and_a_band_for_each_name,
             figures_are_read_from_what_the_tools_print, layers_have_like_commands_and_take_turns, rows_hold_the_medians_and_the_ratio_of_each_round,
             a_budget_is_read_and_shared, messages_a_second_are_gathered_from_a_sweeps_runs]:
    try:
        test()
        passed += 1
    except Exception:
        failed += 1
        print(f"not ok - {test.__name__}\n{traceback.format_exc()}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
