/** Draws one graph as SVG and knows where its points lie. */

import { interval, shortest, type Series } from "./data";
import { svg } from "./dom";
import { axisTitle, KIND, value, type Graph } from "./graphs";
import { covering, invert, place, ticks, type Scale } from "./scale";
import { simplify, spread } from "./simplify";
import type { State } from "./state";
import { pretty } from "./units";

/** Dots are drawn at each point of a curve that shows at most this many. */
const DOTS = 160;
const LABEL_GAP = 16;

/** A curve on the screen: pixels of its points from index `first` on. */
export interface Placed {
  readonly series: Series;
  readonly first: number;
  readonly x: Float64Array;
  readonly y: Float64Array;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export class Chart {
  readonly root = svg("svg", { class: "chart" });
  readonly marks = svg("g", { class: "marks" });
  box: Box = { left: 0, right: 1, top: 0, bottom: 1 };
  placed: Placed[] = [];
  x: Scale | undefined;
  private y: Scale | undefined;

  constructor(
    readonly graph: Graph,
    private readonly state: State,
  ) {}

  /** Draws everything anew for a width and height in pixels. */
  draw(width: number, height: number): void {
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.root.setAttribute("height", String(height));
    const shown = this.state.shown().filter((s) => {
      const [first, last] = this.state.window(s);
      return first <= last;
    });
    this.placed = [];
    this.x = this.scale(shown, this.graph.x);
    this.y = this.scale(shown, this.graph.y);
    if (!this.x || !this.y) {
      const words = this.state.series.some((s) => s.rows.length > 0)
        ? "No point of a shown path lies in this range."
        : "Nothing to draw: no point was measured.";
      this.root.replaceChildren(svg("text", { class: "empty", x: width / 2, y: height / 2 }, words), this.marks);
      return;
    }
    const names = shown.map((s) => s.path.name);
    const small = width < 560;
    const yTicks = ticks(this.y, KIND[this.graph.y], Math.floor(height / 60));
    const labels = yTicks.ticks.map((t) => pretty(t.label ?? "").length);
    const left = Math.max(...labels) * 7 + (small ? 26 : 32);
    const right = width - Math.min(width / 4, Math.max(...names.map((n) => n.length)) * 9.4 + 18);
    this.box = { left, right, top: 10, bottom: height - 46 };
    const xTicks = ticks(this.x, KIND[this.graph.x], Math.floor((right - left) / 76));
    this.root.replaceChildren(
      this.axis("x", this.x, xTicks, shown),
      this.axis("y", this.y, yTicks, shown),
      ...shown.map((s) => this.curve(s)),
      this.labels(shown),
      this.marks,
    );
  }

  /** Pixels of a value on the x axis. */
  toX(v: number): number {
    return this.x ? this.box.left + place(this.x, v) * (this.box.right - this.box.left) : NaN;
  }

  /** The x axis' value at a pixel. */
  fromX(pixel: number): number {
    return this.x ? invert(this.x, (pixel - this.box.left) / (this.box.right - this.box.left)) : NaN;
  }

  private toY(v: number): number {
    return this.y ? this.box.bottom - place(this.y, v) * (this.box.bottom - this.box.top) : NaN;
  }

  private scale(shown: readonly Series[], quantity: Graph["x"]): Scale | undefined {
    let low = Infinity;
    let high = 0;
    for (const s of shown) {
      const [first, last] = this.state.window(s);
      for (let n = first; n <= last; n++) {
        const v = value(s, n, quantity, s.time[n]!);
        if (v < low) low = v;
        if (v > high) high = v;
      }
    }
    const { rate, rest } = this.state.choice;
    const asked = quantity === "rate" ? rate : rest;
    return covering(asked, KIND[quantity], low, high);
  }

  private axis(side: "x" | "y", scale: Scale, t: ReturnType<typeof ticks>, shown: readonly Series[]): SVGElement {
    const { left, right, top, bottom } = this.box;
    const group = svg("g", { class: `axis ${side}`, "aria-hidden": "true" });
    for (const tick of t.ticks) {
      const at = place(scale, tick.value);
      if (!(at >= -1e-6 && at <= 1 + 1e-6)) continue;
      const kind = tick.label === undefined ? "minor" : "major";
      if (side === "x") {
        const x = left + at * (right - left);
        group.append(svg("line", { class: kind, x1: x, x2: x, y1: top, y2: bottom }));
        if (tick.label) group.append(svg("text", { class: "tick", x, y: bottom + 18, "text-anchor": "middle" }, pretty(tick.label)));
      } else {
        const y = bottom - at * (bottom - top);
        group.append(svg("line", { class: kind, x1: left, x2: right, y1: y, y2: y }));
        if (tick.label) group.append(svg("text", { class: "tick", x: left - 8, y: y + 4, "text-anchor": "end" }, pretty(tick.label)));
      }
    }
    const details = [t.unit ? pretty(t.unit) : "", scale.spread === "log" ? "log" : ""].filter((d) => d !== "");
    const words = [axisTitle(this.graph[side], shown), ...details].join(", ");
    if (side === "x") {
      group.append(svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }));
      group.append(svg("text", { class: "title", x: (left + right) / 2, y: bottom + 38, "text-anchor": "middle" }, words));
    } else {
      const at = `translate(14 ${(top + bottom) / 2}) rotate(-90)`;
      group.append(svg("line", { class: "base", x1: left, x2: left, y1: top, y2: bottom }));
      group.append(svg("text", { class: "title", transform: at, "text-anchor": "middle" }, words));
    }
    return group;
  }

  private curve(s: Series): SVGElement {
    const [first, last] = this.state.window(s);
    const count = last - first + 1;
    const x = new Float64Array(count);
    const y = new Float64Array(count);
    for (let i = 0; i < count; i++) [x[i], y[i]] = this.at(s, first + i, s.time[first + i]!);
    this.placed.push({ series: s, first, x, y });
    const kept = simplify(x, y);
    const group = svg("g", { class: `curve hue${s.path.hue} dash${s.path.dash}`, "data-series": s.key });
    group.append(svg("path", { class: "band", d: this.band(s, first, kept) }));
    const ends = count === 1 ? interval(s, first) : undefined;
    // A lone point has no neighbour for a band: its interval is a bar.
    if (ends) group.append(svg("path", { class: "bar", d: path([this.at(s, first, ends[0]), this.at(s, first, ends[1])]) }));
    group.append(svg("path", { class: "min", d: path(kept.map((i) => this.at(s, first + i, shortest(s, first + i)))) }));
    group.append(svg("path", { class: "median", d: path(kept.map((i) => [x[i]!, y[i]!])) }));
    for (const i of count <= DOTS ? kept : kept.filter((k) => this.warned(s, first + k))) {
      const warned = this.warned(s, first + i);
      group.append(svg("circle", { class: warned ? "warned" : "dot", cx: round(x[i]!), cy: round(y[i]!), r: warned ? 3.4 : 2.1 }));
    }
    return group;
  }

  private warned(s: Series, n: number): boolean {
    return s.path.points.warned[s.rows[n]!] === 1;
  }

  /** Pixels of a series' nth point if its transfer took `seconds`, kept inside of the axes. */
  private at(s: Series, n: number, seconds: number): [number, number] {
    const { left, right, top, bottom } = this.box;
    const x = this.toX(value(s, n, this.graph.x, seconds));
    const y = this.toY(value(s, n, this.graph.y, seconds));
    return [Math.min(right, Math.max(left, x)), Math.min(bottom, Math.max(top, y))];
  }

  /** Four-cornered pieces between neighbouring intervals, all turned the same way so that overlaps don't cut holes. */
  private band(s: Series, first: number, kept: readonly number[]): string {
    let d = "";
    let before: [[number, number], [number, number]] | undefined;
    for (const i of kept) {
      const ends = interval(s, first + i);
      const here: typeof before = ends && [this.at(s, first + i, ends[0]), this.at(s, first + i, ends[1])];
      if (before && here) {
        const corners = [before[0], here[0], here[1], before[1]];
        let area = 0;
        corners.forEach((c, k) => (area += c[0] * corners[(k + 1) % 4]![1] - corners[(k + 1) % 4]![0] * c[1]));
        d += `${path(area < 0 ? corners.reverse() : corners)}Z`;
      }
      before = here;
    }
    return d;
  }

  /** Names beside the lines' ends, moved apart where they would touch. */
  private labels(shown: readonly Series[]): SVGElement {
    const group = svg("g", { class: "names", "aria-hidden": "true" });
    const room = Math.floor((this.box.bottom - this.box.top) / LABEL_GAP) + 1;
    const placed = this.placed.slice(0, room);
    const ends = placed.map((p) => p.y[p.y.length - 1]!);
    const rows = spread(ends, LABEL_GAP, this.box.top + 4, this.box.bottom - 4);
    placed.forEach((p, i) => {
      const x = p.x[p.x.length - 1]!;
      const start = this.box.right + 12;
      const hue = `hue${shown[i]!.path.hue}`;
      group.append(
        svg("line", { class: `tie ${hue}`, x1: x + 4, y1: ends[i]!, x2: start - 3, y2: rows[i]! }),
        svg("text", { class: hue, x: start, y: rows[i]! + 4 }, p.series.path.name),
      );
    });
    return group;
  }
}

function round(v: number): number {
  return Math.round(v * 100) / 100;
}

function path(points: readonly (readonly [number, number])[]): string {
  return points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${round(x)} ${round(y)}`).join("");
}
