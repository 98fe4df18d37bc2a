/** A chart with its surroundings: hover, brush, zoom, keyboard, read-out, and the choice of a point. */

import { Chart, type Placed } from "./chart";
import { h, svg } from "./dom";
import { near, place, sizeAt, sizesWithin } from "./find";
import type { Graph } from "./graphs";
import { ofChosen, ofSpot } from "./marks";
import type { Spot, State } from "./state";
import { pretty, significant } from "./units";

/** A pointer that moved less between down and up chose a point; more, and it dragged a range. */
const DRAG = 6;
/** Points from which on it takes a browser's breath to draw every graph at once. */
const MANY = 20_000;
/** A change that follows the last drawing within this time is one of a drag, and one rests after that, milliseconds. */
const SOON = 300;
const REST = 250;

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
  /** When it was drawn last, by the page's clock. */
  private drawn = 0;

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

  /** Draws anew: at once, but very many points roughly while they change, or, where nobody sees them, not before a drag rests. */
  private follow(): void {
    const again = performance.now() - this.drawn < SOON;
    clearTimeout(this.late);
    this.late = 0;
    if (this.state.points < MANY) return this.draw();
    if (this.seen) this.draw(this.width, again);
    if (!this.seen || again) this.late = window.setTimeout(() => this.draw(), REST);
  }

  /** Takes the width there is; later ones are told by the browser. */
  fit(): void {
    this.width = this.frame.clientWidth;
  }

  /** Draws for the width there is, or for a given one (paper); in full, or roughly. */
  draw(width = this.width, rough = false): void {
    clearTimeout(this.late);
    this.late = 0;
    this.chart.rough = rough;
    const title = this.graph.title(this.state);
    this.title.textContent = title;
    this.note.textContent = [this.graph.note(this.state), this.zoomed()].filter((words) => words !== "").join(" ");
    this.frame.setAttribute(
      "aria-label",
      `${title}. Arrow keys move from point to point and from path to path; enter chooses a point; plus and minus zoom; escape shows all sizes. The table of points below holds the same figures.`,
    );
    if (width < 50) return;
    const tall = this.graph.name === "signature" ? 460 : 340;
    this.chart.draw(width, Math.round(Math.min(tall, Math.max(260, width * 0.62))));
    const leaves = this.chart.leaves ? "Arrowhead at the frame: an interval or a shortest trial lies beyond it." : "";
    if (leaves !== "") this.note.textContent = [this.note.textContent, leaves].filter((words) => words !== "").join(" ");
    this.mark();
    this.drawn = performance.now();
  }

  /** Whether its x axis has transfer times. */
  private ofTimes(): boolean {
    return this.graph.axes(this.state)[0].quantity === "time";
  }

  /** Which part of a time axis is shown, in words. */
  private zoomed(): string {
    const { times } = this.state.choice;
    if (!times || !this.ofTimes()) return "";
    const [low, high] = times.map((t) => pretty(significant(t, "seconds")));
    return `Only ${low} to ${high} is shown; escape or a double click shows all.`;
  }

  /** Shows the chosen point, and the point that is looked at, here and on every other shown path at the same size. */
  private mark(): void {
    const { spot, chosen } = this.state.choice;
    const rings = chosen && this.state.inRange(chosen.series.size[chosen.n]!) ? ofChosen(this.chart.placed, chosen) : [];
    this.chart.marks.replaceChildren(this.brush, ...rings, ...(spot ? ofSpot(this.chart.placed, spot, this.chart.box) : []));
    if (!spot) this.tip.hidden = true;
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
        this.state.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 120), sizeAt(this.chart.placed, this.inside(e)));
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
    const spot = near(this.chart.placed, e.clientX - edge.left, e.clientY - edge.top);
    const old = this.state.choice.spot;
    if (spot?.series !== old?.series || spot?.n !== old?.n) this.state.change({ spot });
    if (spot) this.show(spot, e.clientX - edge.left, e.clientY - edge.top);
    else this.tip.hidden = true;
  }

  private show(spot: Spot, x: number, y: number): void {
    this.tip.replaceChildren(this.graph.tip(this.state, spot));
    this.tip.hidden = false;
    const width = this.frame.clientWidth;
    const left = x + 18 + this.tip.offsetWidth > width ? Math.max(0, x - 18 - this.tip.offsetWidth) : x + 18;
    const top = Math.max(0, Math.min(y - 20, this.frame.clientHeight - this.tip.offsetHeight));
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  /** Ends a drag: the sizes of the points within become the range, and on an axis of times that part of it is shown. Without a drag the
   *  point at hand is chosen. */
  private drop(e: PointerEvent | undefined): void {
    const from = this.dragFrom;
    this.dragFrom = undefined;
    this.brush.setAttribute("width", "0");
    if (from === undefined || e === undefined) return;
    const to = this.inside(e);
    if (Math.abs(to - from) < DRAG) {
      const edge = this.frame.getBoundingClientRect();
      return this.choose(near(this.chart.placed, e.clientX - edge.left, e.clientY - edge.top));
    }
    const [low, high] = [from, to].sort((a, b) => a - b).map((x) => this.chart.fromX(x)) as [number, number];
    const range = sizesWithin(this.chart.placed, low, high);
    if (range) this.state.show(...range, this.ofTimes() ? [low, high] : undefined);
    else this.say("No point lies in the range that was dragged.");
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
    // A path may have several curves (percentiles): one stands for it.
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
