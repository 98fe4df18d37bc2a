"""What bench/TRUTH.md says of targets that are missed, in words."""
import re


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(text):
    """Each table as (section, what its part is of, its column names, its rows)."""
    for section in text.split("\n## ")[1:]:
        for part in section.split("\n### ")[1:]:
            lines = [line for line in part.split("\n") if line.startswith("|")]
            if lines:
                yield section.split("\n", 1)[0], part.split("\n", 1)[0], cells(lines[0]), [cells(line) for line in lines[2:]]


def coverage(text):
    """Of each number of rounds: the targets met of the machine's truth."""
    found = re.findall(r"^### (\d+) rounds [^\n]*the machine's truth\n.*?^Targets met: (\d+) of (\d+); (\d+) hold less often than they say", text, re.M | re.S)
    return [f"{met} of {of} are met with {rounds} rounds, where {less} hold less often than they say" for rounds, met, of, less in found]


def held(rows, names, name):
    """Percent of the intervals that hold, of the cells in bold under names that begin so."""
    columns = [i for i, n in enumerate(names) if n.startswith(name)]
    bold = [re.match(r"\*\*(\d+) ±", row[i]) for row in rows for i in columns]
    return [int(m[1]) for m in bold if m]


# Comparisons of one thing with itself that may be said to differ, percent.
FALSE = 5
# How the columns begin that count comparisons of the same that are said to differ, or to exceed a limit of no change.
SAME = ("the same", "same", "limit,", "differ,")


def alike(rows, names, runs):
    """Cells in which more of the comparisons of the same are said to differ than may, whether they are bold (beyond a standard error of so few) or not: (how many, under which noise)."""
    columns = [i for i, n in enumerate(names) if n.startswith(SAME)]
    found = [(re.match(r"(?:\*\*)?(\d+)", row[i]), row[0]) for row in rows for i in columns]
    return [(int(m[1]), noise) for m, noise in found if m and 100 * int(m[1]) > FALSE * runs]


def in_words(text):
    """The paragraph of README; none where nothing was measured."""
    if not (covered := coverage(text)):
        return None
    said = f"Not every target is met where the truth is known (synthetic noise, [bench/TRUTH.md](bench/TRUTH.md)). Of those of the intervals of figures {'; '.join(covered)}; the others missed hold more often."
    medians = [percent for section, _, names, rows in tables(text) if section.startswith("Percentiles") for percent in held(rows, names, "p50")]
    if medians:
        said += f" Intervals of p50 that hold less often than their target of 92% do so in {min(medians)} to {max(medians)}%."
    worst = [(k / int(runs[1]), k, runs[1], part, noise) for section, part, names, rows in tables(text) if section.startswith("Comparisons")
             if (runs := re.search(r"(\d+) runs", part)) for k, noise in alike(rows, names, int(runs[1]))]
    if worst:
        _, k, of, part, noise = max(worst)
        said += f" Of comparisons of one thing with itself at most {FALSE}% should be said to differ, or to exceed a limit of no change: in {len(worst)} cells of its tables it is more, the most {k} of {of} ({noise})."
    return said
