/** The three graphs of the 1996 paper (seeds/004, section 2): what lies on which axis. */

import type { Series } from "./data";
import type { Kind } from "./units";

export type GraphName = "signature" | "throughput" | "saturation";

type Quantity = "time" | "rate" | "size";

export interface Graph {
  readonly name: GraphName;
  readonly title: string;
  readonly read: string;
  readonly x: Quantity;
  readonly y: Quantity;
}

export const GRAPHS: readonly Graph[] = [
  {
    name: "signature",
    title: "Signature: throughput over transfer time",
    read: "A line starts at its latency (left end) and tops at its maximum throughput; sizes grow along it. Further left and further up is faster.",
    x: "time",
    y: "rate",
  },
  {
    name: "throughput",
    title: "Throughput over block size",
    read: "A dip is a size range that the path handles badly; where the line stays flat, larger blocks bring nothing more.",
    x: "size",
    y: "rate",
  },
  {
    name: "saturation",
    title: "Saturation: block size over transfer time",
    read: "Where a line is steep, larger blocks cost little more time. The knee is the saturation point: beyond it time grows with size.",
    x: "time",
    y: "size",
  },
];

export const KIND: Record<Quantity, Kind> = { time: "seconds", rate: "bitsPerSecond", size: "bytes" };

/** Value of a quantity at a series' nth point, if its transfer takes `seconds` (its bits stay the same). */
export function value(s: Series, n: number, quantity: Quantity, seconds: number): number {
  if (quantity === "size") return s.size[n]!;
  return quantity === "time" ? seconds : (s.rate[n]! * s.time[n]!) / seconds;
}

/** Title of an axis; a time axis says which time it is, and for which paths where they differ. */
export function axisTitle(quantity: Quantity, shown: readonly Series[]): string {
  if (quantity === "size") return "Block size";
  if (quantity === "rate") return "Throughput";
  const kinds = new Map<string, string[]>();
  for (const s of shown) kinds.set(s.path.time, [...(kinds.get(s.path.time) ?? []), s.path.name]);
  const sorted = [...kinds].sort((a, b) => b[1].length - a[1].length);
  const words = sorted.map(([kind, names], i) => (i === 0 ? kind : `${names.join(", ")}: ${kind}`));
  return `Transfer time (${words.join("; ")})`;
}
