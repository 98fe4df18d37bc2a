/** What the reader chose; every picture and table follows it. */

import type { Series } from "./data";
import type { Spread } from "./scale";

/** A point that is looked at. */
export interface Spot {
  readonly series: Series;
  readonly n: number;
}

export interface Choice {
  /** Keys of curves that are not shown. */
  hidden: Set<string>;
  /** Sizes shown, bytes, both ends included; nothing for all. */
  range: readonly [number, number] | undefined;
  rate: Spread;
  rest: Spread;
  spot: Spot | undefined;
}

type Part = "view" | "spot";

export class State {
  readonly choice: Choice;
  private readonly listeners: ((part: Part) => void)[] = [];

  constructor(readonly series: readonly Series[]) {
    this.choice = { hidden: new Set(), range: undefined, rate: firstSpread(series), rest: "log", spot: undefined };
  }

  listen(listener: (part: Part) => void): void {
    this.listeners.push(listener);
  }

  /** Changes what is shown and tells everyone. */
  change(change: Partial<Choice>): void {
    Object.assign(this.choice, change);
    const view = Object.keys(change).some((key) => key !== "spot");
    const spot = this.choice.spot;
    if (view && spot && (this.choice.hidden.has(spot.series.key) || !this.inRange(spot.series.size[spot.n]!))) {
      this.choice.spot = undefined;
    }
    for (const listener of this.listeners) listener(view ? "view" : "spot");
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
    let first = 0;
    let last = s.size.length - 1;
    while (first <= last && !this.inRange(s.size[first]!)) first++;
    while (last >= first && !this.inRange(s.size[last]!)) last--;
    return [first, last];
  }
}

/** Linear as in the paper, unless the fastest path would press another flat on the axis. */
function firstSpread(series: readonly Series[]): Spread {
  const tops = series.filter((s) => s.rate.length > 0).map((s) => s.rate.reduce((a, b) => Math.max(a, b), 0));
  return Math.max(...tops) / Math.min(...tops) > 12 ? "log" : "linear";
}
