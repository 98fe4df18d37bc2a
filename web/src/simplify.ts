/** Keeps a curve of any number of points down to what pixels can show. */

/**
 * Indices of the points worth drawing, in order. Of neighbours in one pixel column (in two columns, of a curve with
 * more than `most` points) the first, the lowest, the highest and the last stay, so that no dip or spike is lost. A curve
 * that still has more points than `most` (time jumping back and forth) keeps one point of each pixel. A rough one, for a
 * picture that will be another in a moment, has pixels `rough` times as wide and high.
 */
export function simplify(x: ArrayLike<number>, y: ArrayLike<number>, most = 4000, rough = 1): number[] {
  const wide = rough * (x.length > most ? 2 : 1);
  const kept: number[] = [];
  let start = 0;
  while (start < x.length) {
    const column = Math.floor(x[start]! / wide);
    let end = start;
    let low = start;
    let high = start;
    while (end + 1 < x.length && Math.floor(x[end + 1]! / wide) === column) {
      end++;
      if (y[end]! < y[low]!) low = end;
      if (y[end]! > y[high]!) high = end;
    }
    for (const i of [start, Math.min(low, high), Math.max(low, high), end]) {
      if (kept[kept.length - 1] !== i) kept.push(i);
    }
    start = end + 1;
  }
  if (kept.length <= most) return kept;
  const seen = new Set<number>();
  return kept.filter((i, n) => {
    const pixel = Math.floor(x[i]! / rough) * 100_003 + Math.floor(y[i]! / rough);
    if (n === kept.length - 1 || !seen.has(pixel)) {
      seen.add(pixel);
      return true;
    }
    return false;
  });
}

/**
 * Moves centres apart until neighbours are at least `gap` apart, as near to where they want to be as that allows, within
 * low..high. The same rule as crates/report/src/svg/layout.rs.
 */
export function spread(wanted: readonly number[], gap: number, low: number, high: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a]! - wanted[b]!);
  const pools: { sum: number; count: number }[] = [];
  order.forEach((i, rank) => {
    pools.push({ sum: wanted[i]! - rank * gap, count: 1 });
    for (;;) {
      const [a, b] = pools.slice(-2);
      if (!a || !b || a.sum / a.count <= b.sum / b.count) break;
      pools.splice(-2, 2, { sum: a.sum + b.sum, count: a.count + b.count });
    }
  });
  const top = high - gap * Math.max(0, wanted.length - 1);
  const flat = pools.flatMap((p) => Array.from({ length: p.count }, () => p.sum / p.count));
  const placed = wanted.slice();
  order.forEach((i, rank) => (placed[i] = Math.max(low, Math.min(top, flat[rank]!)) + rank * gap));
  return placed;
}
