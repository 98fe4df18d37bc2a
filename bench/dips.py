"""The dip that `bench.py` plants into the modelled link, and what README says of it."""
import shares

WIDTH, DEPTH, NOISE = 0.05, 3, "2%"


def planted(start, seed):
    """The model's settings with a dip from this size on, and the size at which it ends."""
    end = max(start + 1, int(start * 10 ** WIDTH))
    return f"latency=10us,rate=10Gbit/s,noise={NOISE},seed={seed},dip={start}..{end}*{DEPTH}", end


def in_words(row):
    """The sentence of the README from the table's row."""
    tried, found, elsewhere = (int(cell) for cell in row)
    return (f"On the modelled link, with noise of {NOISE}, dips of a twentieth of a decade that take {DEPTH} times as long were planted: {found} of {tried} found "
            f"{shares.in_words(found, tried)}, {elsewhere} said elsewhere. How shallower ones are found, and under other noise, [bench/TRUTH.md](bench/TRUTH.md) says.")
