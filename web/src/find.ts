/** Finds points among those that a graph shows. */

import type { Placed } from "./chart";
import { nearest } from "./search";
import type { Spot } from "./state";

/** How near a point must be to the pointer, pixels. */
const REACH = 60;

/** Index of the curve's point nearest in size. */
export function place(p: Placed, spot: Spot): number {
  return nearest(p.curve.size, spot.series.size[spot.n]!);
}

/** The drawn point nearest to a place in pixels. */
export function near(placed: readonly Placed[], x: number, y: number): Spot | undefined {
  let best: Spot | undefined;
  let least = REACH ** 2;
  for (const p of placed) {
    for (let i = 0; i < p.x.length; i++) {
      const away = (p.x[i]! - x) ** 2 + (p.y[i]! - y) ** 2;
      if (away < least) {
        least = away;
        best = { series: p.curve.series, n: p.curve.index(i) };
      }
    }
  }
  return best;
}

/** Smallest and largest size of the points between two values of the x axis. */
export function sizesWithin(placed: readonly Placed[], low: number, high: number): [number, number] | undefined {
  let range: [number, number] | undefined;
  for (const { curve } of placed) {
    for (let i = 0; i < curve.x.length; i++) {
      if (curve.x[i]! < low || curve.x[i]! > high) continue;
      const size = curve.size[i]!;
      range = range ? [Math.min(range[0], size), Math.max(range[1], size)] : [size, size];
    }
  }
  return range;
}

/** The size of the point nearest to a pixel of the x axis. */
export function sizeAt(placed: readonly Placed[], x: number): number | undefined {
  let best: number | undefined;
  let least = Infinity;
  for (const p of placed) {
    p.x.forEach((at, i) => {
      if (Math.abs(at - x) < least) [least, best] = [Math.abs(at - x), p.curve.size[i]!];
    });
  }
  return best;
}
