/** What the page carries: runs, their paths, the points of each as columns, and what lies behind and over them. Written by crates/report/src/html. */

import { bytes, counts, exact, flags, floats, sizes } from "./columns";
import { nearest } from "./search";
import type { Models } from "./fitted";
import { Trials, type RawTrials } from "./trials";

export interface PageData {
  readonly schema: string;
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
  readonly paths: readonly PathData[];
}

const FIGURES = ["median", "low", "high", "repeat_low", "repeat_high", "min", "throughput", "sender", "transactions", "p50", "p90", "p99", "p999", "max", "loss", "reordering"] as const;

/** Figures that a point may have; seconds, bits a second (throughput, sender), per second (transactions) or shares. */
export type Figure = (typeof FIGURES)[number];

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
  readonly points: Readonly<Record<Figure | "size" | "blocks" | "iterations" | "why" | "warned", string>> & { readonly reasons: readonly string[] };
  readonly trials: RawTrials;
  readonly histograms: string;
  readonly models: Models | null;
  readonly marks: readonly Mark[];
}

/** A path's columns, NaN where a figure is missing. */
export type Columns = Readonly<Record<Figure, Float32Array>> & {
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
  const rows = Int32Array.from(all.filter((i) => usable(columns.median[i]) && usable(columns.throughput[i]) && columns.size[i]! > 0));
  const drawn = (of: ArrayLike<number>) => Float64Array.from(rows, (i) => of[i]!);
  const trials = new Trials(path.trials, path.histograms, columns.size.length);
  return { key, run, path, columns, trials, rows, time: drawn(columns.median), size: drawn(columns.size), rate: drawn(columns.throughput) };
}

function decoded(path: PathData): Columns {
  const { points } = path;
  const size = sizes(points.size);
  const why = bytes(points.why);
  const figures = Object.fromEntries(FIGURES.map((name) => [name, floats(points[name], size.length)])) as Record<Figure, Float32Array>;
  // A percentile is the middle of a step of 1%: it may lie a hair above the longest time, which is exact.
  for (const name of ["p50", "p90", "p99", "p999"] as const) {
    const column = figures[name];
    for (let i = 0; i < column.length; i++) if (column[i]! > figures.max[i]!) column[i] = figures.max[i]!;
  }
  return { ...figures, size, blocks: counts(points.blocks), iterations: counts(points.iterations), warned: flags(points.warned, size.length), why: (row) => points.reasons[why[row] ?? -1] ?? "" };
}

/** The interval of the time of a series' nth drawable point, seconds; nothing where an end is open or missing. */
export function interval(s: Series, n: number): [number, number] | undefined {
  const row = s.rows[n]!;
  const low = s.columns.low[row];
  const high = s.columns.high[row];
  return usable(low) && usable(high) && low <= high ? [exact(low), exact(high)] : undefined;
}

/** The shortest trial of a series' nth drawable point, seconds; its median where there is none. */
export function shortest(s: Series, n: number): number {
  const min = s.columns.min[s.rows[n]!];
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
