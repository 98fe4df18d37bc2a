/** What each graph shows: the three of the 1996 paper (seeds/004, section 2), percentiles, and overhead (section 4, figure 8). */

import { addedText, layers, many, ofPaths, type Curve, type Quantity } from "./curves";
import type { Series } from "./data";
import { copy, h } from "./dom";
import { addedListing, addedSentence, listing, percentileListing, percentileSentence, sentence } from "./readout";
import type { Spread } from "./scale";
import { gap, uncompared, unplaced } from "./words";
import type { Spot, State } from "./state";
import type { Kind } from "./units";

export interface Axis {
  readonly kind: Kind;
  readonly quantity: Quantity | undefined;
  readonly spread: Spread;
  readonly title: string;
}

export interface Graph {
  readonly name: string;
  readonly read: string;
  title(state: State): string;
  axes(state: State): readonly [Axis, Axis];
  curves(state: State): Curve[];
  /** What is not drawn, in words; nothing to say as "". */
  note(state: State): string;
  tip(state: State, spot: Spot): HTMLElement;
  sentence(state: State, spot: Spot): string;
  /** Its curves lie one below the other, the highest first. */
  readonly ordered?: true;
  /** Buttons and choices of its own. */
  readonly controls?: (state: State, say: (words: string) => void) => HTMLElement;
}

export const KIND: Record<Quantity, Kind> = { time: "seconds", rate: "bitsPerSecond", size: "bytes" };

function axis(state: State, quantity: Quantity): Axis {
  const spread = quantity === "rate" ? state.choice.rate : state.choice.rest;
  return { kind: KIND[quantity], quantity, spread, title: axisTitle(quantity, state.shown()) };
}

const BANDWIDTH = "Dash-dotted: the fitted curve Rmax B / (n\u00bd + B). Diamond: the saturation point.";
const LINES = "Dash-dotted: fitted lines t0 + b B; t0 is that of the smallest sizes, ps/B that of the largest. Diamond: the saturation point.";

function paper(name: string, title: string, x: Quantity, y: Quantity, read: string, drawn: string): Graph {
  return {
    name,
    read,
    title: () => title,
    axes: (state) => [axis(state, x), axis(state, y)],
    curves: (state) => ofPaths(state, x, y),
    note: (state) => (state.choice.fits ? drawn : ""),
    tip: listing,
    sentence: (_, spot) => sentence(spot),
  };
}

const SIGNATURE = paper(
  "signature",
  "Signature: throughput over transfer time",
  "time",
  "rate",
  "A line starts at its latency (left end) and tops at its maximum throughput; sizes grow along it. Further left and further up is faster.",
  BANDWIDTH,
);

const THROUGHPUT = paper(
  "throughput",
  "Throughput over message size",
  "size",
  "rate",
  "A dip is a size range that the path handles badly; where the line stays flat, larger messages bring nothing more.",
  BANDWIDTH,
);

const SATURATION = paper(
  "saturation",
  "Saturation: message size over transfer time",
  "time",
  "size",
  "Where a line is steep, larger messages cost little more time. The knee is the saturation point: beyond it time grows with size.",
  LINES,
);

/** In the place of the two graphs of throughput where times are what was asked for: at a rate, and under load. */
const LATENCY = paper(
  "latency",
  "Latency: transfer time over message size",
  "size",
  "time",
  "What a message takes; a line that rises costs that much more for each byte. On a schedule (--rate) and under load (--load) times say what a caller would wait, and no throughput is drawn.",
  LINES,
);

/** The path of which percentiles are shown. */
function looked(state: State): Series | undefined {
  return state.choice.chosen?.series;
}

const PERCENTILES: Graph = {
  name: "percentiles",
  ordered: true,
  read: "Times of single iterations: p50 is the median, and one in a thousand took longer than p99.9. Where the upper lines leave p50, the path is sometimes slow.",
  title: (state) => `Percentiles over message size: ${looked(state)?.path.name ?? "no path"}`,
  axes: (state) => {
    const s = looked(state);
    const y: Axis = { kind: "seconds", quantity: undefined, spread: state.choice.rest, title: `Time of one iteration (${s?.path.time ?? "-"})` };
    return [axis(state, "size"), y];
  },
  curves: (state) => {
    const s = looked(state);
    return s ? many(state, s) : [];
  },
  note: (state) => gap(state, looked(state)),
  tip: percentileListing,
  sentence: (_, spot) => percentileSentence(spot),
  controls: (state) => {
    const choose = h("select", { "aria-label": "Path whose percentiles and points are shown" });
    for (const s of state.series.filter((one) => one.rows.length > 0)) choose.append(h("option", { value: s.key }, s.path.name));
    const show = () => (choose.value = looked(state)?.key ?? "");
    choose.addEventListener("change", () => choosePath(state, choose.value));
    state.listen((part) => part === "chosen" && show());
    show();
    return choose;
  },
};

/** Chooses a path: its point of the size that was chosen before. */
export function choosePath(state: State, key: string): void {
  const series = state.series.find((s) => s.key === key);
  const old = state.choice.chosen;
  if (!series || series.rows.length === 0) return;
  const size = old ? old.series.size[old.n]! : series.size[0]!;
  let n = 0;
  for (let i = 1; i < series.size.length; i++) if (Math.abs(Math.log(series.size[i]! / size)) < Math.abs(Math.log(series.size[n]! / size))) n = i;
  state.change({ chosen: { series, n } });
}

const OVERHEAD: Graph = {
  name: "overhead",
  read: "What each path costs more than the base. Where a line is flat, it is a cost of the message; where it rises, one of its bytes (a copy, a checksum, fragments).",
  title: (state) => (state.choice.base ? `Overhead over ${state.choice.base.path.name}` : "Overhead"),
  axes: (state) => {
    const { base, added, rest } = state.choice;
    const over = base ? ` to ${base.path.name}` : "";
    const y: Axis =
      added === "time"
        ? { kind: "seconds", quantity: undefined, spread: rest, title: `Time added${over} (${base?.path.time ?? "-"})` }
        : { kind: "percent", quantity: undefined, spread: rest, title: `Time added${over}` };
    return [axis(state, "size"), y];
  },
  curves: layers,
  note: (state) => [uncompared(state), unplaced(state)].filter((words) => words !== "").join(" "),
  tip: addedListing,
  sentence: addedSentence,
  controls: (state, say) => {
    const choose = h("select", { "aria-label": "Base that overhead is counted from" });
    for (const s of state.series.filter((one) => one.rows.length > 0)) choose.append(h("option", { value: s.key }, `over ${s.path.name}`));
    choose.value = state.choice.base?.key ?? "";
    choose.addEventListener("change", () => state.change({ base: state.series.find((s) => s.key === choose.value) }));
    const one = (added: "time" | "share", words: string) => {
      const b = h("button", { type: "button", "data-added": added }, words);
      const show = () => b.setAttribute("aria-pressed", String(state.choice.added === added));
      b.addEventListener("click", () => state.change({ added }));
      state.listen(show);
      show();
      return b;
    };
    const copied = h("button", { type: "button", "data-copy-overhead": true }, "Copy as table");
    copied.addEventListener("click", async () => {
      say((await copy(addedText(state))) ? "Copied the overhead; sizes in bytes, times in seconds." : "The browser did not allow copying.");
    });
    return h("span", { class: "own" }, choose, h("span", { class: "pair", role: "group", "aria-label": "Overhead as" }, one("time", "time"), one("share", "%")), copied);
  },
};

/** The graphs of what there is, of those over sizes the named ones. A single path has nothing to be held against; where no single iteration was timed
 * there are no percentiles. */
export function graphsOf(state: State, names: readonly string[]): Graph[] {
  const first = [SIGNATURE, THROUGHPUT, LATENCY, SATURATION].filter((graph) => names.includes(graph.name));
  if (first.length === 0) return [];
  const paths = state.series.filter((s) => s.rows.length > 0);
  const timed = paths.some((s) => s.columns.p50_s.some((v) => v > 0));
  // At an offered rate a message takes what the rate leaves it, on every path.
  const compared = paths.length > 1 && names.some((name) => name !== THROUGHPUT.name || paths.every((s) => s.carries));
  return [...first, ...(timed || paths.length === 0 ? [PERCENTILES] : []), ...(compared ? [OVERHEAD] : [])];
}

/** Title of an axis; a time axis says which time it is, and for which paths where they differ. */
export function axisTitle(quantity: Quantity, shown: readonly Series[]): string {
  if (quantity === "size") return "Message size";
  if (quantity === "rate") return "Throughput";
  const kinds = new Map<string, string[]>();
  for (const s of shown) kinds.set(s.path.time, [...(kinds.get(s.path.time) ?? []), s.path.name]);
  const sorted = [...kinds].sort((a, b) => b[1].length - a[1].length);
  const words = sorted.map(([kind, names], i) => (i === 0 ? kind : `${names.join(", ")}: ${kind}`));
  return `Transfer time (${words.join("; ")})`;
}
