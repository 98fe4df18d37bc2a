#!/usr/bin/env python3
"""The page docs/gallery.md from a folder that `make figures` left: each figure and table of the papers that is in it, with the commands that
make it, the machine and the date. Pictures and texts go to docs/gallery/, and a long text's beginning is on the page. It measures nothing, and reads what is in the folder.

  scripts/gallery.py FOLDER [DOCS]

Exit: 0 written, 1 nothing to write, 2 wrong words."""
import json
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Lines of a text that the page has itself.
LONGEST = 40

# Paper, and of each figure: what it is of, and the names of its pictures (NAME.svg) and texts (NAME.txt) in the folder.
PAPERS = [
    ("Fast Sockets", [
        ("Figures 3 and 4: round trips over size", ["fast-sockets-3-4"]),
        ("Figures 5 and 6: bandwidth of bursts", ["fast-sockets-5-6"]),
        ("Figure 7: streams of small sends that may be collected", ["fast-sockets-7"]),
        ("Tables 1 to 3: start-up, per-byte cost, Rmax and half-power point", ["fast-sockets-tables"]),
        ("Table 3 and figure 7 by programs of others", ["fast-sockets-table-3", "fast-sockets-7-tools"]),
        ("Figure 8: transactions a second, on a connection that is kept and on new ones", ["fast-sockets-8"]),
        ("Figure 9: FTP", ["fast-sockets-9"]),
    ]),
    ("Gigabit Ethernet", [
        ("Figures 1 and 2: throughput by segment and buffer", ["gigabit-1-2"]),
        ("Table 1 on the loopback: segments and socket buffers", ["gigabit-tables"]),
        ("Table 1 over a link: MTU, buffers and offloads", ["gigabit-1"]),
        ("Section 4.2: message layers over TCP", ["gigabit-layers"]),
    ]),
    ("Horus", [
        ("Figure 4: rounds of a group, over UDP and over multicast", ["horus-4-carriers"]),
        ("Figure 4: with one order of all casts, and with that of each sender", ["horus-4-orders"]),
        ("Figure 5: messages a second by members and messages a round, over UDP", ["horus-5-rates-udp", "horus-5-udp"]),
        ("Figure 5: over multicast", ["horus-5-rates-multicast", "horus-5-multicast"]),
        ("Figure 5: in total order", ["horus-5-rates-total", "horus-5-total"]),
    ]),
    ("Data passing", [
        ("Figure 1: latency over size", ["scaling-1"]),
        ("Table 1: estimated and actual latency", ["scaling-table"]),
    ]),
    ("NetPIPE", [
        ("Figure 1: throughput over size", ["netpipe-1"]),
        ("Figures 2, 4 and 8: signature", ["netpipe-2-4-8"]),
        ("Figures 3 and 5: saturation", ["netpipe-3-5"]),
        ("Figures 6 and 12: HINT", ["netpipe-6", "netpipe-12"]),
        ("Figure 7: round trips and streams", ["netpipe-7"]),
        ("Figure 8: what a protocol layer costs", ["netpipe-8", "netpipe-8-mpi"]),
        ("Figure 8 over a link", ["netpipe-8-wire", "netpipe-8-mpi-wire"]),
        ("Figure 9: messages at pages and beside them", ["netpipe-9"]),
        ("Figure 10: sizes about 64 KiB in detail", ["netpipe-10"]),
        ("The questions of section 1", ["netpipe-questions"]),
    ]),
]

HEAD = """\
# The papers' figures, drawn

Every figure and table of [the papers](papers.md) that one host can make, from one run of `make figures`. Under each stand the commands that
made it. `scripts/gallery.py FOLDER` writes this page from what `make figures` leaves.

{machine} Written on {date}, on commit {commit}. Machines of others read otherwise: compare within a picture, not with other pages.
"""


def commands(folder):
    rows = (line.split("\t", 1) for line in (folder / "commands.tsv").read_text().splitlines() if "\t" in line)
    return {name: command for name, command in rows}


def of_it(name, made):
    """Commands behind a figure: those that measured its runs, then its own."""
    own = made.get(name)
    if own is None:
        return []
    runs = re.findall(r"([\w-]+)\.run\.jsonl", own)
    measured = [f"{made[run]} -o {run}.run.jsonl" for run in runs if run in made]
    picture = f" -o {name}.svg" if own.startswith("pipegauge plot ") else ""
    return measured + [own + picture]


def block(text):
    return "```text\n" + text.rstrip("\n") + "\n```\n"


def commands_in(lines):
    """Commands as a page of the manual shows them; make figures runs them, and scripts/docs.py need not."""
    shown = "".join(f"$ {line}\n" for line in lines)
    return f"<!-- test: skip make figures runs them -->\n```console\n{shown}```\n"


def beginning(text, whole):
    """A text as it stands, or where it is long its beginning and a link to the whole."""
    lines = text.rstrip("\n").splitlines()
    if len(lines) <= LONGEST:
        return block(text)
    return block("\n".join(lines[:LONGEST])) + f"\n[{len(lines) - LONGEST} more lines]({whole})\n"


def shown(name, title, folder, pictures, told):
    """A figure's picture and text as Markdown; empty where the folder has neither."""
    parts = []
    picture, text = folder / f"{name}.svg", folder / f"{name}.txt"
    if picture.is_file() and picture.stat().st_size:
        pictures.mkdir(exist_ok=True)
        (pictures / picture.name).write_bytes(picture.read_bytes())
        parts.append(f"![{title}](gallery/{picture.name})\n")
    # A sweep prints the table that its picture is of; a plot prints nothing.
    if text.is_file() and text.stat().st_size and not told.startswith("pipegauge plot "):
        pictures.mkdir(exist_ok=True)
        (pictures / text.name).write_bytes(text.read_bytes())
        parts.append(beginning(text.read_text(), f"gallery/{text.name}"))
    return parts


def machine(folder):
    """Where the runs were measured, as the first of them says."""
    for run in sorted(folder.glob("*.run.jsonl")):
        with run.open() as lines:
            near = json.loads(next(lines, "{}")).get("near")
        if near:
            kernel = near["kernel"].split(" ")[1].split("-")[0]
            under = f" under {near['hypervisor']}" if near.get("hypervisor") else ""
            return f"Measured on {len(near['cpus'])} CPUs ({near['cpu']}{under}), {near['os']}, Linux {kernel}."
    return ""


def page(folder, docs):
    made, parts, figures = commands(folder), [], 0
    for paper, entries in PAPERS:
        section = []
        for title, names in entries:
            found = [part for name in names for part in shown(name, title, folder, docs / "gallery", made.get(name, ""))]
            if found:
                lines = list(dict.fromkeys(line for name in names for line in of_it(name, made)))
                section += [f"### {title}\n", *found, commands_in(lines)]
                figures += 1
        if section:
            parts += [f"## {paper}\n", *section]
    return figures, "\n".join(parts)


def main(words):
    if len(words) not in (1, 2) or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder, docs = Path(words[0]), Path(words[1]) if len(words) == 2 else ROOT / "docs"
    if not (folder / "commands.tsv").is_file():
        print(f"gallery.py: {folder} has no commands.tsv: it is not a folder that make figures left", file=sys.stderr)
        return 1
    figures, body = page(folder, docs)
    if not figures:
        print(f"gallery.py: {folder} has no figure", file=sys.stderr)
        return 1
    git = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False)
    date = datetime.now().strftime("%-d %B %Y")
    head = HEAD.format(machine=machine(folder), date=date, commit=git.stdout.strip() or "unknown")
    (docs / "gallery.md").write_text(head + "\n" + body)
    print(f"{docs / 'gallery.md'}: {figures} figures")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
