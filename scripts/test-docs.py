"""Tests of pages.py, docs.py and links.py without the program: how a page is read, what counts as the same shape, what is renewed, and
what has too little time on a busy machine (with a stand-in for the program).
Closes with "N passed, N failed"."""

import sys
import tempfile
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import docs  # noqa: E402
import links  # noqa: E402
import pages  # noqa: E402

TABLE = """theory: 8 rounds over 3.57 s saw one state
path    time        latency  max throughput
shm     RTT/2       63.6 ns      359 Gbit/s
                  [61, 330]      [237, 547]
tcp     RTT/2       3.14 us      188 Gbit/s
                     [3, 9]       [79, 195]
In brackets: 95% intervals, in this run.

run file  t.run.jsonl""".split("\n")


def refused(page):
    try:
        pages.parse(page)
    except ValueError:
        return True
    return False


def a_page_gives_its_commands_in_order_with_what_is_below_them():
    page = "a\n<!-- test: exit 0 1 -->\n<!-- test: budget 4s -->\n```console\n$ one a \\\n  b\nout\n$ two\n```\nb `x`\n```console\n$ three\n```\n"
    blocks, prose = pages.parse(page)
    assert [[c.text for c in b.commands] for b in blocks] == [["one a \\\n  b", "two"], ["three"]]
    assert blocks[0].commands[0].sample == ["out"] and blocks[0].commands[0].first == 6
    assert (blocks[0].exits, blocks[0].budget, blocks[1].exits) == ((0, 1), "4s", (0,))
    assert "b `x`" in [line for _, line in prose]


def a_block_that_is_not_run_says_why():
    blocks, _ = pages.parse("<!-- test: skip needs a terminal -->\n\n```console\n$ live\n```\n")
    assert blocks[0].skip == "needs a terminal"


def a_block_names_the_modules_that_it_needs():
    blocks, _ = pages.parse("<!-- test: needs openmpi mpich -->\n```console\n$ a\n```\n```console\n$ b\n```\n")
    assert [block.needs for block in blocks] == [("openmpi", "mpich"), ()] and not blocks[0].skip


def a_command_that_nothing_would_run_is_refused():
    assert refused("```text\n$ pipegauge run tcp\n```\n") and refused("```\npipegauge run tcp\n```\n")
    assert refused("text\n\n    pipegauge run tcp\n") and refused("```console\noutput\n```\n") and refused("```text\nno end\n")
    assert refused("<!-- test: skipp why -->\n```console\n$ a\n```\n")
    assert not refused("```text\ntcp: times are RTT/2\n```\n")


def a_tables_commands_are_read_where_it_says_so():
    table = "| a | b |\n|---|---|\n| `iperf3 -c H` | `pipegauge run tcp` |\n| x | `pipegauge list \\| head` |\n"
    assert pages.parse(table)[0] == []
    blocks, _ = pages.parse("<!-- test: table -->\n" + table)
    assert blocks[0].table and [c.text for c in blocks[0].commands] == ["pipegauge run tcp", "pipegauge list | head"]


def a_line_is_known_by_its_beginning_up_to_a_number():
    assert pages.key("unix  2.32 us 20.5 ps/B") == "unix"
    assert pages.key("  64 B  37.3 us [35, 40]") == "#"
    assert pages.key("size  median [95%]  p50  p99.9") == "size median [95%] p50 p99.9"
    assert pages.key("tcp: times are RTT/2") == "tcp: times are RTT/2"
    assert pages.key("      [2.0, 2.3]  [5.9, 6.3]") == "" and pages.key("") == ""
    assert pages.key("error at ~12.5 us") == "error at" and pages.key("tcp  RTT/2  [1.5, 2]") == "tcp RTT/2"
    # What stands below a row is as the machine was: an interval, none, or its upper end alone.
    assert pages.key("               (no interval)     [54, 141]") == pages.key("                   at most  [1, 2]") == ""
    assert pages.key('{"at_ns":157690,"op":"send"}') == '{"at_ns":' and pages.key("127.0.0.1:80 is") == "#"


def a_lost_line_a_new_column_and_another_order_are_found():
    sample = ["...", "path    time        latency  max throughput", "shm     RTT/2       1 ns", "...", "tcp     RTT/2  9 us", "..."]
    assert pages.missing(sample, TABLE) is None
    assert pages.missing(sample, [line for line in TABLE if not line.startswith("tcp")]) == sample[4]
    assert pages.missing(["path    time   per byte"], TABLE) == "path    time   per byte"
    assert pages.missing([sample[4], sample[2]], TABLE) == sample[2]
    # A size that a short budget left out is no other shape; a table without rows is.
    assert pages.missing(["size  median", " 64 B  1 us", "64 KiB  2 us", "tcp"], ["size  median", " 64 B  3 us", "tcp"]) is None
    assert pages.missing(["size  median", " 64 B  1 us", "64 KiB  2 us", "tcp"], ["size  median", "tcp"]) == " 64 B  1 us"


def a_heading_may_lack_columns_that_have_nothing_to_say():
    shown = "size  median [95%]  shortest trial  p50  p99.9  longest  rounds  ended"
    assert pages.fits(shown, " size  median [95%]    shortest trial  p50  longest  rounds  ended")
    assert not pages.fits(shown, "size  median [95%]  shortest trial  p50  surprise  longest  rounds  ended")
    assert pages.fits(shown, " size  median                         p50  p99.9"), "where no size has an interval their rounds take the room of columns"
    assert not pages.fits(shown, "path  median [95%]  shortest trial  p50  longest  rounds  ended")
    assert pages.fits(shown, "size  median [95%]  shortest trial  p50  longest  retransmits  rounds  ended"), "any TCP may send again"


def warnings_are_no_part_of_a_sample():
    output = "a\n! tcp: noisy\n  and more\nb 1\n! steal\n    stop it\n"
    assert pages.cleaned(output) == ["a", "b 1"]


def only_the_pieces_that_a_page_shows_are_renewed():
    sample = ["...", "path    time", "tcp     RTT/2     99 us", "         [1, 2]", "...", "run file  t"]
    assert pages.renewed(sample, TABLE) == ["...", *TABLE[1:6], "...", TABLE[-1]]
    assert pages.renewed(["...", "tcp     RTT/2  99 us", "..."], TABLE) == ["...", TABLE[4], "..."]
    assert pages.renewed(["anything"], TABLE) == TABLE
    assert pages.renewed([], TABLE) == [] and pages.renewed(["..."], TABLE) == ["..."]
    rows = [" 32 B  1 us", " 64 B  2 us", "128 B  3 us"]
    assert pages.renewed(["...", " 64 B  9 us", "..."], rows) == ["...", rows[1], "..."]
    try:
        pages.renewed(["...", "udp  1 us", "..."], TABLE)
    except ValueError:
        return
    raise AssertionError("a line that is gone was renewed")


def only_real_paths_get_a_short_budget():
    assert pages.shortened(["run", "tcp"], "1s") == ["run", "tcp", "-q", "--budget", "1s"]
    assert pages.shortened(["run", "tcp", "--budget", "9s", "-q"], "1s") == ["run", "tcp", "--budget", "1s", "-q"]
    assert pages.shortened(["run", "theory", "--budget", "9s"], "1s") == ["run", "theory", "--budget", "9s", "-q"]
    assert pages.shortened(["run", "tcp", "--trials", "3"], "1s") == ["run", "tcp", "--trials", "3", "-q"]
    assert pages.shortened(["run", "tcp"], "") == ["run", "tcp", "-q"]
    assert pages.shortened(["explain", "a"], "1s") == ["explain", "a", "-q"]
    assert pages.shortened(["show", "a"], "1s") == ["show", "a"]
    # A sweep has a budget for each cell.
    assert pages.shortened(["sweep", "tcp", "--over", "mss=1,2"], "1s") == ["sweep", "tcp", "--over", "mss=1,2", "-q", "--budget", "1s"]
    assert pages.shortened(["sweep", "theory", "--over", "rate=1,2"], "1s") == ["sweep", "theory", "--over", "rate=1,2", "-q"]
    # What a soak prints is its lines.
    assert pages.shortened(["run", "tcp", "--duration", "9s"], "1s") == ["run", "tcp", "--duration", "1s"]
    assert pages.shortened(["run", "theory", "--duration", "9s"], "1s") == ["run", "theory", "--duration", "9s"]


def a_last_try_has_more_time_and_patience():
    assert pages.shortened(["run", "tcp", "--budget", "3s"], "x4") == ["run", "tcp", "--budget", "12s", "-q", "--patience", "60s"]
    assert pages.shortened(["run", "tcp", "--budget", "500ms"], "x4")[3] == "2000ms"
    assert pages.shortened(["run", "tcp"], "x4") == ["run", "tcp", "-q", "--budget", "48s", "--patience", "60s"]
    assert pages.shortened(["run", "theory", "--budget", "3s"], "x4") == ["run", "theory", "--budget", "3s", "-q"]
    assert pages.shortened(["run", "tcp", "--trials", "3"], "x4") == ["run", "tcp", "--trials", "3", "-q", "--patience", "60s"]
    assert pages.shortened(["run", "tcp", "--duration", "9s", "--patience", "9s"], "x4") == ["run", "tcp", "--duration", "9s", "--patience", "9s"]
    assert pages.shortened(["show", "a"], "x4") == ["show", "a"]


def too_little_time_is_what_the_program_itself_says():
    why = "no size was measured on tcp (its warnings say why; a longer --budget, or --sizes, gives it more time)"
    assert pages.fell_short(1, ["vm", f"pipegauge: {why}; what was measured until then is shown"]) == "a longer --budget"
    assert pages.fell_short(1, ["pipegauge: udp: 10 datagrams", "  in a row were lost: the peer is gone"]) == "datagrams in a row were lost"
    assert pages.fell_short(1, ["Not measured:", "  tcp: in 1 of 6 rounds: the far side: no progress", "    for 10.2 s"]) == "no progress for 10.2 s"
    assert pages.fell_short(2, ["pipegauge: nothing was measured: no trial was completed (run file: a)"]) == "no trial was completed"
    # A whole run says of a figure that a longer budget tells it, a broken path is broken, and what could not begin had no time to lack.
    for code, said in [(1, "Trust: no point has an interval; a longer --budget tells"), (1, "pipegauge: tcp: connection refused"),
                       (0, f"pipegauge: {why}"), (2, f"pipegauge: {why}"), (2, "error: unexpected argument '--walk' found")]:
        assert pages.fell_short(code, [said]) == "", said


# Stands for the program: it measures where --budget is at least $ENOUGH s, and says what --say has where it does not.
STAND_IN = """#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
if words[:1] == ["--help"]:
    print("usage\\n\\nCommands:\\n  run  a\\n  show  b\\n")
elif "--help" in words:
    print("-o --budget --wrong")
elif words[0] == "run":
    if "--wrong" in words:
        sys.exit("error: no such thing")
    print(words[-1], file=open(os.environ["RUNS"], "a"))
    budget = words[words.index("--budget") + 1]
    seconds = float(budget.removesuffix("ms")) / 1e3 if budget.endswith("ms") else float(budget.removesuffix("s"))
    enough = seconds >= float(os.environ["ENOUGH"])
    open(words[words.index("-o") + 1], "w").write("x" * enough)
    if not enough:
        print("pipegauge: " + os.environ["SAYS"])
        sys.exit(1)
elif not os.path.exists(words[1]):
    sys.exit("no such file")
elif os.path.getsize(words[1]):
    print("size  median")
else:
    sys.exit("too few rounds")
"""


def checked(page, enough, says="a: no size was measured on a (a longer --budget gives it more time)", runs=None):
    """(passed, failed, skipped) of a page's commands, of a program whose runs need so many seconds."""
    with tempfile.TemporaryDirectory() as at:
        scratch = Path(at)
        docs.os.environ |= {"ENOUGH": str(enough), "SAYS": says, "RUNS": str(runs or scratch / "runs")}
        program = scratch / "stand-in"
        program.write_text(STAND_IN)
        program.chmod(0o755)
        (scratch / "a.md").write_text(page)
        docs.shim(scratch / "bin", program)
        modules, known = docs.Modules(scratch / "modules"), docs.helps(program)
        tally = docs.do_page(scratch / "a.md", scratch, known, False, modules)
        tally = docs.patiently(scratch / "a.md", tally, scratch, known, modules)
        return tally.passed, tally.failed, tally.skipped


def timing_decides_no_command():
    page = "```console\n$ pipegauge run tcp --budget 3s -o a.run\n$ pipegauge show a.run\nsize  median\n```\n"
    assert checked(page, 0.1) == checked(page, 2) == checked(page, 10) == (2, 0, 0), "short, as shown, four times that"
    assert checked(page, 1000) == (0, 0, 2), "no time is enough here: nothing is known of these"


def of_a_table_only_the_commands_that_failed_are_run_again():
    page = "<!-- test: table -->\n| a | b |\n|---|---|\n| `pipegauge run tcp --budget 9s -o a.run` | 1 |\n| `pipegauge run tcp --budget 3s -o b.run` | 2 |\n"
    with tempfile.TemporaryDirectory() as at:
        runs = Path(at, "runs")
        assert checked(page, 8, runs=runs) == (2, 0, 0)
        # One lacks the time with the short budget, the other with its own, too.
        assert sum(1 for line in runs.open()) == 2 + 2 + 1


def what_lacks_no_time_fails_however_long_it_gets():
    page = "```console\n$ pipegauge run tcp --budget 3s -o a.run\n$ pipegauge show b.run\n```\n"
    assert checked(page, 0.1) == (1, 1, 0) and checked(page, 1000) == (0, 1, 1), "the other file is no matter of time"
    page = "```console\n$ pipegauge run tcp --budget 3s -o a.run\n```\n"
    assert checked(page, 1000, says="tcp: connection refused") == (0, 1, 0)
    assert checked(page.replace("-o", "--wrong -o"), 0.1) == (0, 1, 0)


def a_word_that_the_program_does_not_have_is_found():
    known = {"": "--version", "run": "--rate <RATE>\n--no-html", "show": "--graph"}
    assert pages.wrong_words("`pipegauge run --rate 1k/s` and `--graph`", known) == []
    assert pages.wrong_words("`pipegauge show --rate 1` `pipegauge walk` `--flows 2` `--no`", known) == [
        "pipegauge show --rate 1: --rate", "pipegauge walk", "--flows 2: --flows", "--no: --no"]


def a_link_to_nothing_is_found():
    with tempfile.TemporaryDirectory() as at:
        page = Path(at, "a.md")
        page.write_text("# One thing, and `two`\n\n## Again\n\n## Again\n")
        assert links.anchors(page.read_text()) == {"one-thing-and-two", "again", "again-1"}
        assert links.wrong(page, "a.md#again-1") is None and links.wrong(page, "#again") is None
        assert links.wrong(page, "#nothing") and links.wrong(page, "b.md")
    assert links.links("[a](b.md) `[c](d)`\n```text\n[e](f)\n```\n![g](h.png)") == ["b.md", "h.png"]
    assert links.wrong(links.ROOT / "docs" / "README.md", "../README.md")


def a_page_of_more_than_five_minutes_is_found():
    with tempfile.TemporaryDirectory() as at:
        page = Path(at, "a.md")
        for words, says in [(1300, None), (1301, "it has 1301 words")]:
            page.write_text("word " * words)
            found = links.too_long(page)
            assert (found or "").startswith(says or "") and (found is None) == (says is None), found
        tables = Path(at, "reference.md")
        tables.write_text("word " * 5000)
        assert links.too_long(tables) is None


passed = failed = 0
for name, test in list(globals().items()):
    if callable(test) and getattr(test, "__module__", "") == "__main__" and name not in ("refused", "checked"):
        try:
            test()
            passed += 1
        except Exception:
            failed += 1
            print(f"not ok - {name}\n{traceback.format_exc()}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
