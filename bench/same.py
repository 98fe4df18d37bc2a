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


def in_words(rows, runs=None):
    """The sentence of the README from the table's rows; those of a row are of so many runs, where that is known."""
    count = lambda cell: cell.split()[0]

    def told(r):
        side = "1 run a side that noted earlier ones" if r[0] == "1" else f"{r[0]} runs a side"
        n, verdicts = int(r[1]), int(count(r[2]))
        if not verdicts:
            return f"{side}, machine {r[6]}: no verdict on any of {n}"
        beside = f", no verdict on {n - verdicts}" if verdicts != n else ""
        return f"{side}, machine {r[6]}: {count(r[3])} of {verdicts}{beside}"

    said = f"`compare` of separate runs said that two sides of one thing differ ({'; '.join(told(r) for r in rows)})."
    return said + (f" Those of a row are pairs and draws of the same {runs} runs: they are not independent, and count for far fewer." if runs else "")
