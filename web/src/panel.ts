/** A chart with its surroundings: hover, brush, keyboard, read-out. */

import { Chart } from "./chart";
import { nearestSize, type Series } from "./data";
import { h, svg } from "./dom";
import { value, type Graph } from "./graphs";
import { listing, sentence } from "./readout";
import type { Spot, State } from "./state";

/** How near a point must be to the pointer, pixels. */
const REACH = 60;

export class Panel {
  readonly root: HTMLElement;
  private readonly chart: Chart;
  private readonly frame: HTMLElement;
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly brush = svg("rect", { class: "brush" });
  private dragFrom: number | undefined;

  constructor(
    graph: Graph,
    private readonly state: State,
    private readonly say: (words: string) => void,
  ) {
    this.chart = new Chart(graph, state);
    this.frame = h("div", {
      class: "frame",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "graph",
      "aria-label": `${graph.title}. Arrow keys move from point to point and from path to path; plus and minus zoom; escape shows all sizes. The tables below hold the same figures.`,
    });
    this.frame.append(this.chart.root, this.tip);
    this.root = h("figure", { class: `panel ${graph.name}`, "data-graph": graph.name }, h("h3", {}, graph.title), this.frame);
    this.root.append(h("figcaption", {}, graph.read));
    new ResizeObserver(() => this.draw()).observe(this.frame);
    state.listen((part) => (part === "view" ? this.draw() : this.mark()));
    this.listen();
  }

  /** Draws for the width there is, or for a given one (paper). */
  draw(width = this.frame.clientWidth): void {
    if (width < 50) return;
    const tall = this.chart.graph.name === "signature" ? 460 : 340;
    this.chart.draw(width, Math.round(Math.min(tall, Math.max(260, width * 0.62))));
    this.mark();
  }

  /** Shows the point that is looked at, here and on every other shown path at the same size. */
  private mark(): void {
    const { spot } = this.state.choice;
    const marks = this.chart.marks;
    marks.replaceChildren(this.brush);
    if (!spot) {
      this.tip.hidden = true;
      return;
    }
    for (const p of this.chart.placed) {
      const n = p.series === spot.series ? spot.n : nearestSize(p.series, spot.series.size[spot.n]!);
      const [x, y] = [p.x[n - p.first], p.y[n - p.first]];
      if (x === undefined || y === undefined) continue;
      if (p.series === spot.series) {
        marks.append(svg("line", { class: "cross", x1: x, x2: x, y1: this.chart.box.top, y2: this.chart.box.bottom }));
      }
      const own = p.series === spot.series ? "here" : "other";
      marks.append(svg("circle", { class: `${own} hue${p.series.path.hue}`, cx: x, cy: y, r: own === "here" ? 5.5 : 3.8 }));
    }
  }

  private listen(): void {
    const frame = this.frame;
    frame.addEventListener("pointermove", (e) => this.move(e));
    frame.addEventListener("pointerleave", () => {
      if (this.dragFrom === undefined) this.leave();
    });
    frame.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      this.dragFrom = this.inside(e);
      frame.setPointerCapture(e.pointerId);
    });
    frame.addEventListener("pointerup", (e) => this.drop(this.inside(e)));
    frame.addEventListener("pointercancel", () => this.drop(undefined));
    frame.addEventListener("dblclick", () => this.state.change({ range: undefined }));
    frame.addEventListener("keydown", (e) => this.key(e));
    frame.addEventListener("blur", () => this.leave());
  }

  private leave(): void {
    this.tip.hidden = true;
    this.state.change({ spot: undefined });
  }

  /** Pixels from the left edge, kept inside of the axes. */
  private inside(e: PointerEvent): number {
    const { left, right } = this.chart.box;
    return Math.min(right, Math.max(left, e.clientX - this.frame.getBoundingClientRect().left));
  }

  private move(e: PointerEvent): void {
    if (this.dragFrom !== undefined) {
      const { top, bottom } = this.chart.box;
      const [from, to] = [this.dragFrom, this.inside(e)].sort((a, b) => a - b) as [number, number];
      const shape = { x: from, y: top, width: to - from, height: bottom - top };
      for (const [name, v] of Object.entries(shape)) this.brush.setAttribute(name, String(v));
      return;
    }
    const edge = this.frame.getBoundingClientRect();
    const spot = this.near(e.clientX - edge.left, e.clientY - edge.top);
    const old = this.state.choice.spot;
    if (spot?.series !== old?.series || spot?.n !== old?.n) this.state.change({ spot });
    if (spot) this.show(spot, e.clientX - edge.left, e.clientY - edge.top);
    else this.tip.hidden = true;
  }

  /** The drawn point nearest to a place. */
  private near(x: number, y: number): Spot | undefined {
    let best: Spot | undefined;
    let least = REACH ** 2;
    for (const p of this.chart.placed) {
      for (let i = 0; i < p.x.length; i++) {
        const away = (p.x[i]! - x) ** 2 + (p.y[i]! - y) ** 2;
        if (away < least) {
          least = away;
          best = { series: p.series, n: p.first + i };
        }
      }
    }
    return best;
  }

  private show(spot: Spot, x: number, y: number): void {
    this.tip.replaceChildren(listing(this.state, spot));
    this.tip.hidden = false;
    const width = this.frame.clientWidth;
    const left = x + 18 + this.tip.offsetWidth > width ? Math.max(0, x - 18 - this.tip.offsetWidth) : x + 18;
    const top = Math.max(0, Math.min(y - 20, this.frame.clientHeight - this.tip.offsetHeight));
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  /** Ends a drag: the sizes of the points within become the range. */
  private drop(to: number | undefined): void {
    const from = this.dragFrom;
    this.dragFrom = undefined;
    this.brush.setAttribute("width", "0");
    if (from === undefined || to === undefined || Math.abs(to - from) < 6) return;
    const [low, high] = [from, to].sort((a, b) => a - b).map((x) => this.chart.fromX(x)) as [number, number];
    const range = this.sizesWithin(low, high);
    if (range) this.state.change({ range });
    else this.say("No point lies in the range that was dragged.");
  }

  private sizesWithin(low: number, high: number): [number, number] | undefined {
    let range: [number, number] | undefined;
    for (const p of this.chart.placed) {
      for (let i = 0; i < p.x.length; i++) {
        const n = p.first + i;
        const v = value(p.series, n, this.chart.graph.x, p.series.time[n]!);
        if (v < low || v > high) continue;
        const size = p.series.size[n]!;
        range = range ? [Math.min(range[0], size), Math.max(range[1], size)] : [size, size];
      }
    }
    return range;
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const steps: Record<string, () => void> = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      PageDown: () => this.step(10),
      PageUp: () => this.step(-10),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      ArrowDown: () => this.other(1),
      ArrowUp: () => this.other(-1),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Escape: () => this.state.change({ range: undefined }),
      "0": () => this.state.change({ range: undefined }),
    };
    const act = steps[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }

  private step(by: number): void {
    const spot = this.state.choice.spot;
    const series = spot?.series ?? this.chart.placed[0]?.series;
    if (!series) return;
    const [first, last] = this.state.window(series);
    const n = spot ? Math.min(last, Math.max(first, spot.n + by)) : first;
    this.look({ series, n });
  }

  private other(by: number): void {
    const all = this.chart.placed;
    const spot = this.state.choice.spot;
    if (!spot) return this.step(0);
    const here = all.findIndex((p) => p.series === spot.series);
    const next = all[(here + by + all.length) % all.length];
    if (next) this.look({ series: next.series, n: clampTo(next, nearestSize(next.series, spot.series.size[spot.n]!)) });
  }

  private look(spot: Spot): void {
    this.state.change({ spot });
    const p = this.chart.placed.find((one) => one.series === spot.series);
    if (p) this.show(spot, p.x[spot.n - p.first]!, p.y[spot.n - p.first]!);
    this.say(sentence(spot));
  }

  /** Narrows or widens the range of sizes about the point that is looked at, by ratio. */
  private zoom(factor: number): void {
    const shown = this.state.shown();
    const sizes = (pick: (s: Series) => number) => shown.map(pick);
    const all: [number, number] = [Math.min(...sizes((s) => s.size[0]!)), Math.max(...sizes((s) => s.size[s.size.length - 1]!))];
    if (shown.length === 0) return;
    const [low, high] = this.state.choice.range ?? all;
    const spot = this.state.choice.spot;
    const centre = Math.log(spot ? spot.series.size[spot.n]! : Math.sqrt(low * high));
    const half = Math.max(Math.log(1.05), (Math.log(high / low) / 2) * factor);
    const range: [number, number] = [
      Math.max(all[0], Math.round(Math.exp(centre - half))),
      Math.min(all[1], Math.round(Math.exp(centre + half))),
    ];
    this.state.change({ range: range[0] <= all[0] && range[1] >= all[1] ? undefined : range });
  }
}

function clampTo(p: { first: number; x: Float64Array }, n: number): number {
  return Math.min(p.first + p.x.length - 1, Math.max(p.first, n));
}
