"""What comparisons of one thing with itself said: counted by their verdicts."""

# Runs of one thing whose spread `compare` trusts (its `BetweenRuns::ENOUGH`, degrees of freedom): of fewer, a verdict is always that of a difference.
ENOUGH = 4

HEAD = ["runs a side", "comparisons", "with a verdict", "said to differ, of those", "no verdict: others took more of the CPUs on one side",
        "with a lone size marked, of all", "the machine was"]


def said_to_differ(found):
    """Whether a comparison's verdict is that the sides differ. Without a verdict, stretches that differ are facts of these runs alone."""
    if not found["judged"]:
        return False
    between = found.get("between")
    known = between is not None and between["degrees"] >= ENOUGH
    return not known or any(s["differs"] for s in found["stretches"])


def row(runs, all_found, machine):
    """A row of the table: comparisons as `compare --json` has them, of so many runs a side."""
    judged = sum(found["judged"] for found in all_found)
    differ = sum(said_to_differ(found) for found in all_found)
    undecided = sum(bool(found.get("disturbed") and found["disturbed"]["undecided"]) for found in all_found)
    lone = sum(any(s["significant"] for s in found["sizes"]) for found in all_found)
    share = lambda k, of: f"{k} ({k / of:.1%})" if of else f"{k}"
    n = len(all_found)
    return [runs, n, share(judged, n), share(differ, judged), share(undecided, n), share(lone, n), machine]


def in_words(rows):
    """The sentence of the README from the table's rows; one of the table of earlier versions has no column of verdicts, and counted all."""
    count = lambda cell: cell.split()[0]

    def told(r):
        verdicts, differ, undecided, machine = (r[2], r[3], r[4], r[6]) if len(r) == 7 else (r[1], r[2], r[3], r[5])
        beside = f", no verdict on {count(undecided)}" if count(undecided) != "0" else ""
        if len(r) == 7 and count(verdicts) != r[1]:
            beside = f", no verdict on {int(r[1]) - int(count(verdicts))} more"
        return f"{r[0]} run{'s' if r[0] != '1' else ''} a side, machine {machine}: {count(differ)} of {count(verdicts)}{beside}"

    several = "; ".join(told(r) for r in rows if r[0] != "1")
    return f"`compare` of separate runs (of one run a side there is no verdict) said that two sides of one thing differ ({several})."
