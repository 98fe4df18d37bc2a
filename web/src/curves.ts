/** Curves: what a graph draws of the paths, ready to be placed on its axes. */

import { exact } from "./columns";
import { interval, shortest, type Series } from "./data";
import { added, common, comparable, timeOf, type Added } from "./overhead";
import { lowerBound } from "./search";
import type { State } from "./state";

export type Quantity = "time" | "rate" | "size";

export type Pair = readonly [number, number];

export interface Curve {
  readonly name: string;
  /** Classes that give it colour, dash and weight. */
  readonly look: string;
  readonly series: Series;
  /** Values on both axes, and the sizes they belong to, ascending. */
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly size: ArrayLike<number>;
  /** Index in the series of the curve's ith point. */
  index(i: number): number;
  /** Where the ith point lies at both ends of its interval. */
  ends(i: number): readonly [Pair, Pair] | undefined;
  /** Where it lies at its shortest trial. */
  least(i: number): Pair | undefined;
  /** Whether points with a warning are marked: in the graphs of the points themselves. */
  readonly flags: boolean;
  /** Whether points that lie apart in the series are left unjoined: what lies between was not measured. */
  readonly gaps: boolean;
}

/** Value of a quantity at a series' nth point, if its transfer takes `seconds` (its bits stay the same). */
export function value(s: Series, n: number, quantity: Quantity, seconds: number): number {
  if (quantity === "size") return s.size[n]!;
  return quantity === "time" ? seconds : (s.rate[n]! * s.time[n]!) / seconds;
}

/** A curve for each shown path: one quantity over another. */
export function ofPaths(state: State, x: Quantity, y: Quantity): Curve[] {
  const out: Curve[] = [];
  for (const s of state.shown()) {
    const [first, last] = state.window(s);
    if (first > last) continue;
    const at = (i: number, seconds: number): Pair => [value(s, first + i, x, seconds), value(s, first + i, y, seconds)];
    out.push({
      name: s.path.name,
      look: `hue${s.path.hue} dash${s.path.dash}`,
      series: s,
      x: s[x].subarray(first, last + 1),
      y: s[y].subarray(first, last + 1),
      size: s.size.subarray(first, last + 1),
      index: (i) => first + i,
      ends: (i) => {
        const ends = interval(s, first + i);
        return ends && [at(i, ends[0]), at(i, ends[1])];
      },
      least: (i) => at(i, shortest(s, first + i)),
      flags: true,
      gaps: false,
    });
  }
  return out;
}

/** Percentiles, and how many iterations it takes to know one: of fewer, it is the longest and says nothing of its own. */
export const PERCENTILES = [
  ["p50_s", "p50", 1],
  ["p90_s", "p90", 10],
  ["p99_s", "p99", 100],
  ["p999_s", "p99.9", 1000],
  ["max_s", "max", 1],
] as const;

type Percentile = (typeof PERCENTILES)[number];

/** A path's percentile at its nth drawable point; nothing where single iterations were not timed, or too few. */
export function percentile(s: Series, [key, , least]: Percentile, n: number): number | undefined {
  const row = s.rows[n]!;
  const v = s.columns[key][row]!;
  return v > 0 && Number.isFinite(v) && s.columns.iterations[row]! >= least ? exact(v) : undefined;
}

/** A curve for each percentile of one path, over size. */
export function many(state: State, s: Series): Curve[] {
  const [first, last] = state.window(s);
  const out: Curve[] = [];
  // The highest first: where several are one value, its name is to stand on top.
  [...PERCENTILES].reverse().forEach(([key, name, least], i) => {
    const rank = PERCENTILES.length - 1 - i;
    const column = s.columns[key];
    const points = new Int32Array(Math.max(0, last - first + 1));
    const values = new Float64Array(points.length);
    let count = 0;
    for (let n = first; n <= last; n++) {
      const v = column[s.rows[n]!]!;
      if (!(v > 0 && v < Infinity) || s.columns.iterations[s.rows[n]!]! < least) continue;
      points[count] = n;
      values[count++] = v;
    }
    if (count > 0) out.push({ ...chosen(s, name, `hue${s.path.hue} rank${rank}`, points.subarray(0, count), values.subarray(0, count)), gaps: true });
  });
  return out;
}

function chosen(s: Series, name: string, look: string, points: Int32Array, y: Float64Array): Curve {
  const size = new Float64Array(points.length);
  for (let i = 0; i < size.length; i++) size[i] = s.size[points[i]!]!;
  return { name, look, series: s, x: size, size, y, index: (i) => points[i]!, ends: () => undefined, least: () => undefined, flags: false, gaps: false };
}

/** What a path adds to the base at its nth drawable point; nothing where the base has no such size. */
export function addedAt(base: Series, s: Series, n: number): Added | undefined {
  const i = lowerBound(base.size, s.size[n]!);
  return base.size[i] === s.size[n] ? added(timeOf(base, i), timeOf(s, n)) : undefined;
}

/** Of the largest cost, what has a place on a logarithmic axis: less is noise about nothing, and would take all the room. */
const FLOOR = 1e-5;

/** A curve for each shown path that can be held against the base: what it adds, over size. */
export function layers(state: State): Curve[] {
  const { base, added: as } = state.choice;
  if (!base) return [];
  const log = state.choice.rest === "log";
  const found = compared(state).map((s) => {
    const [first, last] = state.window(s);
    const [b, a] = common(base, s);
    const from = lowerBound(a, first);
    const to = lowerBound(a, last + 1);
    const all = new Float64Array(Math.max(0, to - from));
    for (let i = 0; i < all.length; i++) {
      const below = base.time[b[from + i]!]!;
      all[i] = (s.time[a[from + i]!]! - below) / (as === "share" ? below / 100 : 1);
    }
    return { s, points: a.subarray(from, to), all };
  });
  let top = 0;
  for (const { all } of found) for (const v of all) top = Math.max(top, v);
  const out: Curve[] = [];
  for (const { s, points, all } of found) {
    // In both columns at once: what has no place on the axis is left out.
    const placed = (_: number, i: number) => !log || all[i]! > top * FLOOR;
    const [kept, values] = [points.filter(placed), all.filter(placed)];
    if (kept.length === 0) continue;
    const at = (i: number) => kept[i]!;
    out.push({
      ...chosen(s, s.path.name, `hue${s.path.hue} dash${s.path.dash}`, kept, values),
      ends: (i) => {
        const found = addedAt(base, s, at(i));
        const scale = as === "share" ? (found ? (100 * found.share) / (found.extra || NaN) : NaN) : 1;
        return found?.interval && Number.isFinite(scale) ? [[s.size[at(i)]!, found.interval[0] * scale], [s.size[at(i)]!, found.interval[1] * scale]] : undefined;
      },
    });
  }
  return out;
}

/** The shown paths that can be held against the base. */
export function compared(state: State): Series[] {
  const { base } = state.choice;
  return base ? state.shown().filter((s) => s !== base && comparable(s, base)) : [];
}

/** What every compared path adds to the base at the sizes shown, as a table to copy. */
export function addedText(state: State): string {
  const { base } = state.choice;
  const lines = ["path\tbase\tsize\ttime\tbase_time\tadded\tlow\thigh\tshare"];
  for (const s of base ? compared(state) : []) {
    const [first, last] = state.window(s);
    for (let n = first; n <= last; n++) {
      const found = addedAt(base!, s, n);
      if (!found) continue;
      const below = s.time[n]! - found.extra;
      const figures = [s.time[n]!, below, found.extra, ...(found.interval ?? ["", ""]), found.share];
      lines.push([s.path.name, base!.path.name, s.size[n], ...figures.map((v) => (typeof v === "number" ? exact(v) : v))].join("\t"));
    }
  }
  return lines.join("\n");
}
