"""Intervals of shares of independent trials."""
import math


def interval(k, n, confidence=0.95):
    """The exact interval of a share seen k times of n (Clopper and Pearson 1934), as shares."""
    def at_least(p):
        return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k, n + 1))

    def at_most(p):
        return sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k + 1))

    def where(below):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle) else (low, middle)
        return high

    tail = (1 - confidence) / 2
    return (0.0 if k == 0 else where(lambda p: at_least(p) < tail)), (1.0 if k == n else where(lambda p: at_most(p) > tail))


def in_words(k, n):
    """The interval in percent, in brackets."""
    low, high = interval(k, n)
    return f"[{low:.0%}, {high:.0%}]"
