/** What lies over and under a graph's curves: fitted models, saturation points, marked ranges of sizes. */

import { path, round, type Box, type Pixel } from "./axes";
import type { Pair, Quantity } from "./curves";
import type { Series } from "./data";
import { svg } from "./dom";
import { bandwidthCurve, knee, latencyLines, type Place } from "./fitted";
import type { Graph } from "./graphs";
import { Labels } from "./labels";
import { width as wide } from "./measure";
import type { State } from "./state";
import { pretty, short } from "./units";

/** What an overlay needs of a chart. */
interface Ground {
  readonly box: Box;
  readonly placed: readonly { readonly curve: { readonly series: Series; readonly size: ArrayLike<number> }; readonly x: Float64Array; readonly y: Float64Array }[];
  at(values: Pair): Pixel;
  holds(values: Pair): boolean;
}

const about = (bytes: number) => short(bytes, "bytes");

/** Quantities on the axes, where the graph has the shown paths on plain axes. */
function plain(state: State, graph: Graph): readonly [Quantity, Quantity] | undefined {
  const [x, y] = graph.axes(state);
  return x.quantity && y.quantity ? [x.quantity, y.quantity] : undefined;
}

/** What lies under the curves, and what lies over them. */
export function overlay(state: State, graph: Graph, ground: Ground): readonly [SVGElement, SVGElement] {
  // One set of labels for all, so that they keep clear of each other; none is looked for where nothing is drawn.
  const some = state.choice.fits || state.series.some((s) => s.path.marks.length > 0);
  const labels = new Labels(ground.box, some ? places(ground) : []);
  const [shaded, named] = ranges(state, graph, ground, labels);
  return [shaded, svg("g", {}, fits(state, graph, ground, labels), named)];
}

/** Marked ranges of sizes, shaded: what lies under the curves, and the names that lie over them. Where size is on no axis,
 * the stretch of the curve is shaded. */
function ranges(state: State, graph: Graph, ground: Ground, labels: Labels): readonly [SVGElement, SVGElement] {
  const [group, names] = [svg("g", { class: "ranges" }), svg("g", { class: "ranges" })];
  if (!state.choice.marks) return [group, names];
  const [x, y] = graph.axes(state);
  const { left, right, top, bottom } = ground.box;
  for (const s of new Set(ground.placed.map((p) => p.curve.series))) {
    for (const mark of s.path.marks) {
      if (!(mark.to >= mark.from) || !overlaps(state, mark.from, mark.to) || !reaches(ground, s, mark.from, mark.to)) continue;
      const words = `${s.path.name}: ${mark.label}`;
      const one = svg("g", { class: `mark hue${s.path.hue}`, "data-kind": mark.kind }, svg("title", {}, words));
      let spot: readonly [number, number] | undefined;
      let at: Pixel | undefined;
      if (x.quantity === "size") {
        const [from, to] = [mark.from, mark.to].map((size) => ground.at([size, NaN])[0]) as [number, number];
        at = [(from + to) / 2, NaN];
        const width = Math.max(3, to - from);
        one.append(svg("rect", { x: round((from + to - width) / 2), y: top, width: round(width), height: bottom - top }));
        spot = labels.row((from + to) / 2, mark.label);
      } else if (y.quantity === "size") {
        const [from, to] = [mark.from, mark.to].map((size) => ground.at([NaN, size])[1]) as [number, number];
        const height = Math.max(3, from - to);
        one.append(svg("rect", { x: left, y: round((from + to - height) / 2), width: right - left, height: round(height) }));
        at = [left, (from + to) / 2];
        spot = labels.near(left, at[1] + 11, mark.label);
      } else {
        const stretch = stretchOf(ground, s, mark.from, mark.to);
        one.append(svg("path", { d: path(stretch) }));
        const middle = stretch[stretch.length >> 1];
        spot = middle && labels.near(middle[0], middle[1], mark.label);
        at = middle;
      }
      if (spot) names.append(svg("g", { class: `mark hue${s.path.hue}` }, svg("text", { x: round(spot[0]), y: round(spot[1]) }, mark.label), ...leader(spot, at, mark.label)));
      group.append(one);
    }
  }
  return [group, names];
}

/** A line from a label to what it names, where that does not lie right beside it: of a stretch that fills the height, a tick at its middle. */
function leader([x, y]: readonly [number, number], at: Pixel | undefined, text: string): SVGElement[] {
  if (!at) return [];
  const line = (from: Pixel, to: Pixel) => [svg("line", { class: "leader", x1: round(from[0]), y1: round(from[1]), x2: round(to[0]), y2: round(to[1]) })];
  const end = Math.min(Math.max(at[0], x), x + wide(text, 12, 600));
  if (Number.isNaN(at[1])) return line([end, y + 3], [at[0], y + 10]);
  const from: Pixel = [end, at[1] > y ? y + 3 : y - 12];
  return Math.hypot(at[0] - from[0], at[1] - from[1]) < 12 ? [] : line(from, at);
}

/** Where the curves run, at every few pixels. */
function places(ground: Ground): Pixel[] {
  const out: Pixel[] = [];
  for (const { x, y } of ground.placed) {
    for (let i = 1; i < x.length; i++) {
      const steps = Math.min(40, Math.ceil(Math.hypot(x[i]! - x[i - 1]!, y[i]! - y[i - 1]!) / 8));
      for (let k = 0; k < steps; k++) out.push([x[i - 1]! + ((x[i]! - x[i - 1]!) * k) / steps, y[i - 1]! + ((y[i]! - y[i - 1]!) * k) / steps]);
      // Of a hundred thousand points, many share a pixel.
      if (out.length > 20_000) break;
    }
  }
  return out;
}

function overlaps(state: State, from: number, to: number): boolean {
  const [low, high] = state.choice.range ?? state.all;
  return to >= low && from <= high;
}

/** Whether a curve of the path has sizes there: a graph may begin at larger ones. */
export function reaches(ground: Ground, s: Series, from: number, to: number): boolean {
  return ground.placed.some(({ curve: { series, size } }) => series === s && size.length > 0 && to >= size[0]! && from <= size[size.length - 1]!);
}

function stretchOf(ground: Ground, s: Series, from: number, to: number): Pixel[] {
  const placed = ground.placed.find((p) => p.curve.series === s);
  const out: Pixel[] = [];
  if (placed) for (let i = 0; i < placed.x.length; i++) if (placed.curve.size[i]! >= from && placed.curve.size[i]! <= to) out.push([placed.x[i]!, placed.y[i]!]);
  return out;
}

/** Fitted models over the curves, labelled, and the saturation points. */
function fits(state: State, graph: Graph, ground: Ground, labels: Labels): SVGElement {
  const group = svg("g", { class: "fits" });
  const quantities = plain(state, graph);
  if (!state.choice.fits || !quantities) return group;
  const on = (p: Place): Pair => [p[quantities[0]], p[quantities[1]]];
  const [from, to] = state.choice.range ?? state.all;
  for (const s of new Set(ground.placed.map((p) => p.curve.series))) {
    const low = Math.max(from, s.size[0]!);
    const high = Math.min(to, s.size[s.size.length - 1]!);
    const one = svg("g", { class: `fit hue${s.path.hue}` });
    const say = (place: Place | undefined, words: string) => {
      if (!place || !ground.holds(on(place))) return;
      const [x, y] = ground.at(on(place));
      const spot = labels.near(x, y, words);
      if (spot) one.append(svg("text", { x: round(spot[0]), y: round(spot[1]) }, words));
    };
    const point = knee(s, low, high);
    if (point && ground.holds(on(point))) {
      const [x, y] = ground.at(on(point)).map(round) as [number, number];
      one.append(svg("path", { class: "knee", d: `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z` }, svg("title", {}, `${s.path.name}: saturation point, ${about(point.size)}`)));
      say(point, about(point.size));
    }
    if (graph.name === "saturation") {
      const lines = latencyLines(s, low, high);
      for (const line of lines) one.append(curve(ground, line.map(on), "line"));
      const [first, last] = [lines[0], lines[lines.length - 1]];
      const models = s.path.models?.lines ?? [];
      const [start, end] = [models[0], models[models.length - 1]];
      if (first && start) say(first[Math.floor(first.length * 0.3)], `t0 ${pretty(short(start.t0, "seconds"))}`);
      if (last && end) say(last[Math.floor(last.length * 0.7)], `${short(end.per_byte * 1e12, "count")} ps/B`);
    } else {
      const places = bandwidthCurve(s, low, high);
      one.append(curve(ground, places.map(on), "bandwidth"));
      const model = s.path.models?.bandwidth;
      // Both figures also stand in the table of models, where a small graph has no room for them.
      const half = ground.box.right - ground.box.left < 330 ? "" : `, n\u00bd ${model ? about(model.n_half) : ""}`;
      if (model) say(places[Math.floor(places.length * 0.72)], `Rmax ${short(model.r_max, "bitsPerSecond")}${half}`);
    }
    group.append(one);
  }
  return group;
}

/** A line in as many pieces as lie within the axes. */
function curve(ground: Ground, values: readonly Pair[], kind: string): SVGElement {
  let d = "";
  let piece: Pixel[] = [];
  const end = () => {
    if (piece.length > 1) d += path(piece);
    piece = [];
  };
  for (const v of values) {
    if (ground.holds(v)) piece.push(ground.at(v));
    else end();
  }
  end();
  return svg("path", { class: kind, d });
}
