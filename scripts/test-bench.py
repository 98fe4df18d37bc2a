"""Tests of `make bench` without measuring: like settings on both sides of every pair, and no lead told where there is none.
Closes with "N passed, N failed"."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import bench  # noqa: E402
import common  # noqa: E402
import dips  # noqa: E402
import fabrics  # noqa: E402
import fastsock  # noqa: E402
import footprint  # noqa: E402
import group  # noqa: E402
import layers  # noqa: E402
import mpi  # noqa: E402
import pairs  # noqa: E402
import peers  # noqa: E402
import programs  # noqa: E402
import quote  # noqa: E402
import same  # noqa: E402
import shares  # noqa: E402
import spread  # noqa: E402
import together  # noqa: E402
import truths  # noqa: E402

# What sets TCP_NODELAY of a tool: a flag, or its nature (NetPIPE and sockperf's ping-pong always, qperf never).
NODELAY_FLAGS = {"iperf3": "-N", "nuttcp": "-D", "netperf": "-D"}
CONGESTION_FLAGS = {"iperf3": "-C", "netperf": "-K"}
NATURE = {"NPtcp": True, "sockperf": True, "qperf": False}


def both_sides_of_every_pair_have_like_settings():
    for peer in peers.LATENCY + peers.THROUGHPUT + peers.FLOWS:
        for wanted in (None, "cubic"):
            settings = peer.settings("bbr", wanted)
            client, mine = peer.client(settings.congestion), settings.mine()
            own = client[client.index("--"):] if peer.program == "netperf" else client
            flag = NODELAY_FLAGS.get(peer.program)
            nodelay = flag in own if flag else NATURE[peer.program]
            assert mine[0] == ("--nodelay" if nodelay else "--no-nodelay"), (peer.name, mine)
            assert mine[1:2] == ["--congestion"], mine
            flag = CONGESTION_FLAGS.get(peer.program)
            # A tool without a flag has what the system gives.
            theirs = own[own.index(flag) + 1] if flag else "bbr"
            assert mine[2] == theirs, (peer.name, wanted, mine)
            if flag and wanted:
                assert theirs == "cubic", (peer.name, client)


def help_and_unknown_parts_measure_nothing_and_leave_nothing():
    for words, code, said in (["--help"], 0, "fastsock"), (["flor"], 2, "no such part: flor"):
        with tempfile.TemporaryDirectory() as at:
            ended = subprocess.run([sys.executable, ROOT / "bench" / "bench.py", *words], capture_output=True, text=True, timeout=20,
                                   env={**os.environ, "TMPDIR": at})
            assert ended.returncode == code and said in ended.stdout + ended.stderr, ended
            assert not os.listdir(at), os.listdir(at)


def both_sides_write_messages_of_one_size():
    for peer in peers.THROUGHPUT:
        said = " ".join(peer.client("bbr"))
        assert str(peers.BLOCK) in said, said
    for peer in peers.LATENCY:
        assert "64" in peer.client("bbr") or "64,64" in peer.client("bbr"), peer.name


def trials_of_throughput_are_sustained():
    assert {p.trial for p in peers.THROUGHPUT} == {"sustained"}
    for peer in peers.THROUGHPUT:
        said = " ".join(peer.client("bbr"))
        if peer.program != "NPtcp":
            assert "-t 1" in said or "-T1" in said or "-l 1 " in said, said


def figures_are_read_from_what_the_tools_print():
    near = lambda a, b: abs(a / b - 1) < 1e-9
    by = {p.program: p for p in peers.THROUGHPUT}
    assert near(by["iperf3"].read('starting\n{"end": {"sum_received": {"bits_per_second": 5e10}}}'), 5e10)
    assert near(by["nuttcp"].read("megabytes=100 rate_Mbps=40000.5 tx_cpu=99"), 40000.5e6)
    assert near(by["qperf"].read("tcp_bw:\n    bw  =  4000000000 bytes/sec\n"), 32e9)
    assert near(by["netperf"].read("35000.25\n"), 35000.25e6)
    assert near(peers.of_netpipe("131072 30517.578125 0.000032768\n", True), 32e9)
    by = {p.program: p for p in peers.LATENCY}
    assert near(by["sockperf"].read("[valid] avg-latency=9.990 (std-dev=1)"), 9.99e-6)
    assert near(by["qperf"].read("tcp_lat:\n    latency  =  9.5 us\n"), 9.5e-6)
    assert near(by["netperf"].read("50000.00\n"), 10e-6)
    assert near(peers.of_netpipe("64 51.5 0.00000944\n", False), 9.44e-6)
    for peer in peers.LATENCY + peers.THROUGHPUT + peers.FLOWS:
        if peer.read:
            try:
                peer.read("connection refused")
            except (RuntimeError, ValueError):
                continue
            raise AssertionError(f"{peer.name} has a figure of nothing")


def pairs_take_turns_and_each_side_begins_as_often():
    said = []
    found = pairs.interleaved(12, lambda: said.append("a") or 1.0, lambda: said.append("b") or 2.0)
    assert found == [(1.0, 2.0)] * 12 and len(found) >= pairs.FEWEST_PAIRS
    assert "".join(said) == "abba" * 6, said


def a_pair_without_a_figure_is_made_again_but_not_for_ever():
    left = iter([False, True, False] + [False] * 12)

    def sometimes():
        if next(left):
            raise ValueError("no figure")
        return 2.0

    assert pairs.interleaved(12, lambda: 1.0, sometimes, failed=ValueError) == [(1.0, 2.0)] * 12

    tries = []

    def never():
        tries.append(1)
        raise ValueError("no figure")

    try:
        pairs.interleaved(12, lambda: 1.0, never, failed=ValueError)
        assert False, "it must give up"
    except ValueError:
        assert len(tries) == 3, tries


def an_interval_with_one_in_it_tells_two_tools_not_apart_and_nothing_else_does():
    even = [(1.0 + 0.1 * (-1) ** i, 1.0) for i in range(20)]
    lead = [(1.2 + 0.01 * (-1) ** i, 1.0) for i in range(20)]
    assert pairs.ratio(even).startswith("not told apart: "), pairs.ratio(even)
    assert pairs.ratio(lead).startswith("1.200 [1.190, "), pairs.ratio(lead)
    assert pairs.ratio([(b, a) for a, b in lead]).startswith("0.8")


def only_pairs_at_like_settings_are_quoted():
    title = "TCP throughput, 128 KiB writes, against peers"
    head = "# Measured\n\n2 CPUs (X), Linux 6.18.\n\n## " + title + "\n\n2030-01-01 00:00.\n\n"
    old = head + "| a | b | c | d | e |\n|---|---|---|---|---|\n| iperf3 | 53.35 Gbit/s | 65.22 Gbit/s | 1.164 [1.079, 1.223] | 20 |\n"
    assert "| iperf3" not in quote.quoted(old)
    new = head + "| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n"
    new += "| iperf3 -N | NODELAY, cubic, sustained | 60 Gbit/s | 61 Gbit/s | not told apart: 1.060 [0.910, 1.370] | 20 |\n"
    said = quote.quoted(new)
    assert "NODELAY, cubic, sustained" in said and "| not told apart: 1.060 [0.910, 1.370] |" in said, said
    assert "Not explained" not in said, said
    said = quote.quoted(new.replace("not told apart: 1.060 [0.910, 1.370]", "0.947 [0.943, 0.953]"))
    assert "Not explained: why these are told apart: iperf3 -N, NODELAY, cubic, sustained." in said, said


FLOOR = ("# Measured\n\n2 CPUs (X), Linux 6.18.\n\n## pipegauge against the floor\n\n2030-01-01 00:00.\n\n"
         "| path | messages before the clock | floor (median) | pipegauge (median) | ratio, paired [95%] | pairs |\n|---|---|---|---|---|---|\n")


def floor_of(*rows):
    return quote.quoted(FLOOR + "".join(f"| {path} | 100 | 1 {unit} | 2 {unit} | {ratio} | 20 |\n" for path, unit, ratio in rows))


def nothing_is_said_to_beat_the_bare_floor():
    said = floor_of(("tcp, 1 B round trip", "us", "0.800 [0.700, 0.900]"),
                    ("unix, 1 B round trip", "us", "not told apart: 0.990 [0.900, 1.100]"),
                    ("shm, 1 B round trip", "us", "1.250 [1.200, 1.300]"),
                    ("tcp, a burst of 40 messages", "Gbit/s", "1.250 [1.100, 1.600]"),
                    ("unix, stream of messages", "Gbit/s", "0.800 [0.500, 0.900]"))
    cost = {row.split(" | ")[0].strip("| "): row.split(" | ")[-1].strip(" |") for row in said.split("\n") if row.startswith("|")}
    assert cost["tcp, 1 B round trip"] == "none seen (-20.0% [-30.0%, -10.0%])", cost
    assert cost["unix, 1 B round trip"] == "not told from none (-1.0% [-10.0%, +10.0%])", cost
    assert cost["shm, 1 B round trip"] == "+25.0% [+20.0%, +30.0%]", cost
    # Of a throughput the cost is in time: a rate of 1.25 is a cost of -20%.
    assert cost["tcp, a burst of 40 messages"] == "none seen (-20.0% [-37.5%, -9.1%])", cost
    assert cost["unix, stream of messages"] == "+25.0% [+11.1%, +100.0%]", cost
    assert "not the fastest possible one" in said and "beaten" not in said, said


def what_the_two_figures_of_a_row_are_is_said_above_both_tables():
    said = floor_of(("tcp, 1 B round trip", "us", "1.100 [1.050, 1.200]"))
    assert said.index("divide to another ratio") < said.index("| what | messages") < said.index("| against |"), said
    assert said.count("divide to another") == 1, said


def nothing_is_said_of_a_congestion_control_that_no_row_has():
    said = floor_of(("tcp, cubic, a burst of 40 messages", "Gbit/s", "not told apart: 1.010 [0.970, 1.040]"))
    assert "bbr" not in said, said


def streams_count_in_how_far_chance_goes_below_the_floor():
    said = floor_of(("tcp, 1 B round trip", "us", "0.975 [0.931, 1.015]"), ("tcp, stream of messages", "Gbit/s", "1.064 [0.950, 1.087]"))
    # A rate of 1.064 is 6.0% less time.
    assert "took up to 6.0% less time than the floor" in said, said
    said = floor_of(("tcp, 1 B round trip", "us", "0.975 [0.931, 1.015]"), ("tcp, stream of messages", "Gbit/s", "0.900 [0.850, 0.987]"))
    assert "took up to 2.5% less time than the floor" in said, said
    assert "why these are told apart: the floor, tcp, 1 B round trip" in floor_of(("tcp, 1 B round trip", "us", "0.900 [0.800, 0.950]"))
    assert "less time than the floor" not in floor_of(("tcp, 1 B round trip", "us", "1.100 [1.000, 1.200]"))


def rows_of_the_floor_say_what_was_sent_before_the_clock_or_are_not_quoted():
    assert "| tcp, 1 B round trip | 100 | 1 us |" in floor_of(("tcp, 1 B round trip", "us", "1.100 [1.000, 1.200]"))
    old = FLOOR.replace(" messages before the clock |", "").replace("|---|---|---|---|---|---|", "|---|---|---|---|---|")
    said = quote.quoted(old + "| tcp, 128 KiB stream, burst | 29.0 Gbit/s | 30.3 Gbit/s | not told apart: 1.064 [0.950, 1.087] | 20 |\n")
    assert "burst" not in said and "less time than the floor" not in said, said


def both_sides_send_as_many_messages_before_the_clock():
    def trial(repeats, received, **more):
        return {"event": "trial", "repeats": repeats, "far": {"received": received}, **more}
    run = [{"event": "run"}, trial(100, 101, warmup=True), trial(5000, 5001)]
    assert bench.sent_before(run) == bench.before_clock("stream") == 102
    assert bench.sent_before([trial(100, 100, warmup=True), trial(20000, 20000)]) == bench.before_clock("ping-pong") == 100
    # An iteration of a burst is so many messages.
    assert bench.sent_before([trial(100, 4000, warmup=True), trial(1, 40)], 40) == bench.before_clock("burst", 40) == 4000

    asked = []

    def another_count(*_):
        return [trial(12, 13, warmup=True), trial(20000, 20050, seconds=1.0)]

    real, bench.pipegauge, bench.run = (bench.pipegauge, bench.run), another_count, lambda command: asked.append(command) or '{"seconds_per_iteration": 1}'
    try:
        bench.against_floor("shm", "ping-pong", 1, 20000, True)
        raise AssertionError("unlike numbers of messages were compared")
    except RuntimeError as e:
        assert "not at like settings" in str(e), e
        bench.pipegauge = lambda *_: [trial(100, 100, warmup=True), trial(20000, 20000, seconds=1.0)]
        bench.against_floor("shm", "ping-pong", 1, 20000, True)
    finally:
        bench.pipegauge, bench.run = real
    assert asked and all(command[command.index("--warmup") + 1] == "100" for command in asked), asked


def the_floors_sockets_have_the_congestion_control_that_was_asked_for():
    def floor(has):
        """Its figure where it heeds what it is told, or has another congestion control all the same."""
        def answer(command):
            told = command[command.index("--congestion") + 1] if "--congestion" in command else "bbr"
            return json.dumps({"bits_per_second": 1e9, "congestion": [told, has or told]})
        return answer

    stream = [{"event": "trial", "repeats": 100, "far": {"received": 101}, "warmup": True},
              {"event": "trial", "repeats": 40, "far": {"received": 41, "bytes": 1, "seconds": 1}}]
    real, system = (bench.pipegauge, bench.run), peers.system_congestion
    bench.pipegauge, peers.system_congestion = lambda *_: stream, lambda *_: "bbr"
    try:
        for asked in (None, "cubic"):
            bench.run = floor(None)
            bench.against_floor("tcp", "stream", 131072, 40, False, asked)
            bench.run = floor("reno")
            try:
                bench.against_floor("tcp", "stream", 131072, 40, False, asked)
                raise AssertionError("unlike congestion controls were compared")
            except RuntimeError as e:
                assert "not at like settings" in str(e), e
    finally:
        (bench.pipegauge, bench.run), peers.system_congestion = real, system


def a_row_of_the_floor_without_a_figure_leaves_the_others():
    def measured(lacks):
        def against_floor(path, pattern, size, repeats, spin, congestion=None):
            if congestion == lacks:
                raise RuntimeError("congestion control can't be had")
            return [(1.0, 1.0)] * 12, 100
        return against_floor

    def lasting(path, *_):
        if "cubic" in _:
            raise RuntimeError("cubic can't be had")
        return 40

    tables, said = [], []
    names = ("against_floor", "lasting", "table", "say")
    real, system = [getattr(bench, name) for name in names], peers.system_congestion
    bench.against_floor, bench.lasting = measured("cubic"), lasting
    bench.table, bench.say, peers.system_congestion = lambda title, head, rows, note: tables.append(rows), said.append, lambda *_: "bbr"
    try:
        bench.part_floor()
    finally:
        for name, was in zip(names, real):
            setattr(bench, name, was)
        peers.system_congestion = system
    (rows,) = tables
    names = [row[0] for row in rows]
    assert not any("cubic" in name for name in names) and any("bbr" in name for name in names) and names[-1].startswith("unix, stream"), names
    assert len(said) == 2 and all("cubic" in line and "can't be had" in line for line in said), said


def rounds_are_told_of_the_size_that_has_the_fewest():
    found = {64: {"blocks": 40}, 1024: {"blocks": 31}, 64 << 10: {"blocks": 12}, 8 << 20: {"blocks": 9}}
    assert (bench.least_rounds(found, True), bench.least_rounds(found, False)) == (31, 9)


CURVE = ("# Measured\n\n## A default curve, 1 B to 8 MiB over TCP loopback\n\n2030-01-01 00:00.\n\n|  | NetPIPE 3.7 | pipegauge |\n|---|---|---|\n"
         "| time for the curve | 44.4 s | 12.5 s |\n| points | 124 | 162 |\n{}| width of one run's 95% interval | says none | 23.4% |\n")


def only_like_spreads_of_runs_are_quoted():
    row = "| spread of 5 runs (max/min - 1), mean over 49 common points | 68.3% | {} |\n"
    said = quote.quoted(CURVE.format(row.format("-")))
    assert "68.3%" not in said and "23.4%" not in said and "budget of 12 s" in said, said
    said = quote.quoted(CURVE.format(row.format("31.0%")))
    assert "5 runs of each, in turns, lay 31.0% (pipegauge, medians) and 68.3% (NetPIPE, shortest trials) apart (max/min - 1, mean over 49 common points)" in said, said
    assert "23.4%" not in said, said


def the_spread_of_runs_is_that_of_the_sizes_that_all_have():
    runs = [{1: 1.0, 2: 4.0, 3: 9.0}, {1: 2.0, 2: 5.0}, {1: 1.5, 2: 4.0, 4: 1.0}]
    assert spread.common(runs) == [1, 2] and spread.common([]) == []
    assert abs(spread.mean(runs, [1, 2]) - (1.0 + 0.25) / 2) < 1e-12


def cpu_time_is_that_of_a_whole_tree_of_processes():
    burn = "import os, time\nwhile time.process_time() < 0.2: pass"
    child = subprocess.Popen([sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"])
    assert together.waited(child) >= 0.2 and child.returncode == 0
    moved = together.bytes_moved([{"size": 10, "warmup": True, "far": {"received": 3}}, {"size": 10, "far": {"received": 4}}])
    assert moved == 70, "what was sent before the clock cost CPU time, too"


def a_tools_processes_are_counted_with_what_they_started():
    def process(root, pid, parent, command, descriptors, threads, memory, exe="/usr/bin/tool"):
        at = Path(root, str(pid))
        (at / "fd").mkdir(parents=True)
        for n in range(descriptors):
            (at / "fd" / str(n)).touch()
        (at / "stat").write_text(f"{pid} (a (b) c) S {parent} 1 1")
        (at / "cmdline").write_bytes(command)
        (at / "status").write_text(f"Name:\ttool\nVmHWM:\t{memory} kB\nThreads:\t{threads}\n")
        (at / "exe").symlink_to(exe)

    with tempfile.TemporaryDirectory() as root:
        process(root, 1, 0, b"init", 50, 1, 9)
        process(root, 10, 1, b"tool\0run", 11, 5, 20480)
        process(root, 11, 10, b"tool\0peer", 11, 3, 10240)
        # Not yet the program that it becomes; another program; another's process.
        process(root, 12, 10, b"tool\0run", 11, 1, 20480)
        process(root, 13, 10, b"sh", 3, 1, 1, exe="/bin/sh")
        process(root, 14, 1, b"tool\0other", 3, 1, 1)
        seen = footprint.look(footprint.Seen(), [10], "tool", root)
        assert seen.words() == ["2", "22", "8", "30 MiB"], seen
        # The most stays.
        assert footprint.look(seen, [11], "tool", root) == seen
    said = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n\t/lib64/ld-linux.so.2 (0x3)\n"
    assert footprint.libraries(said) == ["/lib/libc.so.6", "/lib64/ld-linux.so.2"]


def sizes_are_told_beside_the_peers():
    head = "# Measured\n\n## Start and size\n\n2030-01-01 00:00.\n\n| what | pipegauge | iperf3 |\n|---|---|---|\n"
    names = [("`--help`, least of 300", "2 ms", "1 ms"), ("processes, both sides", "2", "2"), ("descriptors, sum", "22", "15"), ("threads, sum", "8", "2"),
             ("largest resident memory, sum of processes", "29 MiB", "8 MiB"), ("program on disk, stripped", "22.67 MB", "0.01 MB"),
             ("with the shared libraries", "25.8 MB", "8.0 MB"), ("largest resident memory with messages of 8 MiB", "60 MiB", "-")]
    said = quote.quoted(head + "".join(f"| {' | '.join(row)} |\n" for row in names))
    assert "8 (iperf3 2) threads, 22 (iperf3 15) descriptors and 29 MiB (iperf3 8 MiB) of memory" in said, said
    assert "messages of 8 MiB 60 MiB." in said and "22.67 MB (iperf3 0.01 MB) without symbols" in said, said


def foretold_ranges_are_told_in_words():
    head = "# Measured\n\n## Does a repeat fall where earlier runs foretold?\n\n2030-01-01 00:00.\n\n| run | inside | time | sizes |\n|---|---|---|---|\n"
    rows = "| 4 | 98.2% | 1 | 109 |\n| 5 | 100.0% | 1 | 107 |\n| median of the foretold ranges, high / low | x22.31 |  | 114 |\n"
    last = "| median of what 10 runs spread, max / min | x2.12 |  | 104 |\n"
    said = quote.quoted(head + rows + last)
    assert "Of runs one after another: in each of 2 later ones, at least 98.2% of the points fell into the range that 3 earlier runs" in said, said
    assert "Points are the sizes that both have, 107 to 109 of the 114 with a range." in said, said
    over = quote.quoted(head.replace("foretold?", "foretold? Over an hour") + rows + last) + said
    assert over.index("Of runs begun over an hour: in each of 2") < over.index("one after another"), over
    assert "typically 22.31 times its lower end, while all runs lay within a factor of 2.12" in said, said


def the_systems_congestion_control_is_named():
    with tempfile.TemporaryDirectory() as at:
        file = Path(at, "proc/sys/net/ipv4/tcp_congestion_control")
        file.parent.mkdir(parents=True)
        file.write_text("bbr\n")
        assert peers.system_congestion(at) == "bbr"


def only_verdicts_count_as_said_to_differ():
    def found(finding):
        return {"finding": finding, "judged": finding in ("differ", "no_difference"), "sizes": [{"significant": finding == "differ"}],
                "disturbed": {"undecided": finding == "disturbed"}}
    all_found = [found(of) for of in ["no_difference"] * 6 + ["differ", "few_runs", "disturbed", "differ"]]
    row = same.row(3, all_found, "left alone")
    assert row == [3, 10, "8 (80.0%)", "2 (25.0%)", "1 (10.0%)", "2 (20.0%)", "left alone"], row
    assert same.row(1, [found("few_runs")] * 2, "x")[2:4] == ["0 (0.0%)", "0"], "of no verdict nothing is a share"
    said = same.in_words([[str(cell) for cell in row], ["1", "5", "0 (0.0%)", "0", "0 (0.0%)", "0 (0.0%)", "with a neighbour"]], "15")
    assert "3 runs a side, machine left alone: 2 of 8, no verdict on 2;" in said, said
    assert "machine with a neighbour: no verdict on any of 5)" in said, "the worst row is not left out"
    assert "of the same 15 runs: they are not independent" in said, said


def a_share_of_few_has_its_interval():
    near = lambda found, low, high: abs(found[0] - low) < 5e-4 and abs(found[1] - high) < 5e-4
    assert near(shares.interval(7, 8), 0.473, 0.997) and near(shares.interval(0, 8), 0, 0.369) and near(shares.interval(8, 8), 0.631, 1)
    head = "# M\n\n## Finding a planted difference with `run --vs`\n\n2030-01-01 00:00.\n\n| planted | comparisons | judged | said to differ |\n|---|---|---|---|\n"
    said = quote.quoted(head + "| 3% | 8 | 8 | 7 (88%) |\n")
    assert "3% planted: 7 of 8 [47%, 100%]" in said, said


def a_planted_dip_is_told_with_its_depth_and_its_noise():
    said = dips.in_words(["100", "100", "0"])
    assert "modelled link, with noise of 2%" in said and "take 3 times as long" in said and "100 of 100 found [96%, 100%]" in said, said
    model, end = dips.planted(1000, 4)
    assert end == 1122 and model == "latency=10us,rate=10Gbit/s,noise=2%,seed=4,dip=1000..1122*3", model


def targets_that_are_missed_are_told():
    truth = """# T

## Coverage

### 4 rounds of 40 sizes, 60 runs: the machine's truth

| noise | met |
|---|---|
| x | 1 of 2 |

Targets met: 162 of 225; 14 hold less often than they say, 49 more often.

### 4 rounds of 40 sizes, 60 runs: the run's truth

| noise | met |
|---|---|
| x | 1 of 2 |

Targets met: 404 of 405; 1 hold less often than they say, 0 more often.

## Percentiles of single iterations

### 30 rounds of 40 sizes, 30 runs

| noise | target | met | p50, alike | p99, alike |
|---|---|---|---|---|
| some | 92-98 | not met | **73 ±3.0%** | **9 ±1.0%** |
| other | 92-98 | met | 95 ±3.0% | 99 ±1.0% |

## Comparisons of sides in turns

### 9 rounds of 40 sizes, 60 runs

| noise | target | the same | holds | x1.03 |
|---|---|---|---|---|
| one | met | 3 | 95% | 9 |
| two | not met | **8** | 86% | **23** |
| three | met | 4 | 95% | 9 |

## Comparisons

### 9 rounds of 40 sizes, 60 runs

| noise | target | the same | the same, 3 a side | x1.03 |
|---|---|---|---|---|
| one | met | no verdict | 4, 52 none | 60 |

### 9 rounds of 40 sizes, 60 runs, several a side

| noise | target | sizes, 3 a side | limit, 3 a side | differ, 3 a side |
|---|---|---|---|---|
| one | met | 96 ±2% | 3 | 4 |
"""
    said = truths.in_words(truth)
    assert "162 of 225 are met with 4 rounds, where 14 hold less often than they say;" in said and "404" not in said, said
    assert "do so in 73 to 73%" in said and "in 4 cells of its tables it is more, the most 8 of 60 (two)" in said, said
    assert truths.in_words("") is None


def both_sides_of_a_fabric_have_like_settings():
    assert {f.program for f in fabrics.FABRICS} == {"ucx_perftest", "fi_pingpong"}
    for fabric in fabrics.FABRICS:
        set_to = dict(one.split("=") for one in fabric.path.split(":")[1].split(","))
        mine, server, client = fabric.mine(), fabric.server(), fabric.client()
        after = lambda words, flag: words[words.index(flag) + 1]
        size, times = after(mine, "--sizes"), after(mine, "--repeats")
        assert "127.0.0.1" in client and after(mine, "--trials") == "1", fabric
        if fabric.program == "ucx_perftest":
            for side in (server, client):
                assert f"UCX_TLS={set_to['tls']}" in side and "UCX_NET_DEVICES=lo" in side, side
            assert (after(client, "-s"), after(client, "-n")) == (size, times), client
            tests = {"tag": ("tag_lat", "tag_bw"), "am": ("ucp_am_lat", "ucp_am_bw"), "stream": ("stream_lat", "stream_bw")}
            latency, rate = tests[set_to.get("op", "tag")]
            assert after(client, "-t") == {"ping-pong": latency, "stream": rate, "get": "ucp_get", "put": "ucp_put_bw"}[fabric.pattern], client
            # One message or access under way on both sides.
            assert fabric.pattern == "ping-pong" or after(client, "-O") == "1", client
            assert fabric.a_rate == (fabric.pattern in ("stream", "put") or fabric.size == fabrics.BLOCK), fabric
        else:
            for side in (server, client):
                assert (after(side, "-S"), after(side, "-I")) == (size, times), side
                assert (after(side, "-p"), after(side, "-e")) == (set_to["provider"], set_to["endpoint"]), side
                assert after(side, "-m") == {"message": "msg", "tagged": "tagged"}[set_to["op"]], side
            assert fabric.pattern == "ping-pong", fabric


def every_way_of_ucx_is_held_against_a_test_of_its_own():
    of_ucx = [f for f in fabrics.FABRICS if f.program == "ucx_perftest"]
    for tls in ("tcp", "shm"):
        found = {(f.path.partition("op=")[2], f.pattern, f.size) for f in of_ucx if f"tls={tls}" in f.path}
        messages = {(op, *how) for op in ("tag", "am", "stream") for how in (("ping-pong", fabrics.SMALL), ("stream", fabrics.BLOCK))}
        accesses = {("", "get", fabrics.SMALL), ("", "get", fabrics.BLOCK), ("", "put", fabrics.BLOCK)}
        assert found == messages | accesses, found
    assert len({(f.path, f.what) for f in of_ucx}) == len(of_ucx), "each has a row of its own"


def figures_of_fabrics_are_read_from_what_the_tools_print():
    near = lambda a, b: abs(a / b - 1) < 1e-9
    said = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n100,2.0,4.0,4.0,8.0,8.0,1,1\n"
    for fabric in fabrics.FABRICS:
        if fabric.program == "ucx_perftest":
            assert near(fabric.read(said), 8.0 * 1024 * 1024 * 8 if fabric.a_rate else 4e-6), fabric
    said = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n5000,3.158,18.257,18.257,3.34,3.34,54773,54773\n"
    latency, rate = fabrics.of_perftest(said)
    assert near(latency, 18.257e-6) and near(rate, 3.34 * 1024 * 1024 * 8)
    said = "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n64      5k      =5k      625k        1.14s      0.56     113.70       0.01\n"
    assert near(fabrics.of_pingpong(said, 64), 113.70e-6)
    for fabric in fabrics.FABRICS:
        try:
            fabric.read("connection refused")
        except RuntimeError:
            continue
        raise AssertionError(f"{fabric.path} has a figure of nothing")


def a_table_without_rows_leaves_the_recorded_one():
    kept = dict(common.TABLES)
    try:
        common.TABLES.clear()
        with contextlib.redirect_stdout(io.StringIO()):
            common.table("none", ["a"], [], "a note")
            assert not common.TABLES, common.TABLES
            common.table("one", ["a"], [[1]])
        assert "| 1 |" in common.TABLES["one"]
    finally:
        common.TABLES.clear()
        common.TABLES.update(kept)


def the_set_up_has_what_figures_and_bench_measure():
    text = (ROOT / "scripts" / "setup.sh").read_text()
    for goal, programs in {"figures": ["ip", "ethtool", "mpiexec.openmpi", "mpicc.mpich"], "bench": ["NPopenmpi", "NPmpich2", "mpicc.openmpi", "mpicc.mpich"]}.items():
        wanted = "".join(part for head, part in (block.split("; then", 1) for block in text.split("if ")[1:] if "; then" in block) if f'"$goal" = {goal} ]' in head)
        for program in programs:
            assert f"have {program}\n" in wanted, (goal, program)
    make = (ROOT / "Makefile").read_text()
    assert "figures:\n\t@scripts/setup.sh figures" in make and "bench:\n\t@scripts/setup.sh bench" in make


def both_sides_of_an_mpi_have_like_settings_and_figures_are_read():
    assert {(m.module, m.program) for m in mpi.ALL} == {("openmpi", "NPopenmpi"), ("mpich", "NPmpich2")}
    after = lambda words, flag: words[words.index(flag) + 1]
    for one in mpi.ALL:
        mine, theirs = one.mine(), one.theirs("np.out")
        assert after(mine, "--sizes") == after(theirs, "-l") == after(theirs, "-u") == str(one.size), one
        assert after(mine, "--repeats") == after(theirs, "-n") and after(mine, "--trials") == "3" and after(theirs, "-p") == "0", one
        assert "core" in theirs and after(mine, "--pin") == "0,1" and after(theirs, "-np") == "2", one
    assert mpi.of_netpipe(" 1048576 85446.765166   0.00009363\n", 1 << 20) == 0.00009363
    for nothing in ["", "64 1.0", "mpirun: not found"]:
        try:
            mpi.of_netpipe(nothing, 64)
        except RuntimeError:
            continue
        raise AssertionError(f"a figure of {nothing!r}")


def of_a_path(path, size, times, **more):
    return [{"event": "trial", "path": path, "size": size, "block": block, "median": time, **more} for block, time in enumerate(times)]


def rounds_of_two_paths_are_compared_round_by_round():
    drift = [1.0, 8.0, 2.0, 5.0, 3.0, 1.0]
    events = of_a_path(0, 64, [30e-6 * d for d in drift]) + of_a_path(1, 64, [1e-6 * d for d in drift]) + of_a_path(1, 4096, [9.0])
    events += [{**e, "warmup": True, "median": 1.0} for e in events]
    told = fastsock.beside(events, 0, 1, 64)
    assert all(abs(x - 30) < 1e-9 for x in told), told
    assert fastsock.in_words(told) == "30.00 [30.00, 30.00]" and fastsock.verdict(told, 30.1) == "missed" and fastsock.verdict(told, 29) == "met"
    # A round of one path alone, or too few, compare nothing.
    assert fastsock.beside(events, 0, 1, 4096) is None and fastsock.beside(events[:4] + events[6:], 0, 1, 64) is None
    assert fastsock.verdict(None, 1) == "not measured" and fastsock.verdict((3, 2, 5), 2.7) == "not told" and fastsock.in_words(None) == "-"


def a_streams_time_is_its_receivers():
    stream = {"event": "trial", "size": 1000, "far": {"seconds": 2.0, "bytes": 8000}}
    assert fastsock.each(stream) == 0.25 and fastsock.each({**stream, "median": 3e-6}) == 3e-6
    assert fastsock.each({**stream, "far": {"seconds": 0.0, "bytes": 0}}) is None and fastsock.each({"size": 1}) is None


def cpu_time_of_a_message_is_that_of_both_sides_or_none():
    near, far = {"cpu_ns": 3000, "iterations": 10}, {"cpu_ns": 500, "iterations": 10}
    events = of_a_path(1, 64, [1.0, 1.0], cost=near, far={"cost": far}) + of_a_path(2, 64, [1.0], cost=near, far={})
    assert fastsock.cpu(events, 1, 64) == 350 and fastsock.cpu(events, 2, 64) is None and fastsock.cpu(events, 1, 1) is None


def every_place_of_fast_sockets_has_like_flags_for_all_of_its_paths():
    names = [name for name, _ in fastsock.PLACES]
    assert names == ["pinned", "unpinned", "on one core", "oversubscribed"], names
    for _, place in fastsock.PLACES:
        # What is said of a path alone would make them unlike.
        assert all(":" not in word for word in place) and "--pin" in place, place
    assert fastsock.FAST == "tcp:preload=fastsock"


def carriers_of_a_group_are_measured_alike_and_lose_alike():
    names = [carrier.path.split("label=")[1] for carrier in group.CARRIERS]
    assert len(set(names)) == len(names) and group.CARRIERS[0].of == "strata"
    # More rounds than an interval takes; casts are counted, and no time that opening a path took makes them fewer.
    assert 9 <= group.FEWEST < group.ROUNDS
    for load in group.LOADS:
        taking = group.taken(group.CARRIERS, load)
        # Nothing of shared memory is lost, so that its figure would not be of that load.
        assert [carrier for carrier in group.CARRIERS if carrier not in taking] == [carrier for carrier in group.CARRIERS if load.loss and ":shm" in carrier.path], load
        words = group.command(taking, load, "x", group.ROUNDS)
        after = lambda flag: words[words.index(flag) + 1]
        assert (after("--trials"), after("--repeats"), after("--budget")) == (str(group.ROUNDS), str(load.repeats), "10min"), words
        assert load.repeats * load.messages >= 2000, load
        assert (after("--sizes"), after("--burst"), after("--pattern")) == (str(load.size), str(load.messages), load.pattern), load
        dropped = int(words[words.index(group.NAMESPACE) + 1])
        assert dropped == load.loss * 10_000, load
        # What Corosync's own namespaces drop is what this one drops.
        for word in words:
            assert not word.startswith("corosync") or (f",loss={load.loss:.0%}" in word) == bool(load.loss), (load, word)


def figures_of_a_group_are_rates_or_times_of_rounds():
    def trial(path, block, seconds, **more):
        return {"event": "trial", "path": path, "block": block, "burst": 25, "repeats": 100, "seconds": seconds, "median": seconds / 100, **more}

    rounds = range(pairs.FEWEST_PAIRS)
    events = [trial(0, b, 0.01) for b in rounds] + [trial(1, b, 0.1) for b in rounds] + [trial(1, 9, 1.0, warmup=True), trial(2, 0, 1.0, lost=100)]
    ours, theirs, load = group.figures(events, 0, False), group.figures(events, 1, False), group.LOADS[0]
    assert ours == dict.fromkeys(rounds, 750_000) and theirs == dict.fromkeys(rounds, 75_000)
    assert group.figures(events, 2, False) == {}, "a round that lost all has no rate"
    assert group.beside(ours, theirs, False)[0] == 10
    assert group.verdict(group.against_target(ours, load), 1) == "met" and group.verdict(group.against_target(theirs, load), 1) == "missed"
    times = group.figures(events, 1, True)
    assert times == dict.fromkeys(rounds, 0.001) and group.beside(group.figures(events, 0, True), times, True)[0] == 10
    few = dict.fromkeys(range(group.FEWEST - 1), 1)
    assert group.beside(few, few, False) is None and group.against_target(few, load) is None
    # One message of all senders is a time with its rate beside it, and meets its target by being short.
    one, sender = ([load for load in group.LOADS if (load.messages, load.pattern) == (1, pattern)][0] for pattern in ("group", "one-sender"))
    assert one.timed and sender.timed and group.told_twice(events, 1, one) == "1000.00 us, 75,000/s", group.told_twice(events, 1, one)
    assert group.told_twice(events, 1, sender) == "1000.00 us" and group.told_twice(events, 1, load) == "75,000/s" and group.told_twice(events, 3, one) == "-"
    assert group.verdict(group.against_target(times, one), 1) == "missed" and group.verdict(group.against_target(dict.fromkeys(rounds, 40e-6), one), 1) == "met"


def an_empty_cell_of_a_group_says_why():
    carriers = [group.Carrier(name, f"strata:stack=x,label={name}", "") for name in ("total", "total-multicast", "fifo", "mc")]
    trial = {"event": "trial", "path": 3, "block": 1, "burst": 25, "repeats": 100, "lost": 100, "seconds": 0}
    ended = {"event": "end", "error": "total: the view changed; a member left\nit; total-multicast: order broken at message 7"}
    why = lambda path, events, said="", needed=1: group.reason(events, path, carriers, False, said, needed)
    events = [trial, ended]
    # Several paths' failures are one line, and a failure's own text may have a semicolon, another path's name, or lines.
    assert why(0, events) == "the view changed; a member left it", why(0, events)
    assert why(1, events) == "order broken at message 7", why(1, events)
    # A path that failed in the middle has an error and a loss: the error is what ended it.
    assert why(3, events) == "100 of 100 rounds of casts were lost", why(3, events)
    # What ended others explains nothing of one that it does not name, and neither does what the command said of them.
    assert why(2, events, "total: the view changed") == "the run says nothing of it"
    assert why(2, [], "killed") == "killed" and why(2, [{"event": "end"}]) == "the run says nothing of it"
    assert why(2, [], "x" * 999) == "x" * 400
    some = [{**trial, "path": 1, "block": block, "lost": 0, "seconds": 1} for block in range(3)]
    assert why(1, [*some, ended], needed=9) == "3 of the 9 rounds that an interval takes; order broken at message 7"
    assert group.explained([("a", "b", "c."), ("d", "e", "f")]) == " Empty: a, b: c. Empty: d, e: f." and group.explained([]) == ""


def what_a_group_says_last_is_kept_and_a_run_that_never_began_is_an_error():
    load = group.Load("x, y", 1, 1, 1, 1)
    kept = group.command
    try:
        group.command = lambda carriers, load, out, rounds: ["sh", "-c", f"""echo '{{"event":"end","error":"a: it broke"}}' >{out}; echo first >&2; echo last >&2; exit 1"""]
        assert group.measured([], load) == ([{"event": "end", "error": "a: it broke"}], "last")
        os.unlink(os.path.join(group.WORK, "group-x-y.run.jsonl"))
        group.command = lambda *_: ["sh", "-c", "echo no namespace >&2; exit 2"]
        try:
            group.measured([], load)
        except RuntimeError as e:
            assert str(e) == "x, y: ended with 2: no namespace", e
        else:
            raise AssertionError("a run without a file has figures")
    finally:
        group.command = kept


def stacks_of_the_layers_differ_in_what_is_compared_alone():
    names = [group.label(each) for each in layers.STACKS]
    assert len(set(names)) == len(names) and layers.FEWEST == pairs.FEWEST_PAIRS < layers.ROUNDS
    spelt = lambda each: each.path.split("stack=")[1].split(",")[0]
    for name, first, second in layers.COMPARED:
        assert first in layers.STACKS and second in layers.STACKS, name
        short = lambda each: spelt(each).replace("FAST:", "") if "FAST" in name else re.sub(r"FRAG\*\d+", "FRAG", spelt(each))
        assert short(first) == short(second) and spelt(first) != spelt(second), name
    times = lambda each: int((re.search(r"FRAG\*(\d+)", spelt(each)) or [0, 1])[1])
    assert [times(each) for each in (layers.PLAIN, layers.FRAG_2, layers.FRAG_10)] == [1, 2, 10]
    for load in layers.LOADS:
        words = group.command(layers.STACKS, load, "x", layers.ROUNDS)
        assert words[words.index("--trials") + 1] == str(layers.ROUNDS) and load.repeats * load.messages >= 2000 and not load.loss
        assert all(each.path in words for each in layers.STACKS)


def what_layers_cost_is_read_and_held_against_the_target():
    said = "with FAST on eleven: 398 ns\na cast, delivered at both: 455 ns with one FRAG, 546 ns with eleven: 9.1 ns a layer (CPU time, medians of 41 rounds)\n"
    assert [round(each * 1e9, 6) for each in layers.of_layers(said)] == [455, 546, 398, 9.1]
    assert round(layers.of_layers(said.replace("9.1 ns", "-0.4 ns"))[3] * 1e9, 6) == -0.4
    said = "3 members, 40 times one killed and suspected, 1 casts delivered between: the next view after p50 0.46 ms, p90 4.57 ms, at most 18.07 ms\n"
    assert [round(each * 1e3, 6) for each in layers.of_view(said)] == [0.46, 4.57, 18.07]
    for read in (layers.of_layers, layers.of_view):
        try:
            read("a member ended (exit status: 1)")
        except RuntimeError:
            continue
        raise AssertionError(f"{read} has a figure of nothing")
    row = lambda values: layers.target("x", "at most 10 ns", values, layers.LAYER, layers.nanoseconds)
    assert row([5e-9] * 12) == ["x", "at most 10 ns", "5.0 ns [5.0, 5.0]", "2.00 [2.00, 2.00]", "met"], row([5e-9] * 12)
    assert row([20e-9] * 12)[-2:] == ["0.50 [0.50, 0.50]", "missed"] and row([5e-9, 20e-9] * 6)[-1] == "not told" and row([-1e-9] * 12)[-1] == "met"
    rounds = range(layers.FEWEST)
    many, few = dict.fromkeys(rounds, 42.8e-6), dict.fromkeys(rounds, 42e-6)
    assert layers.nanoseconds(layers.further(many, few, 8)) == "100.0 ns [100.0, 100.0]" and layers.further(many, {0: 1}, 8) is None
    assert layers.beside({b: 2.0 for b in rounds}, {b: 1.0 for b in rounds}, False)[0] == 2 == layers.beside({b: 1.0 for b in rounds}, {b: 2.0 for b in rounds}, True)[0]
    assert layers.beside({0: 1.0}, {0: 1.0}, True) is None


def programs_have_like_commands_on_both_layers_and_their_figures_are_read():
    with tempfile.TemporaryDirectory() as at:
        for work in programs.WORKS:
            for command, cpu in ((work.server(7, Path(at)), "0"), (work.client(7, 1000), "1")):
                kernel, fast = programs.under(None, work, command, cpu), programs.under("/x/fastsock", work, command, cpu)
                place = ["taskset", "-c", cpu] if work.place == "pinned" else []
                assert kernel == [*place, *command] and fast == [*place, "/x/fastsock", "run", *command]
                assert command[0] in work.needs, command
    def after(work, flag, otherwise):
        words = work.client(7, 1)
        return int(words[words.index(flag) + 1]) if flag in words else otherwise

    # A call for a request and one for its answer, or for as many as are sent at once; with fewer than 1024 calls no connection is fast.
    redis = [work for work in programs.WORKS if "redis" in work.name]
    assert all(2 * work.requests(20_000) / after(work, "-c", 0) / after(work, "-P", 1) > 4 * 1024 for work in redis)
    assert [(after(work, "-P", 1), work.place) for work in redis] == [(1, "pinned"), (1, "pinned"), (16, "pinned"), (16, "unpinned")]
    assert [(work.name.split(",")[0], work.target) for work in programs.WORKS] == [("redis GET", 5), ("redis GET", 1.8), *[("redis GET", 0.95)] * 2, *[("nginx keep-alive", 2.5)] * 2]
    # A quick run has enough of them, and a long one no more than pays.
    assert [redis[2].requests(asked) for asked in (20_000, 100_000)] == [2_000_000] * 2 and redis[1].requests(100_000) == 1_000_000
    assert programs.of_redis("GET: rps=100.0 (overall: 9.5)\rGET: 46111.11 requests per second, p50=0.015 msec\n", 1000) == (46111.11, 1000)
    assert programs.of_wrk("  5000 requests in 1.10s, 1.00MB read\nRequests/sec:   4545.45\n", 1) == (4545.45, 5000)
    for read, text in ((programs.of_redis, "refused"), (programs.of_wrk, ""), (programs.of_wrk, "9 requests in 1s\n  Non-2xx or 3xx responses: 9\nRequests/sec: 9\n")):
        try:
            read(text, 1)
        except RuntimeError:
            continue
        raise AssertionError(f"a figure of {text!r}")


def rates_of_programs_are_compared_pair_by_pair():
    pairs_of = [((1000.0 * drift, 20e-6), (3000.0 * drift, 5e-6)) for drift in (1, 9, 2, 5, 3)]
    ratio, line = programs.row(programs.WORKS[0], pairs_of)
    assert ratio == (3, 3, 3) and line == ["redis GET, 1 client", "3.0 k/s", "9.0 k/s", "3.00 [3.00, 3.00]", "20.0 us", "5.0 us"], line


def a_childs_cpu_time_counts():
    busy = "import os, sys\nif os.fork() == 0:\n while sum(os.times()[:2]) < 0.2: pass\nprint(flush=True)\nsys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        # Both have come there: two lines.
        parent.stdout.readline(), parent.stdout.readline()
        found, alone = programs.cpu_of(parent.pid), len(programs.family(parent.pid))
        parent.stdin.close()
    assert found >= 0.19 and alone == 2, (found, alone)


passed = failed = 0
for test in [both_sides_of_every_pair_have_like_settings, help_and_unknown_parts_measure_nothing_and_leave_nothing, both_sides_write_messages_of_one_size,
             trials_of_throughput_are_sustained, figures_are_read_from_what_the_tools_print,
             pairs_take_turns_and_each_side_begins_as_often, a_pair_without_a_figure_is_made_again_but_not_for_ever,
             an_interval_with_one_in_it_tells_two_tools_not_apart_and_nothing_else_does, only_pairs_at_like_settings_are_quoted,
             nothing_is_said_to_beat_the_bare_floor, what_the_two_figures_of_a_row_are_is_said_above_both_tables,
             nothing_is_said_of_a_congestion_control_that_no_row_has, the_floors_sockets_have_the_congestion_control_that_was_asked_for,
             a_row_of_the_floor_without_a_figure_leaves_the_others, streams_count_in_how_far_chance_goes_below_the_floor,
             rows_of_the_floor_say_what_was_sent_before_the_clock_or_are_not_quoted, both_sides_send_as_many_messages_before_the_clock,
             rounds_are_told_of_the_size_that_has_the_fewest, only_like_spreads_of_runs_are_quoted, the_spread_of_runs_is_that_of_the_sizes_that_all_have, cpu_time_is_that_of_a_whole_tree_of_processes,
             a_tools_processes_are_counted_with_what_they_started, sizes_are_told_beside_the_peers, foretold_ranges_are_told_in_words, only_verdicts_count_as_said_to_differ, a_share_of_few_has_its_interval,
             a_planted_dip_is_told_with_its_depth_and_its_noise, targets_that_are_missed_are_told, both_sides_of_a_fabric_have_like_settings,
             figures_of_fabrics_are_read_from_what_the_tools_print, both_sides_of_an_mpi_have_like_settings_and_figures_are_read, a_table_without_rows_leaves_the_recorded_one,
             the_set_up_has_what_figures_and_bench_measure, the_systems_congestion_control_is_named,
             rounds_of_two_paths_are_compared_round_by_round, a_streams_time_is_its_receivers, cpu_time_of_a_message_is_that_of_both_sides_or_none,
             every_place_of_fast_sockets_has_like_flags_for_all_of_its_paths, programs_have_like_commands_on_both_layers_and_their_figures_are_read,
             rates_of_programs_are_compared_pair_by_pair, a_childs_cpu_time_counts,
             carriers_of_a_group_are_measured_alike_and_lose_alike, figures_of_a_group_are_rates_or_times_of_rounds,
             an_empty_cell_of_a_group_says_why, what_a_group_says_last_is_kept_and_a_run_that_never_began_is_an_error,
             stacks_of_the_layers_differ_in_what_is_compared_alone, what_layers_cost_is_read_and_held_against_the_target]:
    try:
        test()
        passed += 1
    except Exception:
        failed += 1
        print(f"not ok - {test.__name__}\n{traceback.format_exc()}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
