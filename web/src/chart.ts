/** Draws one graph as SVG and knows where its points lie. */

import { axis, gutter, path, round, type Box, type Drawn, type Pixel } from "./axes";
import type { Curve, Pair } from "./curves";
import { warned } from "./data";
import { svg } from "./dom";
import { shortened, width as wide } from "./measure";
import type { Axis, Graph } from "./graphs";
import { overlay } from "./overlay";
import { covering, invert, place, type Scale } from "./scale";
import { simplify, spread } from "./simplify";
import type { State } from "./state";

/** Dots are drawn at each point of a curve that shows at most this many. */
const DOTS = 160;
const LABEL_GAP = 16;
/** Size and weight of the names beside the lines' ends, on a wide and on a narrow graph (.names text in style.css). */
const [NAME, SMALL_NAME, NAME_WEIGHT] = [13, 11, 600];
/** Between the box and its names, and right of them, pixels. */
const BESIDE = 12;
/** Points of a curve that is drawn roughly, about. */
const ROUGHLY = 400;

/** A curve on the screen, with its points in pixels. */
export interface Placed {
  readonly curve: Curve;
  readonly x: Float64Array;
  readonly y: Float64Array;
}

export class Chart {
  readonly root = svg("svg", { class: "chart" });
  readonly marks = svg("g", { class: "marks" });
  box: Box = { left: 0, right: 1, top: 0, bottom: 1 };
  placed: Placed[] = [];
  /** Drawn roughly: while a range is dragged over very many points. */
  rough = false;
  x: Scale | undefined;
  /** Whether something that is drawn goes on beyond the frame. */
  leaves = false;
  /** Whether points may lie beyond the ends of the x axis. */
  private cut = false;
  private y: Scale | undefined;

  constructor(
    readonly graph: Graph,
    private readonly state: State,
  ) {}

  /** Draws everything anew for a width and height in pixels. */
  draw(width: number, height: number): void {
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.root.setAttribute("height", String(height));
    const curves = this.graph.curves(this.state);
    const [xAxis, yAxis] = this.graph.axes(this.state);
    this.placed = [];
    this.x = scale(xAxis, curves, 0);
    this.y = scale(yAxis, curves, 1);
    const times = xAxis.quantity === "time" ? this.state.choice.times : undefined;
    const seen = times && scale(yAxis, curves, 1, times);
    if (times && seen) [this.x, this.y] = [{ spread: xAxis.spread, low: times[0], high: times[1] }, seen];
    this.cut = seen !== undefined;
    if (!this.x || !this.y) {
      this.root.replaceChildren(svg("text", { class: "empty", x: width / 2, y: height / 2 }, this.empty()), this.marks);
      return;
    }
    const [x, y]: [Drawn, Drawn] = [{ ...xAxis, scale: this.x }, { ...yAxis, scale: this.y }];
    const small = width < 560;
    const size = small ? SMALL_NAME : NAME;
    const names = curves.map((c) => shortened(c.name, width * 0.34 - BESIDE, size, NAME_WEIGHT));
    const right = width - Math.max(30, ...names.map((name) => wide(name, size, NAME_WEIGHT) + BESIDE + 3));
    this.box = { left: gutter(y, height, small), right, top: 10, bottom: height - 46 };
    this.placed = curves.map((curve) => this.places(curve));
    const [under, over] = overlay(this.state, this.graph, this);
    const lines = svg("g", {}, ...this.placed.map((p) => this.curve(p)));
    if (this.cut) lines.setAttribute("clip-path", `url(#${this.graph.name}-area)`);
    const heads = this.placed.map((p) => this.beyond(p));
    this.leaves = heads.some((group) => group.childElementCount > 0);
    this.root.replaceChildren(
      under,
      axis("x", x, this.box),
      axis("y", y, this.box),
      this.area(),
      lines,
      ...heads,
      over,
      this.labels(names, size),
      this.marks,
    );
  }

  private empty(): string {
    if (!this.state.series.some((s) => s.rows.length > 0)) return "Nothing to draw: no point was measured.";
    return this.graph.note(this.state) === "" ? "No point of a shown path lies in this range." : "Nothing to draw here: see below.";
  }

  /** The x axis' value at a pixel. */
  fromX(pixel: number): number {
    return this.x ? invert(this.x, (pixel - this.box.left) / (this.box.right - this.box.left)) : NaN;
  }

  /** Pixels of values on the axes, kept inside of them; what has no place on a logarithmic axis lies at its low end. */
  at([vx, vy]: Pair): Pixel {
    const { left, right, top, bottom } = this.box;
    const x = left + share(this.x, vx) * (right - left);
    const y = bottom - share(this.y, vy) * (bottom - top);
    return [Math.min(right, Math.max(left, x)), Math.min(bottom, Math.max(top, y))];
  }

  /** Pixels of values, and not further beyond the axes than a few sizes of the graph. */
  private far([vx, vy]: Pair): Pixel {
    const { left, right, top, bottom } = this.box;
    const near = (s: number) => Math.min(10, Math.max(-10, s));
    return [left + near(share(this.x, vx)) * (right - left), bottom - near(share(this.y, vy)) * (bottom - top)];
  }

  /** Whether values lie within the axes. */
  holds([vx, vy]: Pair): boolean {
    return [share(this.x, vx), share(this.y, vy)].every((s) => s >= -1e-6 && s <= 1 + 1e-6);
  }

  private inside(x: number, y: number): boolean {
    const { left, right, top, bottom } = this.box;
    return x >= left - 0.5 && x <= right + 0.5 && y >= top - 0.5 && y <= bottom + 0.5;
  }

  private places(curve: Curve): Placed {
    const { left, right, top, bottom } = this.box;
    const beyond = this.cut ? 50 * (right - left) : 0;
    return { curve, x: pixels(this.x!, curve.x, left, right, beyond), y: pixels(this.y!, curve.y, bottom, top, beyond) };
  }

  /** What lines are cut off at. */
  private area(): SVGElement {
    const { left, right, top, bottom } = this.box;
    const clip = svg("clipPath", { id: `${this.graph.name}-area` });
    clip.append(svg("rect", { x: left, y: top, width: right - left, height: bottom - top }));
    return clip;
  }

  private curve({ curve, x, y }: Placed): SVGElement {
    const kept = this.rough ? simplify(x, y, ROUGHLY, 4) : simplify(x, y);
    const group = svg("g", { class: `curve ${curve.look}`, "data-series": curve.series.key });
    const clip = `url(#${this.graph.name}-area)`;
    group.append(svg("path", { class: "band", d: this.band(curve, kept), "clip-path": clip }));
    const ends = x.length === 1 ? curve.ends(0) : undefined;
    // A lone point has no neighbour for a band: its interval is a bar.
    if (ends) group.append(svg("path", { class: "bar", d: path([this.at(ends[0]), this.at(ends[1])]) }));
    const least = kept.flatMap((i) => {
      const at = curve.least(i);
      return at ? [this.far(at)] : [];
    });
    if (least.length > 0) group.append(svg("path", { class: "min", d: path(least), "clip-path": clip }));
    // A line is lighter on both sides of a point that has a warning.
    const flagged = (i: number) => curve.flags && warned(curve.series, curve.index(i));
    const pieces = stretches(curve, kept).flatMap((s) => parted(s, flagged));
    for (const [look, doubtful] of [["median doubtful", true], ["median", false]] as const) {
      const d = pieces.filter((p) => p.doubtful === doubtful).map((p) => path(p.points.map((i) => [x[i]!, y[i]!]))).join("");
      if (d !== "") group.append(svg("path", { class: look, d }));
    }
    for (const i of x.length <= DOTS ? kept : []) {
      group.append(svg("circle", { class: flagged(i) ? "dot doubtful" : "dot", cx: round(x[i]!), cy: round(y[i]!), r: 2.1 }));
    }
    return group;
  }

  /** The area that intervals sweep: stretches whose four-cornered pieces turn the same way, so that no overlap cuts a hole. */
  private band(curve: Curve, kept: readonly number[]): string {
    let d = "";
    let stretch: (readonly [Pixel, Pixel])[] = [];
    let turn = 0;
    const end = () => {
      if (stretch.length > 1) {
        const [there, back] = [stretch.map((e) => e[0]), stretch.map((e) => e[1]).reverse()];
        d += `${path(turn < 0 ? [...there, ...back].reverse() : [...there, ...back])}Z`;
      }
      stretch = [];
      turn = 0;
    };
    for (const i of kept) {
      const ends = curve.ends(i);
      if (!ends) {
        end();
        continue;
      }
      const here = [this.far(ends[0]), this.far(ends[1])] as const;
      const before = stretch[stretch.length - 1];
      if (before) {
        const now = Math.sign(area([before[0], here[0], here[1], before[1]]));
        if (now !== 0 && turn !== 0 && now !== turn) {
          end();
          stretch.push(before);
        }
        turn ||= now;
        if (stretch.length === 1) turn = now;
      }
      stretch.push(here);
    }
    end();
    return d;
  }

  /** Arrowheads at the frame where intervals or shortest trials lie beyond it: one for each run of neighbours, at the middle one. */
  private beyond({ curve, x, y }: Placed): SVGElement {
    const group = svg("g", { class: `beyond ${curve.look}` });
    const words = "An interval or a shortest trial lies beyond the frame.";
    const drawn: Pixel[] = [];
    for (const way of [0, 1, 2]) {
      let run: Pixel[] = [];
      let side = "";
      const end = () => {
        const middle = run[run.length >> 1];
        if (middle && !drawn.some(([px, py]) => Math.hypot(px - middle[0], py - middle[1]) < 14)) {
          drawn.push(middle);
          group.append(svg("path", { d: head(middle, side) }, svg("title", {}, words)));
        }
        run = [];
      };
      for (let i = 0; i < x.length; i++) {
        const to = way === 2 ? curve.least(i) : curve.ends(i)?.[way as 0 | 1];
        const out = to && this.inside(x[i]!, y[i]!) ? leaves([x[i]!, y[i]!], this.far(to), this.box) : undefined;
        if (out?.side !== side) end();
        side = out?.side ?? "";
        if (out) run.push(out.at);
      }
      end();
    }
    return group;
  }

  /** Names beside the lines' ends, moved apart where they would touch. */
  private labels(names: readonly string[], size: number): SVGElement {
    const group = svg("g", { class: "names", "aria-hidden": "true" });
    const room = Math.floor((this.box.bottom - this.box.top) / LABEL_GAP) + 1;
    const last = (p: Placed) => {
      let i = p.x.length - 1;
      while (i >= 0 && !this.inside(p.x[i]!, p.y[i]!)) i--;
      return i;
    };
    const placed = this.placed.filter((p) => last(p) >= 0).slice(0, room);
    const ends = placed.map((p) => p.y[last(p)]!);
    const rows = spread(this.graph.ordered ? ordered(ends) : ends, LABEL_GAP, this.box.top + 4, this.box.bottom - 4);
    placed.forEach((p, i) => {
      const x = p.x[last(p)]!;
      const start = this.box.right + BESIDE;
      group.append(
        svg("line", { class: `tie ${p.curve.look}`, x1: x + 4, y1: ends[i]!, x2: start - 3, y2: rows[i]! }),
        svg("text", { class: p.curve.look, x: start, y: rows[i]! + 4, style: `font-size: ${size}px` }, names[this.placed.indexOf(p)]!),
      );
    });
    return group;
  }
}

/** Where names want to stand whose curves lie one below the other, the highest first: none below that of a lower curve, which may go on where the
 * higher one ends. */
export function ordered(ends: readonly number[]): number[] {
  const out = [...ends];
  for (let i = out.length - 2; i >= 0; i--) out[i] = Math.min(out[i]!, out[i + 1]!);
  return out;
}

/** Where the way from a place in the frame to one beyond it leaves the frame, and on which side. */
export function leaves([x0, y0]: Pixel, [x1, y1]: Pixel, box: Box): { side: string; at: Pixel } | undefined {
  const sides: [boolean, string, number][] = [
    [x1 < box.left - 1, "left", (box.left - x0) / (x1 - x0)],
    [x1 > box.right + 1, "right", (box.right - x0) / (x1 - x0)],
    [y1 < box.top - 1, "top", (box.top - y0) / (y1 - y0)],
    [y1 > box.bottom + 1, "bottom", (box.bottom - y0) / (y1 - y0)],
  ];
  const [first] = sides.filter((s) => s[0]).sort((a, b) => a[2] - b[2]);
  if (!first) return undefined;
  const share = Math.min(1, Math.max(0, first[2]));
  return { side: first[1], at: [x0 + share * (x1 - x0), y0 + share * (y1 - y0)] };
}

/** An arrowhead with its tip at a place, pointing out of the frame. */
function head([x, y]: Pixel, side: string): string {
  const [dx, dy] = { left: [-1, 0], right: [1, 0], top: [0, -1], bottom: [0, 1] }[side] as [number, number];
  const back: Pixel = [x - dx * 7, y - dy * 7];
  return `${path([[x, y], [back[0] + dy * 4.5, back[1] + dx * 4.5], [back[0] - dy * 4.5, back[1] - dx * 4.5]])}Z`;
}

/** The points in stretches without a gap. A lone one is doubled: a line of no length has its round ends and is seen. */
function stretches(curve: Curve, kept: readonly number[]): number[][] {
  const out: number[][] = [];
  kept.forEach((i, k) => {
    const before = kept[k - 1];
    const joined = before !== undefined && !(curve.gaps && curve.index(i) - curve.index(before) > i - before);
    if (joined) out[out.length - 1]!.push(i);
    else out.push([i]);
  });
  return out.map((s) => (s.length === 1 && out.length > 1 ? [s[0]!, s[0]!] : s));
}

/** Twice the area of a polygon, its sign telling which way it turns. */
function area(corners: readonly Pixel[]): number {
  return corners.reduce((sum, [x, y], k) => {
    const [nx, ny] = corners[(k + 1) % corners.length]!;
    return sum + x * ny - nx * y;
  }, 0);
}

/** A stretch in pieces that are doubtful and such that are not; neighbours share a point. */
function parted(stretch: readonly number[], flagged: (i: number) => boolean): { points: number[]; doubtful: boolean }[] {
  const out: { points: number[]; doubtful: boolean }[] = [];
  stretch.slice(1).forEach((i, k) => {
    const before = stretch[k]!;
    const doubtful = flagged(before) || flagged(i);
    const last = out[out.length - 1];
    if (last?.doubtful === doubtful) last.points.push(i);
    else out.push({ points: [before, i], doubtful });
  });
  return out;
}

/** Pixels of a whole column between an axis' two ends, kept inside of it, or no further beyond than so many. */
function pixels(scale: Scale, column: ArrayLike<number>, from: number, to: number, beyond: number): Float64Array {
  const out = new Float64Array(column.length);
  const log = scale.spread === "log";
  const start = log ? Math.log(scale.low) : scale.low;
  const factor = (to - from) / ((log ? Math.log(scale.high) : scale.high) - start);
  const [low, high] = [Math.min(from, to) - beyond, Math.max(from, to) + beyond];
  for (let i = 0; i < out.length; i++) {
    const v = column[i]!;
    const at = log ? (v > 0 ? from + (Math.log(v) - start) * factor : from) : from + (v - start) * factor;
    out[i] = at < low ? low : at > high ? high : at;
  }
  return out;
}

function share(scale: Scale | undefined, v: number): number {
  if (!scale) return NaN;
  return scale.spread === "log" && !(v > 0) ? -1 : place(scale, v);
}

/** An interval whose ends lie further apart than this says nothing (`units::RESOLVED`); so far beyond the medians an axis goes for one at most
 * (`BEYOND` in figure.rs). */
const [RESOLVED, BEYOND] = [10, 2];

/** An axis that holds the medians, and of their intervals those that are resolved; of the points within a part of the x axis alone, if one is given. */
export function scale(axis: Axis, curves: readonly Curve[], side: 0 | 1, part?: readonly [number, number]): Scale | undefined {
  let low = Infinity;
  let high = -Infinity;
  const shown = (c: Curve, i: number) => !part || (c.x[i]! >= part[0] && c.x[i]! <= part[1]);
  const column = (c: Curve) => (side === 0 ? c.x : c.y);
  for (const c of curves) {
    for (let i = 0; i < c.x.length; i++) {
      if (!shown(c, i)) continue;
      const v = column(c)[i]!;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  let [least, most] = [low, high];
  // Where a median lies at 0 or below, a factor tells no distance.
  if (low > 0 && axis.quantity !== "size") {
    for (const c of curves) {
      for (let i = 0; i < c.x.length; i++) {
        const ends = shown(c, i) ? c.ends(i) : undefined;
        if (!ends) continue;
        const [from, to] = [Math.min(ends[0][side], ends[1][side]), Math.max(ends[0][side], ends[1][side])];
        if (!(from > 0 && to <= RESOLVED * from)) continue;
        least = Math.min(least, Math.max(from, low / BEYOND));
        most = Math.max(most, Math.min(to, high * BEYOND));
      }
    }
  }
  return covering(axis.spread, axis.kind, least, most);
}
