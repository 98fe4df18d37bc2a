/** What lies behind a path's points: its trials, and histograms of single iterations (crates/report/src/html/trials.rs). */

import { bytes, counts, flags, floats, Varints } from "./columns";

export interface RawTrials {
  readonly count: string;
  readonly at: string;
  readonly seconds: string;
  readonly block: string;
  readonly warmup: string;
}

export interface Trial {
  /** Start, seconds since the run's start. */
  readonly at: number;
  /** Typical time, seconds; NaN where nothing was timed. */
  readonly seconds: number;
  readonly block: number;
  /** Kept, not counted. */
  readonly warmup: boolean;
}

/** A bar: from and to in seconds, and how many lie there. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface Histogram {
  /** Trials whose single iterations were timed. */
  readonly trials: number;
  readonly bars: readonly Bar[];
  readonly total: number;
}

/** Lower end of a step, nanoseconds: one by one below 64, then 32 steps to each doubling. */
export function lowerEnd(step: number): number {
  if (step < 64) return step;
  const doublings = Math.floor(step / 32) - 1;
  return (step - 32 * doublings) * 2 ** doublings;
}

/** Decoded when first asked for: a page may carry a hundred thousand trials that nobody looks at. */
export class Trials {
  private columns: { start: Uint32Array; at: Float32Array; seconds: Float32Array; block: Uint32Array; warmup: Uint8Array } | undefined;
  private packed: { data: Uint8Array; places: Uint32Array } | undefined;

  constructor(
    private readonly raw: RawTrials,
    private readonly histograms: string,
    private readonly points: number,
  ) {}

  /** The trials of the point in this row, in order. */
  of(row: number): Trial[] {
    this.columns ??= this.decode();
    const { start, at, seconds, block, warmup } = this.columns;
    const out: Trial[] = [];
    for (let i = start[row] ?? 0; i < (start[row + 1] ?? 0); i++) {
      out.push({ at: at[i]!, seconds: seconds[i]!, block: block[i]!, warmup: warmup[i] === 1 });
    }
    return out;
  }

  private decode() {
    const count = counts(this.raw.count);
    const start = new Uint32Array(count.length + 1);
    count.forEach((n, i) => (start[i + 1] = start[i]! + n));
    const all = start[count.length]!;
    return { start, at: floats(this.raw.at, all), seconds: floats(this.raw.seconds, all), block: counts(this.raw.block), warmup: flags(this.raw.warmup, all) };
  }

  /** The histogram of the point in this row; nothing where no single iteration was timed. */
  histogram(row: number): Histogram | undefined {
    if (this.histograms === "" || row < 0 || row >= this.points) return undefined;
    this.packed ??= this.index();
    const read = new Varints(this.packed.data, this.packed.places[row]!);
    const trials = read.next();
    if (trials === 0) return undefined;
    const divisor = Math.max(1, read.next());
    const bars: Bar[] = [];
    let step = 0;
    let total = 0;
    for (let left = read.next(); left > 0; left--) {
      step += read.next();
      const count = read.next();
      total += count;
      bars.push({ from: (lowerEnd(step) * 1e-9) / divisor, to: (lowerEnd(step + 1) * 1e-9) / divisor, count });
    }
    return total > 0 ? { trials, bars, total } : undefined;
  }

  /** Where in the packed data each point's histogram begins. */
  private index() {
    const data = bytes(this.histograms);
    const places = new Uint32Array(this.points);
    const read = new Varints(data);
    for (let row = 0; row < this.points; row++) {
      places[row] = read.at;
      if (read.next() === 0) continue;
      read.next();
      for (let left = 2 * read.next(); left > 0; left--) read.next();
    }
    return { data, places };
  }
}

/** Bars of a few values, as many as their number can fill, of equal width by ratio. */
export function binned(values: readonly number[]): Bar[] {
  const good = values.filter((v) => Number.isFinite(v) && v > 0).sort((a, b) => a - b);
  const low = good[0];
  const high = good[good.length - 1];
  if (low === undefined || high === undefined) return [];
  // All equal, or as good as: one bar about them.
  if (high / low < 1 + 1e-6) return [{ from: low / 1.005, to: high * 1.005, count: good.length }];
  const bars = Math.min(40, Math.max(3, Math.ceil(2 * Math.sqrt(good.length))));
  const step = Math.log(high / low) / bars;
  const filled = new Uint32Array(bars);
  for (const v of good) filled[Math.min(bars - 1, Math.floor(Math.log(v / low) / step))]!++;
  return [...filled].map((count, i) => ({ from: low * Math.exp(i * step), to: low * Math.exp((i + 1) * step), count })).filter((bar) => bar.count > 0);
}

/** Share of the whole that lies in the bars up to and with this one. */
export function shareUpTo(bars: readonly Bar[], index: number): number {
  let upTo = 0;
  let total = 0;
  bars.forEach((bar, i) => {
    total += bar.count;
    if (i <= index) upTo += bar.count;
  });
  return total > 0 ? upTo / total : 0;
}
