/** What the page carries: runs, their paths, and the points of each as columns. Written by crates/report/src/html. */

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
  readonly paths: readonly PathData[];
}

type Column = readonly (number | null)[];

export interface PathData {
  readonly name: string;
  readonly time: string;
  readonly hue: number;
  readonly dash: number;
  readonly points: {
    readonly size: readonly number[];
    readonly median: Column;
    readonly low: Column;
    readonly high: Column;
    readonly repeat_low: Column;
    readonly repeat_high: Column;
    readonly min: Column;
    readonly throughput: Column;
    /** The sender's own rate, bits a second, where it differs from the receiver's. */
    readonly sender: Column;
    /** Transactions (connect) or requests a second. */
    readonly transactions: Column;
    readonly p50: Column;
    readonly p90: Column;
    readonly p99: Column;
    readonly p999: Column;
    readonly max: Column;
    readonly loss: Column;
    readonly reordering: Column;
    readonly blocks: readonly number[];
    readonly why: readonly string[];
    readonly warned: readonly number[];
  };
}

/** One curve on the page. */
export interface Series {
  readonly key: string;
  readonly run: number;
  readonly path: PathData;
  /** Rows of the columns whose median and throughput can be drawn, by ascending size. */
  readonly rows: readonly number[];
  readonly time: Float64Array;
  readonly size: Float64Array;
  readonly rate: Float64Array;
}

/** The page's data, from its script element. */
export function read(text: string): PageData {
  return JSON.parse(text) as PageData;
}

const usable = (v: number | null | undefined): v is number => typeof v === "number" && Number.isFinite(v) && v > 0;

/** All curves: run by run, path by path. */
export function seriesOf(page: PageData): Series[] {
  return page.runs.flatMap((run, r) =>
    run.paths.map((path, p) => {
      const c = path.points;
      const rows = c.size.map((_, i) => i).filter((i) => usable(c.median[i]) && usable(c.throughput[i]) && c.size[i]! > 0);
      const column = (of: Column) => Float64Array.from(rows, (i) => of[i]!);
      return { key: `${r}-${p}`, run: r, path, rows, time: column(c.median), size: column(c.size), rate: column(c.throughput) };
    }),
  );
}

/** The interval of the time of a series' nth drawable point, seconds; nothing where an end is open or missing. */
export function interval(s: Series, n: number): [number, number] | undefined {
  const row = s.rows[n]!;
  const low = s.path.points.low[row];
  const high = s.path.points.high[row];
  return usable(low) && usable(high) && low <= high ? [low, high] : undefined;
}

/** The shortest trial of a series' nth drawable point, seconds; its median where there is none. */
export function shortest(s: Series, n: number): number {
  const min = s.path.points.min[s.rows[n]!];
  return usable(min) ? min : s.time[n]!;
}

/** Index of the drawable point whose size is nearest by ratio. */
export function nearestSize(s: Series, bytes: number): number {
  let low = 0;
  let high = s.size.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (s.size[middle]! < bytes) low = middle + 1;
    else high = middle;
  }
  const before = s.size[low - 1];
  const here = s.size[low];
  return before !== undefined && here !== undefined && bytes / before < here / bytes ? low - 1 : low;
}
