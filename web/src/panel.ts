/** A chart with its surroundings: hover, brush, zoom, keyboard, read-out, and the choice of a point. */

import { Chart, type Placed } from "./chart";
import { h, svg } from "./dom";
import type { Graph } from "./graphs";
import { nearest } from "./search";
import type { Spot, State } from "./state";

/** How near a point must be to the pointer, pixels. */
const REACH = 60;
/** A pointer that moved less between down and up chose a point; more, and it dragged a range. */
const DRAG = 6;
/** Points from which on it takes a browser's breath to draw every graph at once. */
const MANY = 20_000;

export class Panel {
  readonly root: HTMLElement;
  private readonly chart: Chart;
  private readonly frame: HTMLElement;
  private readonly title = h("h3");
  private readonly note = h("p", { class: "note" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly brush = svg("rect", { class: "brush" });
  private dragFrom: number | undefined;
  /** Of the frame, pixels. Kept, because asking for it between two drawings makes the browser lay the page out each time. */
  private width = 0;
  /** Whether any of it is on the screen, and the timer of a drawing that waits. */
  private seen = true;
  private late = 0;

  constructor(
    private readonly graph: Graph,
    private readonly state: State,
    private readonly say: (words: string) => void,
  ) {
    this.chart = new Chart(graph, state);
    this.frame = h("div", { class: "frame", tabindex: 0, role: "application", "aria-roledescription": "graph" });
    this.frame.append(this.chart.root, this.tip);
    const head = h("div", { class: "head" }, this.title, graph.controls ? graph.controls(state, say) : "");
    this.root = h("figure", { class: `panel ${graph.name}`, "data-graph": graph.name }, head, this.frame);
    this.root.append(h("figcaption", {}, h("p", {}, graph.read), this.note));
    new ResizeObserver(([entry]) => {
      this.width = Math.round(entry?.contentRect.width ?? 0);
      this.draw();
    }).observe(this.frame);
    new IntersectionObserver(([entry]) => {
      this.seen = entry?.isIntersecting ?? true;
      if (this.seen && this.late) this.draw();
    }).observe(this.frame);
    state.listen((part) => {
      const follows = part === "view" || (part === "chosen" && graph.name === "percentiles");
      if (follows) this.follow();
      else this.mark();
    });
    this.listen();
  }

  /** Draws anew: at once, but for a graph of very many points that nobody sees, which waits until a drag rests. */
  private follow(): void {
    clearTimeout(this.late);
    if (this.seen || this.state.points < MANY) this.draw();
    else this.late = window.setTimeout(() => this.draw(), 400);
  }

  /** Takes the width there is; later ones are told by the browser. */
  fit(): void {
    this.width = this.frame.clientWidth;
  }

  /** Draws for the width there is, or for a given one (paper). */
  draw(width = this.width): void {
    clearTimeout(this.late);
    this.late = 0;
    const title = this.graph.title(this.state);
    this.title.textContent = title;
    this.note.textContent = this.graph.note(this.state);
    this.frame.setAttribute(
      "aria-label",
      `${title}. Arrow keys move from point to point and from path to path; enter chooses a point; plus and minus zoom; escape shows all sizes. The table of points below holds the same figures.`,
    );
    if (width < 50) return;
    const tall = this.graph.name === "signature" ? 460 : 340;
    this.chart.draw(width, Math.round(Math.min(tall, Math.max(260, width * 0.62))));
    this.mark();
  }

  /** Shows the chosen point, and the point that is looked at, here and on every other shown path at the same size. */
  private mark(): void {
    const { spot, chosen } = this.state.choice;
    const { marks, box } = this.chart;
    marks.replaceChildren(this.brush);
    if (chosen && this.state.inRange(chosen.series.size[chosen.n]!)) {
      for (const p of this.chart.placed.filter((one) => one.curve.series === chosen.series)) {
        const i = place(p, chosen);
        if (p.curve.index(i) === chosen.n) marks.append(svg("circle", { class: `chosen hue${p.curve.series.path.hue}`, cx: p.x[i]!, cy: p.y[i]!, r: 7 }));
      }
    }
    if (!spot) {
      this.tip.hidden = true;
      return;
    }
    let crossed = false;
    for (const p of this.chart.placed) {
      const i = place(p, spot);
      const [x, y] = [p.x[i], p.y[i]];
      if (x === undefined || y === undefined) continue;
      // In a gap there is nothing to mark: the nearest point may be far.
      if (p.curve.gaps && Math.abs(Math.log(p.curve.size[i]! / spot.series.size[spot.n]!)) > 0.06) continue;
      const own = p.curve.series === spot.series;
      if (own && !crossed) marks.append(svg("line", { class: "cross", x1: x, x2: x, y1: box.top, y2: box.bottom }));
      crossed ||= own;
      marks.append(svg("circle", { class: `${own ? "here" : "other"} hue${p.curve.series.path.hue}`, cx: x, cy: y, r: own ? 5.5 : 3.8 }));
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
    frame.addEventListener("pointerup", (e) => this.drop(e));
    frame.addEventListener("pointercancel", () => this.drop(undefined));
    frame.addEventListener("dblclick", () => this.state.change({ range: undefined }));
    frame.addEventListener("keydown", (e) => this.key(e));
    frame.addEventListener("blur", () => this.leave());
    // A pinch on a touch pad comes as a wheel with control; a plain wheel scrolls the page.
    frame.addEventListener(
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.metaKey) return;
        e.preventDefault();
        this.state.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 120), this.sizeAt(this.inside(e)));
      },
      { passive: false },
    );
  }

  private leave(): void {
    this.tip.hidden = true;
    if (this.state.choice.spot) this.state.change({ spot: undefined });
  }

  /** Pixels from the left edge, kept inside of the axes. */
  private inside(e: MouseEvent): number {
    const { left, right } = this.chart.box;
    return Math.min(right, Math.max(left, e.clientX - this.frame.getBoundingClientRect().left));
  }

  private move(e: PointerEvent): void {
    if (this.dragFrom !== undefined) {
      const { top, bottom } = this.chart.box;
      const [from, to] = [this.dragFrom, this.inside(e)].sort((a, b) => a - b) as [number, number];
      const shape = { x: from, y: top, width: to - from < DRAG ? 0 : to - from, height: bottom - top };
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
          best = { series: p.curve.series, n: p.curve.index(i) };
        }
      }
    }
    return best;
  }

  private show(spot: Spot, x: number, y: number): void {
    this.tip.replaceChildren(this.graph.tip(this.state, spot));
    this.tip.hidden = false;
    const width = this.frame.clientWidth;
    const left = x + 18 + this.tip.offsetWidth > width ? Math.max(0, x - 18 - this.tip.offsetWidth) : x + 18;
    const top = Math.max(0, Math.min(y - 20, this.frame.clientHeight - this.tip.offsetHeight));
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  /** Ends a drag: the sizes of the points within become the range. Without a drag the point at hand is chosen. */
  private drop(e: PointerEvent | undefined): void {
    const from = this.dragFrom;
    this.dragFrom = undefined;
    this.brush.setAttribute("width", "0");
    if (from === undefined || e === undefined) return;
    const to = this.inside(e);
    if (Math.abs(to - from) < DRAG) {
      const edge = this.frame.getBoundingClientRect();
      return this.choose(this.near(e.clientX - edge.left, e.clientY - edge.top));
    }
    const [low, high] = [from, to].sort((a, b) => a - b).map((x) => this.chart.fromX(x)) as [number, number];
    const range = this.sizesWithin(low, high);
    if (range) this.state.show(...range);
    else this.say("No point lies in the range that was dragged.");
  }

  private sizesWithin(low: number, high: number): [number, number] | undefined {
    let range: [number, number] | undefined;
    for (const { curve } of this.chart.placed) {
      for (let i = 0; i < curve.x.length; i++) {
        if (curve.x[i]! < low || curve.x[i]! > high) continue;
        const size = curve.size[i]!;
        range = range ? [Math.min(range[0], size), Math.max(range[1], size)] : [size, size];
      }
    }
    return range;
  }

  /** The size that lies at a pixel of the x axis: of the nearest point. */
  private sizeAt(x: number): number | undefined {
    let best: number | undefined;
    let least = Infinity;
    for (const p of this.chart.placed) {
      p.x.forEach((at, i) => {
        if (Math.abs(at - x) < least) [least, best] = [Math.abs(at - x), p.curve.size[i]!];
      });
    }
    return best;
  }

  private choose(spot: Spot | undefined): void {
    if (!spot) return;
    this.state.change({ chosen: spot });
    this.say(`Chosen: ${this.graph.sentence(this.state, spot)}`);
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { spot } = this.state.choice;
    const looked = spot && spot.series.size[spot.n]!;
    const steps: Record<string, () => void> = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      PageDown: () => this.step(10),
      PageUp: () => this.step(-10),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      ArrowDown: () => this.other(1),
      ArrowUp: () => this.other(-1),
      Enter: () => this.choose(spot),
      " ": () => this.choose(spot),
      "+": () => this.state.zoom(0.5, looked),
      "=": () => this.state.zoom(0.5, looked),
      "-": () => this.state.zoom(2, looked),
      Escape: () => this.state.change({ range: undefined }),
      "0": () => this.state.change({ range: undefined }),
    };
    const act = steps[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  }

  /** Moves along the curve of the path that is looked at, or onto the first. */
  private step(by: number): void {
    const { spot } = this.state.choice;
    const p = this.chart.placed.find((one) => one.curve.series === spot?.series) ?? this.chart.placed[0];
    if (!p) return;
    const from = spot && p.curve.series === spot.series ? place(p, spot) + by : 0;
    this.look(p, Math.min(p.x.length - 1, Math.max(0, from)));
  }

  private other(by: number): void {
    const { spot } = this.state.choice;
    const each = this.chart.placed.filter((p, i, all) => all.findIndex((o) => o.curve.series === p.curve.series) === i);
    if (!spot) return this.step(0);
    const here = each.findIndex((p) => p.curve.series === spot.series);
    const next = each[(here + by + each.length) % each.length];
    if (next) this.look(next, place(next, spot));
  }

  private look(p: Placed, i: number): void {
    const spot = { series: p.curve.series, n: p.curve.index(i) };
    this.state.change({ spot });
    this.show(spot, p.x[i]!, p.y[i]!);
    this.say(this.graph.sentence(this.state, spot));
  }
}

/** Index of the curve's point nearest in size. */
function place(p: Placed, spot: Spot): number {
  return nearest(p.curve.size, spot.series.size[spot.n]!);
}
