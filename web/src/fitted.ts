/** The models fitted to a path, as curves over what was measured. */

import type { Series } from "./data";
import { lowerBound } from "./search";

/** Written by crates/report/src/html/fitted.rs. Seconds, bytes, bits a second. */
export interface Models {
  readonly lines: readonly { readonly from: number; readonly to: number; readonly t0: number; readonly per_byte: number }[];
  readonly bandwidth: { readonly r_max: number; readonly n_half: number } | null;
  readonly saturation: { readonly point: number; readonly interval: readonly [number, number] | null; readonly seconds: number } | null;
  readonly notes: readonly string[];
}

/** A place on a fitted curve: which size takes how long at which rate. */
export interface Place {
  readonly size: number;
  readonly time: number;
  readonly rate: number;
}

/** Bits of one transfer at a size: those of the neighbours, between which they grow evenly, whatever the pattern counts. */
export function bitsAt(s: Series, size: number): number {
  const bits = (n: number) => s.rate[n]! * s.time[n]!;
  const last = s.size.length - 1;
  if (last < 1) return last === 0 ? (bits(0) * size) / s.size[0]! : NaN;
  const at = Math.min(last, Math.max(1, lowerBound(s.size, size)));
  const share = (size - s.size[at - 1]!) / (s.size[at]! - s.size[at - 1]!);
  return bits(at - 1) + share * (bits(at) - bits(at - 1));
}

/** Sizes from one to another, by equal ratios, both ends among them. */
export function ladder(from: number, to: number, steps = 80): number[] {
  if (!(from > 0 && to >= from)) return [];
  if (to === from) return [from];
  return Array.from({ length: steps + 1 }, (_, i) => (i === steps ? to : from * (to / from) ** (i / steps)));
}

/** The straight lines of time over size, each as far as it was fitted and within from..to. */
export function latencyLines(s: Series, from: number, to: number): Place[][] {
  const lines = s.path.models?.lines ?? [];
  const places = lines.map((line) =>
    ladder(Math.max(from, line.from), Math.min(to, line.to)).map((size) => {
      const time = line.t0 + line.per_byte * size;
      return { size, time, rate: bitsAt(s, size) / time };
    }),
  );
  return places.map((line) => line.filter((p) => p.time > 0 && p.rate > 0)).filter((line) => line.length > 1);
}

/** The idealised bandwidth curve within from..to. */
export function bandwidthCurve(s: Series, from: number, to: number): Place[] {
  const model = s.path.models?.bandwidth;
  if (!model) return [];
  const places = ladder(from, to).map((size) => {
    const rate = (model.r_max * size) / (model.n_half + size);
    return { size, rate, time: bitsAt(s, size) / rate };
  });
  return places.filter((p) => p.rate > 0 && p.time > 0 && Number.isFinite(p.time));
}

/** The saturation point; nothing where there is none within from..to. */
export function knee(s: Series, from: number, to: number): Place | undefined {
  const found = s.path.models?.saturation;
  if (!found || found.point < from || found.point > to) return undefined;
  return { size: found.point, time: found.seconds, rate: bitsAt(s, found.point) / found.seconds };
}
