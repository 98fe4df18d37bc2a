/** What the reader chose; every picture and table follows it. */

import type { Series } from "./data";
import { firstBase } from "./overhead";
import type { Spread } from "./scale";
import { lowerBound } from "./search";

/** A point: a series and the index of one of its drawable points. */
export interface Spot {
  readonly series: Series;
  readonly n: number;
}

export interface Choice {
  /** Keys of curves that are not shown. */
  hidden: Set<string>;
  /** Sizes shown, bytes, both ends included; nothing for all. */
  range: readonly [number, number] | undefined;
  /** Transfer times shown on the axes that have them, seconds; nothing for all of these sizes. */
  times: readonly [number, number] | undefined;
  rate: Spread;
  rest: Spread;
  /** The path that overhead is counted from. */
  base: Series | undefined;
  /** Whether overhead is a time or a share of the base. */
  added: "time" | "share";
  /** Whether fitted models are drawn, and marked ranges. */
  fits: boolean;
  marks: boolean;
  /** The point that is told in full; its path is the one of which percentiles and points are shown. */
  chosen: Spot | undefined;
  /** A point that is looked at. */
  spot: Spot | undefined;
}

/** What a change touches: all pictures, what follows the chosen point, or only what is looked at. */
export type Part = "view" | "chosen" | "spot";

export class State {
  readonly choice: Choice;
  /** Smallest and largest size of all. */
  readonly all: readonly [number, number];
  /** How many points can be drawn in all. */
  readonly points: number;
  private readonly listeners: ((part: Part) => void)[] = [];

  constructor(readonly series: readonly Series[]) {
    const drawable = series.filter((s) => s.rows.length > 0);
    const ends = drawable.flatMap((s) => [s.size[0]!, s.size[s.size.length - 1]!]);
    this.points = drawable.reduce((sum, s) => sum + s.rows.length, 0);
    this.all = ends.length > 0 ? [Math.min(...ends), Math.max(...ends)] : [1, 1];
    this.choice = {
      hidden: new Set(),
      range: undefined,
      times: undefined,
      rate: firstSpread(drawable),
      rest: "log",
      base: firstBase(drawable),
      added: "time",
      fits: false,
      marks: true,
      chosen: firstChosen(drawable),
      spot: undefined,
    };
  }

  listen(listener: (part: Part) => void): void {
    this.listeners.push(listener);
  }

  /** Changes what is shown and tells everyone. */
  change(change: Partial<Choice>): void {
    // A part of the times is one of the sizes that were shown with it.
    Object.assign(this.choice, "range" in change ? { times: undefined, ...change } : change);
    const part: Part = Object.keys(change).every((key) => key === "spot") ? "spot" : "chosen" in change ? "chosen" : "view";
    const spot = this.choice.spot;
    if (part !== "spot" && spot && (this.choice.hidden.has(spot.series.key) || !this.inRange(spot.series.size[spot.n]!))) {
      this.choice.spot = undefined;
    }
    for (const listener of this.listeners) listener(part);
  }

  /** Narrows or widens the range of sizes by a factor about a size, as far as there are sizes. */
  zoom(factor: number, about: number | undefined): void {
    const [low, high] = this.choice.range ?? this.all;
    const centre = Math.log(about ?? Math.sqrt(low * high));
    // The size that is looked at keeps its place.
    const ends = [low, high].map((end) => centre + (Math.log(end) - centre) * factor) as [number, number];
    if (ends[1] - ends[0] < Math.log(1.05)) return;
    const [least, most] = this.all;
    const [from, to] = [Math.round(Math.exp(ends[0])), Math.round(Math.exp(ends[1]))];
    // Rounding to whole bytes must not leave a sliver out.
    this.show(from < least * 1.03 ? least : from, to > most / 1.03 ? most : to);
  }

  /** Shows these sizes, all of them where nothing is left out, and of their times these. */
  show(low: number, high: number, times?: readonly [number, number]): void {
    const range: [number, number] = [Math.max(this.all[0], low), Math.min(this.all[1], high)];
    this.change({ range: range[0] <= this.all[0] && range[1] >= this.all[1] ? undefined : range, times });
  }

  /** Curves that are shown and have something to show. */
  shown(): Series[] {
    return this.series.filter((s) => s.rows.length > 0 && !this.choice.hidden.has(s.key));
  }

  inRange(bytes: number): boolean {
    const range = this.choice.range;
    return range === undefined || (bytes >= range[0] && bytes <= range[1]);
  }

  /** First and last index of a series' points in the range; first > last where there is none. */
  window(s: Series): [number, number] {
    const range = this.choice.range;
    if (range === undefined) return [0, s.size.length - 1];
    return [lowerBound(s.size, range[0]), lowerBound(s.size, range[1] + 0.5) - 1];
  }
}

/** Linear as in the paper, unless the fastest path would press another flat on the axis. */
function firstSpread(series: readonly Series[]): Spread {
  const tops = series.map((s) => s.rate.reduce((a, b) => Math.max(a, b), 0));
  return Math.max(...tops) / Math.min(...tops) > 12 ? "log" : "linear";
}

/** The smallest message of the last path whose single iterations were timed there, else of the first path. */
function firstChosen(series: readonly Series[]): Spot | undefined {
  const timed = (s: Series) => s.rows.findIndex((row) => s.trials.histogram(row) !== undefined);
  for (const s of [...series].reverse()) {
    const n = timed(s);
    if (n >= 0) return { series: s, n };
  }
  return series[0] && { series: series[0], n: 0 };
}
