#!/usr/bin/env python3
"""Runs every command of README.md and docs/: checks that each still does what its page shows, or renews what it shows.

  scripts/docs.py --check PROGRAM [PAGE...]   real paths get a short budget; exit codes and the samples' shape must hold
  scripts/docs.py --write PROGRAM [PAGE...]   real budgets (a quiet machine); the samples' outputs are replaced

A sample is a block fenced as ```console. Its lines that begin with "$ " are commands (a line that ends in a backslash goes on),
the others what they print. A line "..." stands for what is left out; a command without output leaves out all. A page's blocks run
in the page's order, in a folder of the page, so that a file of one block is there in the next; a block is one shell.

Shape: each line of a sample must be found in the output, in order, by its beginning up to its first number. So a heading is
compared whole, and "unix  2.32 us" by "unix". Of rows that begin with a number one is enough, since a short budget may leave out sizes.
Intervals below a row are not compared. Warnings and progress are no part of a sample: they depend on the machine. --write takes,
between two "...", all lines from the one that fits the first to the one that fits the last.

Comments above a block say what is special:
  <!-- test: skip WHY -->         its commands are not run; the check counts them
  <!-- test: exit 0 1 -->         codes that its last command may end with (others, and without this: 0)
  <!-- test: budget 4s -->        the budget of real paths in --check
  <!-- test: table -->            above a table: every command in it is run, in an own shell

What is neither sample nor table is held against the program's help: a command or a flag that text names must exist. A fenced
block that shows no command is a ```text. Closes with "N passed, N failed, N skipped"."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = "300ms"
LONGEST = 180  # seconds for a block
LEFT_OUT = "..."
BELOW_A_ROW = 12  # spaces: a line so far in holds intervals of the row above


@dataclass
class Command:
    line: int  # of the page, from 1
    text: str
    sample: list = field(default_factory=list)  # lines below it
    first: int = 0  # where they stand in the page, from 0


@dataclass
class Block:
    commands: list
    skip: str = ""
    exits: tuple = (0,)
    budget: str = BUDGET
    table: bool = False


def directives(lines, at):
    """What the comments above line `at` say."""
    found = {}
    at -= 1
    while at >= 0 and not lines[at].strip():
        at -= 1
    while at >= 0 and (m := re.fullmatch(r"<!-- test: (\w+) ?(.*?) -->", lines[at].strip())):
        found[m.group(1)] = m.group(2)
        at -= 1
    unknown = set(found) - {"skip", "exit", "budget", "table"}
    if unknown:
        raise ValueError(f"line {at + 2}: no such directive: {', '.join(sorted(unknown))}")
    return found


def block_of(commands, said):
    exits = tuple(int(code) for code in said["exit"].split()) if "exit" in said else (0,)
    return Block(commands, said.get("skip", ""), exits, said.get("budget", BUDGET), "table" in said)


def commands_of(lines, first):
    """The commands of the lines of a sample; `first` is the page's line of the first, from 0."""
    commands, at = [], 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise ValueError(f"line {first + at + 1}: a sample begins with its command")
        text, line = lines[at][2:], first + at + 1
        while text.endswith("\\") and at + 1 < len(lines):
            at += 1
            text += "\n" + lines[at]
        at += 1
        begin = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        commands.append(Command(line, text, lines[begin:at], first + begin))
    return commands


def parse(text):
    """The blocks of a page, and its paragraphs and table rows outside of blocks and run tables as (line number, text)."""
    lines, blocks, prose, at, below = text.split("\n"), [], [], 0, -1
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), None)
            if end is None:
                raise ValueError(f"line {at + 1}: a fence that does not end")
            body = lines[at + 1:end]
            if line == "```console":
                blocks.append(block_of(commands_of(body, at + 1), directives(lines, at)))
            elif wrong := next((n for n, t in enumerate(body, at + 2) if re.match(r"\s*\$ |(pipegauge|make) ", t)), None):
                raise ValueError(f"line {wrong}: a command stands in a block that is no ```console, so that nothing runs it")
            at = end + 1
        elif line.startswith("|") and "table" in (said := directives(lines, at)):
            commands = []
            while at < len(lines) and lines[at].startswith("|"):
                commands += [Command(at + 1, code) for code in spans(lines[at]) if code.startswith("pipegauge ")]
                at += 1
            blocks.append(block_of(commands, said))
        elif line.startswith("    ") and re.match(r"\s+(\$|pipegauge|make) ", line) and not lines[at - 1].startswith(("- ", "  ")):
            raise ValueError(f"line {at + 1}: a command stands in an indented block, so that nothing runs it: fence it as ```console")
        else:
            # A paragraph is one piece of text: a line may break within a piece of code.
            if below == at and line.strip() and not line.startswith("|") and prose[-1][1].strip():
                prose[-1] = (prose[-1][0], f"{prose[-1][1]} {line.strip()}")
            else:
                prose.append((at + 1, line))
            at += 1
            below = at
    return blocks, prose


def spans(line):
    """The pieces of code in a line; in a table a bar within them is written with a backslash."""
    return [code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", line)]


WORDS = re.compile(r"RTT/2|\[95%\]:?|\(95%\)|p\d+(\.\d+)?")


def key(line):
    """A line's beginning up to its first number; "#" where it begins with one; empty where there is nothing to compare."""
    if line.startswith(" " * BELOW_A_ROW):
        return ""
    begin = []
    for token in line.split():
        bare = token.lstrip("~<=>+-([")
        if bare[:1].isdigit() and not WORDS.fullmatch(token):
            return " ".join(begin) or ("" if token[0] in "[(" else "#")
        if number := re.search(r"[:=]-?\d", token):
            return " ".join([*begin, token[:number.start() + 1]])
        begin.append(token)
    return " ".join(begin)


def fits(sample, line):
    """Whether an output's line is the one that the sample shows: its beginning, so that an author may shorten it."""
    return key(line).startswith(key(sample))


def cleaned(output):
    """An output's lines without warnings (a line that begins with "! ", and what is indented below it)."""
    kept, warning = [], False
    for line in output.rstrip("\n").split("\n"):
        if line.startswith("! "):
            warning = True
        elif not (warning and line.startswith("  ")):
            warning = False
            kept.append(line.rstrip())
    return kept


def missing(sample, output):
    """The first line of a sample that its output does not have after what was found before it; None where all are there."""
    at, rows = 0, False
    for line in sample:
        if line == LEFT_OUT or not key(line):
            continue
        found = next((n for n in range(at, len(output)) if fits(line, output[n])), None)
        if found is not None:
            at = found + 1
        elif not (rows and key(line) == "#"):
            return line
        rows = key(line) == "#"
    return None


def find(line, output, at):
    """Where an output has a sample's line from `at` on: a line of the same first cell, else one that fits."""
    def cell(text):
        return re.split(r"\s{2,}", text.strip())[0]

    same = (n for n in range(at, len(output)) if fits(line, output[n]) and cell(output[n]) == cell(line))
    near = (n for n in range(at, len(output)) if fits(line, output[n]))
    found = next(same, next(near, None))
    if found is None:
        raise ValueError(f"the output has no line like {line!r}")
    return found


def renewed(sample, output):
    """The sample with what the output has in its place: all lines, or those from a piece's first line to its last."""
    if not sample or sample == [LEFT_OUT]:
        return sample
    pieces = [[]]
    for line in sample:
        if line == LEFT_OUT:
            pieces.append([])
        else:
            pieces[-1].append(line)
    lines, at = [], 0
    for number, piece in enumerate(pieces):
        told = [line for line in piece if key(line)]
        begin = find(told[0], output, at) if number > 0 and told else at
        end = begin
        if number == len(pieces) - 1 and piece:
            end = len(output)
        elif told:
            end = begin
            for line in told:
                end = find(line, output, end) + 1
            tail = len(piece) - 1 - max(n for n, line in enumerate(piece) if key(line))
            while tail and end < len(output) and not key(output[end]):
                end, tail = end + 1, tail - 1
        lines += ([LEFT_OUT] if number > 0 else []) + output[begin:end]
        at = end
    return lines


def shortened(arguments, budget):
    """The arguments of the program without progress and, where a real path is measured, with the budget in place of theirs."""
    if not arguments or arguments[0] not in ("run", "live", "hint", "explain"):
        return arguments
    arguments = list(arguments)
    if "-q" not in arguments and "--quiet" not in arguments:
        arguments.append("-q")
    paths = []
    for word in arguments[1:]:
        if word.startswith("-"):
            break
        paths.append(word)
    own_effort = "--trials" in arguments or "netpipe" in arguments
    if not budget or arguments[0] == "explain" or paths == ["theory"] or (own_effort and "--budget" not in arguments):
        return arguments
    if "--budget" in arguments:
        arguments[arguments.index("--budget") + 1] = budget
        return arguments
    return arguments + ["--budget", budget]


def shim(folder, program):
    """A `pipegauge` for the PATH of the pages' commands: the program, its arguments shortened."""
    folder.mkdir()
    at = folder / "pipegauge"
    at.write_text(f"#!/bin/sh\nDOCS_PROGRAM={shlex.quote(str(program))} exec {shlex.quote(sys.executable)} {shlex.quote(__file__)} --as-program \"$@\"\n")
    at.chmod(0o755)


def run_block(block, folder, path, budget):
    """(output lines, exit code) of each of a block's commands, all in one shell."""
    out = Path(tempfile.mkdtemp())
    script = "".join(f"{{ {c.text}\n}} >{out}/{n} 2>&1 </dev/null; echo $? >{out}/{n}.code\n" for n, c in enumerate(block.commands))
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PIPEGAUGE_HISTORY": str(folder / ".history"), "NO_COLOR": "1",
           "DOCS_BUDGET": budget}
    env.pop("PIPEGAUGE_KEY", None)
    shell = subprocess.Popen(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        said = shell.communicate(timeout=LONGEST)[1]
    except subprocess.TimeoutExpired:
        said = f"not done after {LONGEST} s"
    finally:
        # A listener that a block started in the background ends with its block.
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        shell.wait()
    results = []
    for n in range(len(block.commands)):
        code = out / f"{n}.code"
        if code.exists():
            results.append((cleaned((out / str(n)).read_text(errors="replace")), int(code.read_text())))
        else:
            results.append(([said.strip()], None))
    shutil.rmtree(out)
    return results


def helps(program):
    """Each command's help, by its name; "" has the program's own."""
    def help_of(*words):
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True).stdout

    top = help_of()
    listed = top.split("\nCommands:\n")[1].split("\n\n")[0]
    names = [m.group(1) for line in listed.split("\n") if (m := re.match(r"  (\w+)  ", line))]
    return {"": top, **{name: help_of(name) for name in names}}


def wrong_words(line, known):
    """Commands and flags that a line of text names and that the program does not have."""
    everywhere = "\n".join(known.values())
    wrong = []
    for code in spans(line):
        words = code.split()
        if words[0] == "pipegauge" and len(words) > 1 and words[1].islower() and words[1] not in known:
            wrong.append(code)
            continue
        if words[0] != "pipegauge" and not code.startswith("--"):
            continue
        command = words[1] if words[0] == "pipegauge" and len(words) > 1 and words[1] in known else None
        there = known[command] if command else everywhere
        flags = [word.strip("'\",").split("=")[0] for word in words if word.strip("'\"").startswith("--")]
        wrong += [f"{code}: {flag}" for flag in flags if not re.search(re.escape(flag) + r"(?![\w-])", there)]
    return wrong


def pages():
    return [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != "SUMMARY.md")]


class Tally:
    """What became of a page's commands, and what there is to say."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.said = []

    def fail(self, where, what):
        self.failed += 1
        self.said.append(f"{where}: {what}")


def do_page(page, scratch, known, write):
    tally = Tally()
    name = str(page.relative_to(ROOT))
    folder = scratch / name.replace("/", "-").removesuffix(".md")
    folder.mkdir()
    text = page.read_text()
    try:
        blocks, prose = parse(text)
    except ValueError as e:
        tally.fail(name, e)
        return tally
    for number, line in prose:
        for word in wrong_words(line, known):
            tally.fail(f"{name}:{number}", f"the program has no such command or flag: {word}")
    replacements = []
    for block in blocks:
        if block.skip:
            for command in block.commands:
                tally.skipped += 1
                tally.said.append(f"not run: {name}:{command.line}: {command.text.splitlines()[0]} ({block.skip})")
            continue
        shells = [Block([c], "", block.exits, block.budget) for c in block.commands] if block.table else [block]
        for shell in shells:
            results = run_block(shell, folder, scratch / "bin", "" if write else block.budget)
            for command, (output, code) in zip(shell.commands, results):
                where = f"{name}:{command.line}"
                allowed = shell.exits if command is shell.commands[-1] else (0,)
                if code not in allowed:
                    tally.fail(where, f"`{command.text}` ended with {code}:\n    " + "\n    ".join(output[-12:]))
                elif write:
                    try:
                        replacements.append((command, renewed(command.sample, output)))
                        tally.passed += 1
                    except ValueError as e:
                        tally.fail(where, f"`{command.text}`: {e}; it printed:\n    " + "\n    ".join(output[:40]))
                elif (line := missing(command.sample, output)) is not None:
                    tally.fail(where, f"`{command.text}` no longer prints a line like\n    {line}\n  but\n    " + "\n    ".join(output[:40]))
                else:
                    tally.passed += 1
    if write and replacements:
        lines = text.split("\n")
        for command, new in sorted(replacements, key=lambda r: -r[0].first):
            lines[command.first:command.first + len(command.sample)] = new
        page.write_text("\n".join(lines))
    return tally


def main():
    if sys.argv[1:2] == ["--as-program"]:
        program = os.environ["DOCS_PROGRAM"]
        os.execv(program, ["pipegauge", *shortened(sys.argv[2:], os.environ.get("DOCS_BUDGET"))])
    if len(sys.argv) < 3 or sys.argv[1] not in ("--check", "--write"):
        print("usage: scripts/docs.py --check|--write PROGRAM [PAGE...]", file=sys.stderr)
        sys.exit(2)
    program = Path(sys.argv[2]).resolve()
    chosen = [Path(p).resolve() for p in sys.argv[3:]] or pages()
    write, known = sys.argv[1] == "--write", helps(program)
    # Shapes don't depend on time, so that two pages may be checked at once; figures do.
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(1 if write else 2) as pool:
        scratch = Path(scratch)
        shim(scratch / "bin", program)
        tallies = list(pool.map(lambda page: do_page(page, scratch, known, write), chosen))
    for tally in tallies:
        print("".join(f"{line}\n" for line in tally.said), end="")
    passed, failed, skipped = (sum(getattr(t, what) for t in tallies) for what in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
