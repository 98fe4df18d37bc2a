/** What one path adds to another, size by size: as crates/model/src/layers.rs has it (test/overhead.json is checked against both). */

import { interval, type Series } from "./data";

/** What is known of a time: seconds, and its interval where it has one. */
export interface Time {
  readonly seconds: number;
  readonly interval: readonly [number, number] | undefined;
}

export interface Added {
  /** Seconds that the layer above adds; below 0 it is the faster of the two. */
  readonly extra: number;
  /** Its interval, seconds; the half-widths of both intervals add in quadrature. */
  readonly interval: readonly [number, number] | undefined;
  /** The same as a share of the layer below. */
  readonly share: number;
}

export function added(below: Time, above: Time): Added {
  const extra = above.seconds - below.seconds;
  const reach = (t: Time): readonly [number, number] | undefined => t.interval && [Math.max(0, t.seconds - t.interval[0]), Math.max(0, t.interval[1] - t.seconds)];
  const [b, a] = [reach(below), reach(above)];
  const ends = a && b && ([extra - Math.hypot(a[0], b[1]), extra + Math.hypot(a[1], b[0])] as const);
  return { extra, interval: ends, share: extra / below.seconds };
}

/** The time of a series' nth drawable point. */
export function timeOf(s: Series, n: number): Time {
  return { seconds: s.time[n]!, interval: interval(s, n) };
}

/** Pairs of indices, into `below` and `above`, of the sizes that both have, ascending. */
export function common(below: Series, above: Series): [Int32Array, Int32Array] {
  const [b, a]: [number[], number[]] = [[], []];
  let i = 0;
  for (let n = 0; n < above.size.length; n++) {
    while (i < below.size.length && below.size[i]! < above.size[n]!) i++;
    if (below.size[i] === above.size[n]) {
      b.push(i);
      a.push(n);
    }
  }
  return [Int32Array.from(b), Int32Array.from(a)];
}

/** Whether one can be held against the other: times of one kind. */
export function comparable(a: Series, b: Series): boolean {
  return a.path.time === b.path.time;
}

/** The path to begin with: the fastest at the smallest size among those that others can be held against. */
export function firstBase(all: readonly Series[]): Series | undefined {
  const fit = all.filter((s) => s.rows.length > 0 && all.some((o) => o !== s && o.rows.length > 0 && comparable(o, s)));
  return fit.reduce<Series | undefined>((best, s) => (best === undefined || s.time[0]! < best.time[0]! ? s : best), undefined);
}
