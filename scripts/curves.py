"""Curves over size, or over another number: what they lie between, the bandwidth curve of Fast Sockets' tables 2 and 3, and a picture of them. No I/O."""
import math
from html import escape

COLOURS = ["#c4501b", "#1f6fb2", "#2e8b57", "#7b4fa3"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 560, 90, 930, 84, 480


def bandwidth_curve(sizes, rates):
    """Rmax and half-power point N of rate = Rmax x / (N + x), so that a message takes N / Rmax + x / Rmax: least squares of relative errors
    of that time. None where the sizes do not tell it: fewer than three, or times that do not grow."""
    rows = [(x, x / y) for x, y in zip(sizes, rates) if y > 0]
    if len(rows) < 3:
        return None
    weights = [1 / t ** 2 for _, t in rows]
    total = sum(weights)
    x_mean = sum(w * x for w, (x, _) in zip(weights, rows)) / total
    t_mean = sum(w * t for w, (_, t) in zip(weights, rows)) / total
    spread = sum(w * (x - x_mean) ** 2 for w, (x, _) in zip(weights, rows))
    slope = sum(w * (x - x_mean) * (t - t_mean) for w, (x, t) in zip(weights, rows)) / spread if spread > 0 else 0
    start = t_mean - slope * x_mean
    return (1 / slope, start / slope) if slope > 0 and start > 0 else None


def bytes_in_words(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def decades(low, high):
    """Powers of ten from at or below `low` to at or above `high`."""
    return [10.0 ** n for n in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def picture(title, under, unit, lines, told=bytes_in_words):
    """An SVG with both axes logarithmic. `lines`: name -> [(size, low, middle, high)]; the band is what lies between low and high; `told`: a size in words."""
    points = [p for line in lines.values() for p in line]
    sizes = [p[0] for p in points]
    ticks = decades(min(p[1] for p in points), max(p[3] for p in points))
    if len(ticks) < 2:
        ticks.append(ticks[0] * 10)
    least, most = math.log2(min(sizes)), max(math.log2(max(sizes)), math.log2(min(sizes)) + 1)
    bottom, top = math.log10(ticks[0]), math.log10(ticks[-1])
    across = lambda size: round(LEFT + (math.log2(size) - least) / (most - least) * (RIGHT - LEFT), 2)
    up = lambda value: round(BOTTOM - (math.log10(value) - bottom) / (top - bottom) * (BOTTOM - TOP), 2)

    def text(x, y, said, size=12, anchor="middle", colour="#5a5f66"):
        return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{escape(said)}</text>'

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
           'font-family="Inter, \'Helvetica Neue\', Arial, \'Liberation Sans\', \'DejaVu Sans\', sans-serif">',
           f"<title>{escape(title)}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           text(34, 36, title, 19, "start", "#1a1a1a"), text(34, 59, under, 12.5, "start")]
    for value in ticks:
        out += [f'<line x1="{LEFT}" y1="{up(value)}" x2="{RIGHT}" y2="{up(value)}" stroke="#e3e6ea"/>',
                text(LEFT - 10, up(value) + 4, f"{value:g} {unit}", anchor="end")]
    shown = sorted(set(sizes))
    for size in shown[::max(1, math.ceil(len(shown) / 11))]:
        out += [f'<line x1="{across(size)}" y1="{TOP}" x2="{across(size)}" y2="{BOTTOM}" stroke="#f1f3f5"/>',
                text(across(size), BOTTOM + 20, told(size))]
    for n, (name, line) in enumerate(lines.items()):
        colour, line = COLOURS[n % len(COLOURS)], sorted(line)
        edge = [(p[0], p[3]) for p in line] + [(p[0], p[1]) for p in reversed(line)]
        out += ['<path d="M' + " L".join(f"{across(x)},{up(y)}" for x, y in edge) + f' Z" fill="{colour}" fill-opacity="0.15"/>',
                '<path d="M' + " L".join(f"{across(p[0])},{up(p[2])}" for p in line) + f'" fill="none" stroke="{colour}" stroke-width="2"/>']
        out += [f'<circle cx="{across(p[0])}" cy="{up(p[2])}" r="3" fill="{colour}"/>' for p in line]
        x = LEFT + 215 * n
        out += [f'<line x1="{x}" y1="{HEIGHT - 30}" x2="{x + 24}" y2="{HEIGHT - 30}" stroke="{colour}" stroke-width="2"/>',
                text(x + 32, HEIGHT - 26, name, 12.5, "start", "#1a1a1a")]
    return "\n".join(out + ["</svg>", ""])
