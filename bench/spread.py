"""How far runs of one thing lie apart. No I/O: scripts/test-bench.py tests it."""
import statistics


def common(runs):
    """Sizes that all runs have, ascending."""
    return sorted(set.intersection(*(set(run) for run in runs))) if runs else []


def mean(runs, sizes):
    """Of runs as size -> time: the longest over the shortest less 1, mean over `sizes`."""
    return statistics.mean(max(run[size] for run in runs) / min(run[size] for run in runs) - 1 for size in sizes)
