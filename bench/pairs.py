"""Pairs of measurements, and what may be said of their ratio. No I/O: scripts/test-bench.py tests it."""
import random
import statistics

# Fewer say nothing that a bootstrap could hold.
FEWEST_PAIRS = 12


def bootstrap(values, statistic=statistics.median, n=4000, seed=1):
    """Statistic and its 95% bootstrap interval."""
    r = random.Random(seed)
    draws = sorted(statistic(r.choices(values, k=len(values))) for _ in range(n))
    return statistic(values), draws[int(0.025 * n)], draws[int(0.975 * n)]


def ratio(pairs):
    """Median of the paired ratios with its interval; where it has 1 in it, the two are not told apart, and no lead is told from it."""
    m, lo, hi = bootstrap([a / b for a, b in pairs])
    told = f"{m:.3f} [{lo:.3f}, {hi:.3f}]"
    return f"not told apart: {told}" if lo <= 1 <= hi else told


def interleaved(n, first, second, failures=3, failed=()):
    """`n` pairs of what both give, in turns, each beginning every other pair: what drifts hits both alike.

    A pair of which a side fails with one of the exceptions `failed` is made again; after `failures` of them the last is raised."""
    pairs = []
    while len(pairs) < n:
        try:
            if len(pairs) % 2:
                b = second()
                pairs.append((first(), b))
            else:
                a = first()
                pairs.append((a, second()))
        except failed:
            failures -= 1
            if failures <= 0:
                raise
    return pairs
