/** The chosen point's histogram: of single iterations where they were timed, else of the trials' medians. */

import type { Pixel, Box } from "./axes";
import { round } from "./axes";
import { PERCENTILES, percentile } from "./curves";
import { svg } from "./dom";
import { Labels } from "./labels";
import type { Drawing, Item, Nothing } from "./plot";
import type { Scale, Spread } from "./scale";
import { covering } from "./scale";
import type { Spot } from "./state";
import { binned, shareUpTo, type Bar } from "./trials";
import { count, pretty, short, significant, size } from "./units";

/** Bars of single iterations are not all of one width: their heights are counts for a width of 2% of the time, so that areas are counts. */
const STEP = 0.02;

export interface Counted {
  readonly bars: readonly Bar[];
  /** What was counted. */
  readonly what: "iterations" | "trials";
  readonly words: string;
}

/** What is known of the times at a point. */
export function counted(spot: Spot): Counted {
  const s = spot.series;
  const row = s.rows[spot.n]!;
  const found = s.trials.histogram(row);
  const trials = s.trials.of(row);
  const used = trials.some((t) => !t.warmup) ? trials.filter((t) => !t.warmup) : trials;
  if (found) {
    const some = found.trials < used.length ? ` (of ${found.trials} of the ${used.length} trials; the others timed several at once)` : "";
    return { bars: found.bars, what: "iterations", words: `${count(found.total)} single iterations${some}; each bar's times are exact to 3%.` };
  }
  const bars = binned(used.map((t) => t.seconds));
  if (bars.length === 0) return { bars, what: "trials", words: "No trial of this point is in the run file, or none has a time." };
  return { bars, what: "trials", words: `Single iterations were not timed here: these are the typical times of ${used.length === 1 ? "its one trial" : `its ${used.length} trials`}.` };
}

/** Lines that are marked: percentiles of single iterations, or the median alone. */
function lines(spot: Spot, what: Counted["what"]): [string, number][] {
  const found = PERCENTILES.flatMap((one): [string, number][] => {
    const v = percentile(spot.series, one, spot.n);
    return v === undefined ? [] : [[one[1], v]];
  });
  return what === "iterations" && found.length > 0 ? found : [["median", spot.series.time[spot.n]!]];
}

export function title(spot: Spot): string {
  return `${spot.series.path.name} at ${size(spot.series.size[spot.n]!)}`;
}

export function histogram(spot: Spot | undefined, spread: Spread): Drawing | Nothing {
  if (!spot) return { title: "Histogram of one point", note: "No point was measured." };
  const { bars, what, words } = counted(spot);
  const head = `Histogram: ${title(spot)}`;
  const marked = lines(spot, what);
  const times = [...bars.flatMap((b) => [b.from, b.to]), ...marked.map(([, v]) => v)].filter((v) => v > 0 && Number.isFinite(v));
  const x = bars.length > 0 ? covering("log", "seconds", Math.min(...times), Math.max(...times)) : undefined;
  if (!x) return { title: head, note: words };
  const tall = (b: Bar) => (what === "iterations" ? (b.count * STEP) / Math.log(b.to / b.from) : b.count);
  const top = Math.max(...bars.map(tall));
  const least = Math.min(0.5, ...bars.map(tall)) * 0.8;
  // With room above the bars for the names of the percentiles.
  const y: Scale = spread === "log" ? { spread, low: least, high: Math.max(2, top) * (Math.max(2, top) / least) ** 0.24 } : { spread, low: 0, high: top * 1.24 };
  const total = bars.reduce((sum, b) => sum + b.count, 0);
  const items: Item[] = bars.map((b, i) => ({
    x: Math.sqrt(b.from * b.to),
    y: tall(b),
    span: [b.from, b.to],
    words: `${pretty(significant(b.from, "seconds"))} to ${pretty(significant(b.to, "seconds"))}: ${count(b.count)} of ${count(total)} ${what}; ${(100 * shareUpTo(bars, i)).toPrecision(4).replace(/\.?0+$/, "")}% took no longer`,
  }));
  const unit = what === "iterations" ? "Iterations in 2% of time" : "Trials";
  return {
    title: head,
    note: words,
    axes: [
      { scale: x, kind: "seconds", title: `Time (${spot.series.path.time})` },
      { scale: y, kind: "count", title: unit },
    ],
    items,
    shapes: (at, box) => [...shapes(spot, bars, tall, at, box), percentiles(marked, at, box)],
  };
}

type At = (x: number, y: number) => Pixel;

function shapes(spot: Spot, bars: readonly Bar[], tall: (b: Bar) => number, at: At, box: Box): SVGElement[] {
  let d = "";
  for (const b of bars) {
    const [left, top] = at(b.from, tall(b)).map(round) as [number, number];
    const right = Math.max(left + 1, round(at(b.to, 0)[0]));
    d += `M${left} ${box.bottom}V${top}H${right}V${box.bottom}Z`;
  }
  return [svg("path", { class: `bars hue${spot.series.path.hue}`, d })];
}

function percentiles(marked: readonly [string, number][], at: At, box: Box): SVGElement {
  const group = svg("g", { class: "quantiles" });
  const labels = new Labels(box);
  for (const [name, v] of merged(marked)) {
    const x = round(at(v, 1)[0]);
    const words = `${name} ${pretty(short(v, "seconds"))}`;
    const spot = labels.row(x, words);
    group.append(svg("line", { x1: x, x2: x, y1: spot ? spot[1] + 4 : box.top, y2: box.bottom }));
    if (spot) group.append(svg("text", { x: round(spot[0]), y: round(spot[1]) }, words));
  }
  return group;
}

/** Percentiles of one value under one name: of few iterations the highest are all the longest one. */
export function merged(marked: readonly [string, number][]): [string, number][] {
  const out: [string, number][] = [];
  for (const [name, v] of marked) {
    const last = out[out.length - 1];
    if (last && short(last[1], "seconds") === short(v, "seconds")) out[out.length - 1] = [`${last[0]}, ${name}`, last[1]];
    else out.push([name, v]);
  }
  return out;
}

/** The bars as a table to copy. */
export function text(spot: Spot): string {
  const { bars, what } = counted(spot);
  const n = (v: number) => String(Number(v.toPrecision(7)));
  return [`from\tto\t${what}`, ...bars.map((b) => [n(b.from), n(b.to), b.count].join("\t"))].join("\n");
}
