"""What comparisons of one thing with itself said: counted by their verdicts."""

HEAD = ["runs a side", "comparisons", "with a verdict", "said to differ, of those", "no verdict: others took more of the CPUs on one side",
        "with a lone size marked, of all", "the machine was"]


def row(runs, all_found, machine):
    """A row of the table: comparisons as `compare --json` has them, of so many runs a side."""
    judged = sum(found["judged"] for found in all_found)
    differ = sum(found["finding"] == "differ" for found in all_found)
    undecided = sum(bool(found.get("disturbed") and found["disturbed"]["undecided"]) for found in all_found)
    lone = sum(any(s["significant"] for s in found["sizes"]) for found in all_found)
    share = lambda k, of: f"{k} ({k / of:.1%})" if of else f"{k}"
    n = len(all_found)
    return [runs, n, share(judged, n), share(differ, judged), share(undecided, n), share(lone, n), machine]


def in_words(rows):
    """The sentence of the README from the table's rows."""
    count = lambda cell: cell.split()[0]

    def told(r):
        runs, n, verdicts, differ, machine = r[0], r[1], count(r[2]), count(r[3]), r[6]
        beside = f", no verdict on {int(n) - int(verdicts)}" if verdicts != n else ""
        side = "1 run a side that noted earlier ones" if runs == "1" else f"{runs} runs a side"
        return f"{side}, machine {machine}: {differ} of {verdicts}{beside}"

    return f"`compare` of separate runs said that two sides of one thing differ ({'; '.join(told(r) for r in rows if count(r[2]) != '0')})."
