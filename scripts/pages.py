"""How a page of the documents is read, what counts as the same shape of an output, and what of a sample is renewed: the rules that
the head of docs.py tells. No I/O: scripts/test-docs.py tests them."""

import re
import shlex
from dataclasses import dataclass, field

BUDGET = "300ms"
# Of a last try on a busy machine: so many times a page's own budget, the run's default where it names none, and how long a side that
# does not get a CPU is waited for.
LONGER, DEFAULT, PATIENCE = "x4", "12s", "60s"
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
    needs: tuple = ()  # modules, by name


def directives(lines, at):
    """What the comments above line `at` say."""
    found = {}
    at -= 1
    while at >= 0 and not lines[at].strip():
        at -= 1
    while at >= 0 and (m := re.fullmatch(r"<!-- test: (\w+) ?(.*?) -->", lines[at].strip())):
        found[m.group(1)] = m.group(2)
        at -= 1
    unknown = set(found) - {"skip", "exit", "budget", "table", "needs"}
    if unknown:
        raise ValueError(f"line {at + 2}: no such directive: {', '.join(sorted(unknown))}")
    return found


def block_of(commands, said):
    exits = tuple(int(code) for code in said["exit"].split()) if "exit" in said else (0,)
    return Block(commands, said.get("skip", ""), exits, said.get("budget", BUDGET), "table" in said,
                 tuple(said.get("needs", "").split()))


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


def columns(line):
    """The columns of a table's heading; none of a line that is none. Whether a column has intervals depends on the run."""
    found = [column.removesuffix(" [95%]") for column in re.split(r"\s{2,}", line.strip())]
    return found if len(found) >= 4 and key(line) == " ".join(line.split()) else []


# Columns that stand in any table of TCP whose connections happened to send something again.
RARE = ("retransmits",)


def fits(sample, line):
    """Whether an output's line is the one that the sample shows: its beginning, so that an author may shorten it. A heading may lack
    columns of the sample's, since one that has nothing to say (percentiles of a short run) is left out, and may have those of RARE."""
    shown, found = columns(sample), [column for column in columns(line) if column not in RARE]
    if shown and found and shown[:2] == found[:2]:
        left = iter(shown)
        return all(column in left for column in found)
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


# The tool's own words for a run that had too little time, and where they stand: a run that is whole, too, may say of a figure that a longer
# budget would tell it.
TOO_LITTLE = re.compile(r"no progress for [\d.]+ s|a longer --budget|no trial was completed|datagrams in a row were lost")
ENDS = ("pipegauge: ", "Not measured:")


def fell_short(code, output):
    """What the tool itself says of a command that had too little time: it measured something (exit code 1), or nothing (2, and says
    so). Empty where it ended otherwise, or for another reason. `output` has all lines, as they came."""
    said = ""
    for line in output:
        if line.startswith(ENDS):
            said += f"\n{line}"
        elif said and line.startswith("  "):
            said += f" {line.strip()}"
        elif said:
            break
    found = TOO_LITTLE.search(said)
    nothing = re.search("nothing was measured|can't be compared", said)
    return found.group() if found and (code == 1 or (code == 2 and nothing)) else ""


def names(text):
    """The words of a command's text: files among them."""
    try:
        return set(shlex.split(text, comments=True))
    except ValueError:
        return set(text.split())


def written(text):
    """The files that a command's text names to be written: -o FILE, --output FILE, FILE of a redirection."""
    return set(re.findall(r"(?:^|\s)(?:-o|--output|>)[ =]*([^\s'\"]+)", text))


def lengthened(arguments, times):
    """The arguments with so many times their budget (0 leaves it alone), and with more patience."""
    def longer(budget):
        number = re.match(r"[\d.]+", budget)
        return f"{float(number.group()) * times:g}{budget[number.end():]}" if number else budget

    if times and "--budget" in arguments:
        at = arguments.index("--budget") + 1
        arguments[at] = longer(arguments[at])
    elif times and arguments[0] != "sweep":
        arguments += ["--budget", longer(DEFAULT)]
    return arguments if "--patience" in arguments else arguments + ["--patience", PATIENCE]


def shortened(arguments, budget):
    """The arguments of the program without progress and, where a real path is measured, with the budget in place of theirs: none for
    their own, "x4" for four times theirs."""
    if not arguments or arguments[0] not in ("run", "live", "group", "hint", "explain", "sweep"):
        return arguments
    arguments = list(arguments)
    soak = "--duration" in arguments
    # Its lines are what it prints.
    if not soak and "-q" not in arguments and "--quiet" not in arguments:
        arguments.append("-q")
    paths = []
    for word in arguments[1:]:
        if word.startswith("-"):
            break
        paths.append(word)
    own_effort = ("--trials" in arguments or "netpipe" in arguments) and "--budget" not in arguments
    if not budget or arguments[0] == "explain" or paths == ["theory"]:
        return arguments
    if budget.startswith("x"):
        return lengthened(arguments, 0.0 if soak or own_effort else float(budget[1:]))
    if own_effort:
        return arguments
    time = "--duration" if soak else "--budget"
    if time in arguments:
        arguments[arguments.index(time) + 1] = budget
        return arguments
    return arguments + ["--budget", budget]


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
