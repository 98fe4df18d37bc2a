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
  <!-- test: needs openmpi -->    run where `make modules` builds these modules, skipped with its reason where their library is missing
  <!-- test: exit 0 1 -->         codes that its last command may end with (others, and without this: 0)
  <!-- test: budget 4s -->        the budget of real paths in --check
  <!-- test: table -->            above a table: every command in it is run, in an own shell

Time must not decide. A page of which a command failed is tried again with the budgets that it shows, and then with four times those; of a
table only the commands that failed. What
has too little time even then (an exit code 1 with the program's own word that the run fell short) is not stale: it counts as
skipped, with its reason, and so does what fails behind it on the file of that run.

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
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from pages import LONGER, Block, cleaned, fell_short, missing, names, parse, renewed, shortened, wrong_words, written  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 600  # seconds for a block: only what hangs reaches it


def shim(folder, program):
    """A `pipegauge` for the PATH of the pages' commands: the program, its arguments shortened."""
    folder.mkdir()
    at = folder / "pipegauge"
    at.write_text(f"#!/bin/sh\nDOCS_PROGRAM={shlex.quote(str(program))} exec {shlex.quote(sys.executable)} {shlex.quote(__file__)} --as-program \"$@\"\n")
    at.chmod(0o755)
    # `make` in a page's folder is the project's, with what it builds in the page's folder, but for `make -C`, which names a folder of its own. What it
    # runs finds the system's own.
    at = folder / "make"
    at.write_text(f"#!/bin/sh\nPATH=${{PATH#*:}}\n[ \"$1\" != -C ] || exec make \"$@\"\nexec {shlex.quote(shutil.which('make') or 'make')} -C {shlex.quote(str(ROOT))} TARGET=\"$PWD/target\" \"$@\"\n")
    at.chmod(0o755)


class Modules:
    """The modules that can be built here: built once, and only where a page needs some."""

    def __init__(self, folder):
        self.folder, self.lock, self.said = folder, threading.Lock(), None

    def missing(self, names):
        """Why these can't be had; empty where all can."""
        with self.lock:
            if names and self.said is None:
                made = subprocess.run([ROOT / "scripts/modules.sh", self.folder], capture_output=True, text=True)
                self.said = (made.stdout + made.stderr).strip().split("\n")
        absent = [name for name in names if not (self.folder / f"{name}.so").exists()]
        notes = [line.removeprefix("note: ") for line in self.said or [] if any(f"no module {name}," in line for name in absent)]
        return "; ".join(notes or [f"no module {name}" for name in absent])


def run_block(block, folder, path, budget):
    """(output lines, exit code, what fell short) of each of a block's commands, all in one shell."""
    with tempfile.TemporaryDirectory() as out:
        return run_into(Path(out), block, folder, path, budget)


def run_into(out, block, folder, path, budget):
    """The same, by way of files of a folder."""
    script = "".join(f"{{ {c.text}\n}} >{out}/{n} 2>&1 </dev/null; echo $? >{out}/{n}.code\n" for n, c in enumerate(block.commands))
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PIPEGAUGE_HISTORY": str(folder / ".history"), "NO_COLOR": "1",
           "DOCS_BUDGET": budget}
    env.pop("PIPEGAUGE_KEY", None)
    longest = LONGEST * (3 if budget == LONGER else 1)
    shell = subprocess.Popen(["bash", "-c", script], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        said = shell.communicate(timeout=longest)[1]
    except subprocess.TimeoutExpired:
        said = f"not done after {longest} s"
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
            text, ended = (out / str(n)).read_text(errors="replace"), int(code.read_text())
            results.append((cleaned(text), ended, fell_short(ended, text.split("\n"))))
        else:
            results.append(([said.strip()], None, ""))
    return results


def helps(program):
    """Each command's help, by its name; "" has the program's own."""
    def help_of(*words):
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True).stdout

    top = help_of()
    listed = top.split("\nCommands:\n")[1].split("\n\n")[0]
    names = [m.group(1) for line in listed.split("\n") if (m := re.match(r"  (\w+)  ", line))]
    return {"": top, **{name: help_of(name) for name in names}}


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


class Tally:
    """What became of a page's commands, and what there is to say."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.said = []
        self.right = set()  # lines of the commands that stand alone, as those of a table do, and were as they should be

    def fail(self, where, what):
        self.failed += 1
        self.said.append(f"{where}: {what}")

    def skip(self, where, command, why):
        self.skipped += 1
        self.said.append(f"not run: {where}: {command.text.splitlines()[0]} ({why})")


class Short:
    """Runs of a page that had too little time, and the files that are less for it."""

    def __init__(self):
        self.files = {}  # by name: the line of the run

    def add(self, command):
        self.files |= dict.fromkeys(written(command.text), command.line)

    def behind(self, command):
        """The line of the run that a command rests on, if it fell short."""
        return next((self.files[name] for name in sorted(names(command.text)) if name in self.files), None)


def do_page(page, scratch, known, write, modules, budget=None, last=False, right=frozenset()):
    """What became of a page's commands. A budget takes the place of each block's own; what has too little time in the `last` try is skipped.
    Commands on the lines `right`, of a try before, are not run again."""
    tally, short = Tally(), Short()
    tally.right = set(right)
    name = os.path.relpath(page, ROOT)
    folder = Path(tempfile.mkdtemp(prefix=name.replace("/", "-").removesuffix(".md"), dir=scratch))
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
        block.skip = block.skip or modules.missing(block.needs)
        if block.skip:
            for command in block.commands:
                tally.skip(f"{name}:{command.line}", command, block.skip)
            continue
        shells = [Block([c], "", block.exits, block.budget) for c in block.commands] if block.table else [block]
        for shell in shells:
            if block.table and shell.commands[0].line in right:
                tally.passed += 1
                continue
            failed = tally.failed
            results = run_block(shell, folder, scratch / "bin", "" if write else block.budget if budget is None else budget)
            for command, (output, code, why) in zip(shell.commands, results):
                where = f"{name}:{command.line}"
                allowed = shell.exits if command is shell.commands[-1] else (0,)
                wrong = code not in allowed or (not write and missing(command.sample, output) is not None)
                if last and wrong and why:
                    short.add(command)
                    tally.skip(where, command, f"too little time on this machine: {why}")
                elif last and wrong and code is not None and (line := short.behind(command)):
                    short.add(command)
                    tally.skip(where, command, f"the run of line {line} had too little time on this machine")
                elif code not in allowed:
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
            if block.table and tally.failed == failed:
                tally.right |= {command.line for command in shell.commands}
    if write and replacements:
        lines = text.split("\n")
        for command, new in sorted(replacements, key=lambda r: -r[0].first):
            lines[command.first:command.first + len(command.sample)] = new
        page.write_text("\n".join(lines))
    return tally


def patiently(page, tally, scratch, known, modules):
    """What became of a page of which a command failed with short budgets, when it gets more time."""
    for budget, words in (("", "short budgets"), (LONGER, "the budgets that it shows")):
        if not tally.failed:
            break
        before = [line for line in tally.said if not line.startswith(("not run", "with "))]
        before = [f"with {words}, of which that of {line}" for line in before] + [line for line in tally.said if line.startswith("with ")]
        tally = do_page(page, scratch, known, False, modules, budget, last=budget == LONGER, right=tally.right)
        tally.said += before
    return tally


def main():
    if sys.argv[1:2] == ["--as-program"]:
        program = os.environ["DOCS_PROGRAM"]
        os.execv(program, ["pipegauge", *shortened(sys.argv[2:], os.environ.get("DOCS_BUDGET"))])
    if len(sys.argv) < 3 or sys.argv[1] not in ("--check", "--write"):
        print("usage: scripts/docs.py --check|--write PROGRAM [PAGE...]", file=sys.stderr)
        sys.exit(2)
    program = Path(sys.argv[2]).resolve()
    chosen = [Path(p).resolve() for p in sys.argv[3:]] or documents()
    write, known = sys.argv[1] == "--write", helps(program)
    # Shapes don't depend on time, so that two pages may be checked at once; figures do.
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(1 if write else 2) as pool:
        scratch = Path(scratch)
        shim(scratch / "bin", program)
        modules = Modules(scratch / "modules")
        tallies = list(pool.map(lambda page: do_page(page, scratch, known, write, modules), chosen))
        # A busy machine may need more than a short budget before each path has a point: timing must not decide.
        if not write:
            tallies = [patiently(page, tally, scratch, known, modules) for page, tally in zip(chosen, tallies)]
    for tally in tallies:
        print("".join(f"{line}\n" for line in tally.said), end="")
    passed, failed, skipped = (sum(getattr(t, what) for t in tallies) for what in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
