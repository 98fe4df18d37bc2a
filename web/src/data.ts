/** What the page carries: runs, their paths, the points of each as columns, and what lies behind and over them. Written by crates/report/src/html. */

import { bytes, counts, exact, flags, floats, sizes } from "./columns";
import { nearest } from "./search";
import type { Models } from "./fitted";
import { Trials, type RawTrials } from "./trials";

export interface PageData {
  readonly schema: string;
  /** The table of points, from left to right, after the size. */
  readonly columns: readonly Head[];
  /** The graphs over sizes that say something of these runs, by name (crates/report/src/graph.rs). */
  readonly graphs: readonly string[];
  readonly runs: readonly RunData[];
}

export interface RunData {
  readonly letter: string;
  /** Where and how it was measured, in one line. */
  readonly line: string;
  /** Name for the downloaded run file. */
  readonly file: string;
  /** How many elements hold its raw data. */
  readonly parts: number;
  /** Its trials are the intervals of one connection. */
  readonly soak?: boolean;
  readonly paths: readonly PathData[];
}

/** A column of the table of points (crates/record/src/columns.rs): its figure, in which unit, and how it is printed. */
export interface Head {
  readonly name: string;
  readonly unit: "seconds" | "bitsPerSecond" | "bytes" | "share" | "perSecond" | "count" | null;
  readonly heading: string;
  readonly form: "plain" | "interval" | "range";
  /** Columns of the interval's ends. */
  readonly low?: string;
  readonly high?: string;
  /** Columns of the range that the rounds of a point without an interval span. */
  readonly seen?: readonly [string, string];
  /** Column of the range's upper end. */
  readonly to?: string;
}

/** Figures that graphs draw; a point may have others, which the table of points shows. */
const DRAWN = ["median_s", "low_s", "high_s", "min_s", "throughput_bits_per_s", "p50_s", "p90_s", "p99_s", "p999_s", "max_s"] as const;

export type Figure = (typeof DRAWN)[number];

/** A range of sizes worth a reader's eye, such as a dip. */
export interface Mark {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

export interface PathData {
  readonly name: string;
  readonly time: string;
  readonly hue: number;
  readonly dash: number;
  readonly points: Readonly<Record<"size" | "why" | "warned", string>> & {
    readonly figures: Readonly<Record<string, string>>;
    readonly counts: Readonly<Record<string, string>>;
    readonly reasons: readonly string[];
  };
  readonly trials: RawTrials;
  readonly histograms: string;
  readonly models: Models | null;
  readonly marks: readonly Mark[];
}

/** A path's columns, NaN where a figure is missing. */
export type Columns = Readonly<Record<Figure, Float32Array>> & {
  /** All columns of numbers, by name. */
  readonly all: Readonly<Record<string, ArrayLike<number>>>;
  readonly size: Float64Array;
  readonly blocks: Uint32Array;
  readonly iterations: Uint32Array;
  readonly warned: Uint8Array;
  readonly why: (row: number) => string;
};

/** One curve on the page. */
export interface Series {
  readonly key: string;
  readonly run: number;
  readonly path: PathData;
  readonly columns: Columns;
  readonly trials: Trials;
  /** Whether a size over its time is what the path carries: not where sends follow a schedule. */
  readonly carries: boolean;
  /** Rows of the columns whose median and throughput can be drawn, by ascending size. */
  readonly rows: Int32Array;
  readonly time: Float64Array;
  readonly size: Float64Array;
  readonly rate: Float64Array;
}

/** The page's data, from its script element. */
export function read(text: string): PageData {
  return JSON.parse(text) as PageData;
}

const usable = (v: number | undefined): v is number => v !== undefined && Number.isFinite(v) && v > 0;

/** All curves: run by run, path by path. */
export function seriesOf(page: PageData): Series[] {
  return page.runs.flatMap((run, r) => run.paths.map((path, p) => series(`${r}-${p}`, r, path)));
}

function series(key: string, run: number, path: PathData): Series {
  const columns = decoded(path);
  const all = columns.size.map((_, i) => i);
  const carries = path.points.figures.throughput_bits_per_s !== "";
  const rates = carries ? columns.throughput_bits_per_s : Float64Array.from(all, (i) => (8 * columns.size[i]!) / columns.median_s[i]!);
  const rows = Int32Array.from(all.filter((i) => usable(columns.median_s[i]) && usable(rates[i]) && columns.size[i]! > 0));
  const drawn = (of: ArrayLike<number>) => Float64Array.from(rows, (i) => of[i]!);
  const trials = new Trials(path.trials, path.histograms, columns.size.length);
  return { key, run, path, columns, trials, carries, rows, time: drawn(columns.median_s), size: drawn(columns.size), rate: drawn(rates) };
}

function decoded(path: PathData): Columns {
  const { points } = path;
  const size = sizes(points.size);
  const why = bytes(points.why);
  const figures: Record<string, Float32Array> = {};
  for (const [name, text] of Object.entries(points.figures)) figures[name] = floats(text, size.length);
  const drawn = Object.fromEntries(DRAWN.map((name) => [name, figures[name] ?? floats("", size.length)])) as Record<Figure, Float32Array>;
  // A percentile is the middle of a step of 1%: it may lie a hair above the longest time, which is exact.
  for (const name of ["p50_s", "p90_s", "p99_s", "p999_s"] as const) {
    const column = drawn[name];
    for (let i = 0; i < column.length; i++) if (column[i]! > drawn.max_s[i]!) column[i] = drawn.max_s[i]!;
  }
  const whole = Object.fromEntries(Object.entries(points.counts).map(([name, text]) => [name, counts(text)]));
  const none = new Uint32Array(size.length);
  const all = { ...figures, ...whole };
  return { ...drawn, all, size, blocks: whole.blocks ?? none, iterations: whole.iterations ?? none, warned: flags(points.warned, size.length), why: (row) => points.reasons[why[row] ?? -1] ?? "" };
}

/** The interval of the time of a series' nth drawable point, seconds; nothing where an end is open or missing. */
export function interval(s: Series, n: number): [number, number] | undefined {
  const row = s.rows[n]!;
  const low = s.columns.low_s[row];
  const high = s.columns.high_s[row];
  return usable(low) && usable(high) && low <= high ? [exact(low), exact(high)] : undefined;
}

/** What the rounds of a series' nth drawable point span, seconds; nothing where they give an interval. */
export function seen(s: Series, n: number): [number, number] | undefined {
  const row = s.rows[n]!;
  const [low, high] = [s.columns.all.seen_low_s?.[row], s.columns.all.seen_high_s?.[row]];
  return usable(low) && usable(high) ? [exact(low), exact(high)] : undefined;
}

/** The shortest trial of a series' nth drawable point, seconds; its median where there is none. */
export function shortest(s: Series, n: number): number {
  const min = s.columns.min_s[s.rows[n]!];
  return usable(min) ? min : s.time[n]!;
}

/** Index of the drawable point whose size is nearest by ratio. */
export function nearestSize(s: Series, size: number): number {
  return nearest(s.size, size);
}

/** Whether a warning names a series' nth drawable point. */
export function warned(s: Series, n: number): boolean {
  return s.columns.warned[s.rows[n]!] === 1;
}
