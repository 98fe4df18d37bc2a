/** A small graph of one point: things to look at one by one, by pointer or keys, on two axes. */

import { axis, gutter, round, type Box, type Drawn, type Pixel } from "./axes";
import { h, svg } from "./dom";
import { invert, place } from "./scale";

/** Something that can be looked at. */
export interface Item {
  readonly x: number;
  readonly y: number;
  /** Ends on the x axis, of a bar. */
  readonly span?: readonly [number, number];
  readonly words: string;
}

/** What is drawn at the moment. */
export interface Drawing {
  readonly title: string;
  readonly note: string;
  readonly axes: readonly [Drawn, Drawn];
  readonly items: readonly Item[];
  /** A part of the x axis may be dragged over, to be shown alone. */
  readonly zooms?: boolean;
  /** Draws bars, dots and lines, given where values lie. */
  shapes(at: (x: number, y: number) => Pixel, box: Box): SVGElement[];
}

/** Nothing to draw, and why. */
export interface Nothing {
  readonly title: string;
  readonly note: string;
}

const REACH = 60;
/** A pointer that moved less between down and up dragged nothing, pixels. */
const DRAG = 6;

/** Ends of a part of an axis. */
export type Part = readonly [number, number];

export class Plot {
  readonly root: HTMLElement;
  readonly frame = h("div", { class: "frame", tabindex: 0, role: "application", "aria-roledescription": "graph" });
  private readonly chart = svg("svg", { class: "chart" });
  private readonly marks = svg("g", { class: "marks" });
  private readonly title = h("h3");
  private readonly note = h("p", { class: "note" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private drawing: Drawing | undefined;
  private box: Box = { left: 0, right: 1, top: 0, bottom: 1 };
  private looked = -1;
  private width = 0;
  /** The part of the x axis that is shown; nothing for all. */
  private part: Part | undefined;
  private dragFrom: number | undefined;
  private readonly brush = svg("rect", { class: "brush" });

  constructor(
    name: string,
    read: string,
    private readonly make: (part: Part | undefined) => Drawing | Nothing,
    private readonly say: (words: string) => void,
    ...controls: Node[]
  ) {
    this.frame.append(this.chart, this.tip);
    const head = h("div", { class: "head" }, this.title, h("span", { class: "own" }, ...controls));
    this.root = h("figure", { class: `panel ${name}`, "data-graph": name }, head, this.frame, h("figcaption", {}, h("p", {}, read), this.note));
    new ResizeObserver(([entry]) => {
      this.width = Math.round(entry?.contentRect.width ?? 0);
      this.draw();
    }).observe(this.frame);
    this.frame.addEventListener("pointermove", (e) => {
      if (this.dragFrom !== undefined) return this.drag(this.inside(e));
      const edge = this.frame.getBoundingClientRect();
      this.look(this.near(e.clientX - edge.left, e.clientY - edge.top), false);
    });
    this.frame.addEventListener("pointerdown", (e) => {
      if (e.button !== 0 || !this.drawing?.zooms) return;
      this.dragFrom = this.inside(e);
      this.frame.setPointerCapture(e.pointerId);
    });
    this.frame.addEventListener("pointerup", (e) => this.drop(this.inside(e)));
    this.frame.addEventListener("pointercancel", () => this.drop(undefined));
    this.frame.addEventListener("dblclick", () => this.show(undefined));
    for (const end of ["pointerleave", "blur"]) this.frame.addEventListener(end, () => this.look(-1, false));
    this.frame.addEventListener("keydown", (e) => this.key(e));
  }

  /** Takes the width there is; later ones are told by the browser. */
  fit(): void {
    this.width = this.frame.clientWidth;
  }

  /** Shows a part of the x axis, or all of it. */
  show(part: Part | undefined): void {
    this.part = part;
    this.draw();
  }

  draw(width = this.width): void {
    const made = this.make(this.part);
    this.title.textContent = made.title;
    this.note.textContent = made.note;
    this.frame.setAttribute("aria-label", `${made.title}. ${made.note} Arrow keys move from one to the next.`);
    this.look(-1, false);
    this.drawing = undefined;
    if (width < 50) return;
    const height = Math.round(Math.min(340, Math.max(260, width * 0.62)));
    this.chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.chart.setAttribute("height", String(height));
    if (!("items" in made) || made.items.length === 0) {
      this.chart.replaceChildren(svg("text", { class: "empty", x: width / 2, y: height / 2 }, "Nothing to draw: see below."));
      return;
    }
    this.drawing = made;
    const [x, y] = made.axes;
    this.box = { left: gutter(y, height, width < 560), right: width - 22, top: 10, bottom: height - 46 };
    this.chart.replaceChildren(axis("x", x, this.box), axis("y", y, this.box), ...made.shapes((vx, vy) => this.at(vx, vy), this.box), this.marks, this.brush);
    this.drag(undefined);
  }

  private at(vx: number, vy: number): Pixel {
    const { left, right, top, bottom } = this.box;
    const [x, y] = this.drawing!.axes;
    const px = left + place(x.scale, vx) * (right - left);
    const py = bottom - (y.scale.spread === "log" && !(vy > 0) ? 0 : place(y.scale, vy)) * (bottom - top);
    return [Math.min(right, Math.max(left, px)), Math.min(bottom, Math.max(top, py))];
  }

  /** Pixels from the left edge, kept inside of the axes. */
  private inside(e: MouseEvent): number {
    return Math.min(this.box.right, Math.max(this.box.left, e.clientX - this.frame.getBoundingClientRect().left));
  }

  /** Shades what was dragged over so far; nothing without a place. */
  private drag(to: number | undefined): void {
    const [from, end] = [this.dragFrom ?? 0, to ?? 0].sort((a, b) => a - b) as [number, number];
    const { top, bottom } = this.box;
    const shape = { x: from, y: top, width: to === undefined || end - from < DRAG ? 0 : end - from, height: bottom - top };
    for (const [name, v] of Object.entries(shape)) this.brush.setAttribute(name, String(v));
  }

  private drop(to: number | undefined): void {
    const from = this.dragFrom;
    this.dragFrom = undefined;
    this.drag(undefined);
    if (from === undefined || to === undefined || !this.drawing || Math.abs(to - from) < DRAG) return;
    const { left, right } = this.box;
    const { scale } = this.drawing.axes[0];
    const [low, high] = [from, to].sort((a, b) => a - b).map((x) => invert(scale, (x - left) / (right - left))) as [number, number];
    if (this.drawing.items.some((item) => item.x >= low && item.x <= high)) this.show([low, high]);
    else this.say("Nothing lies in the range that was dragged.");
  }

  private near(x: number, y: number): number {
    let best = -1;
    let least = Infinity;
    this.drawing?.items.forEach((item, i) => {
      const [ix, iy] = this.at(item.x, item.y);
      const away = item.span ? Math.abs(ix - x) : Math.hypot(ix - x, iy - y);
      if (away < least) [best, least] = [i, away];
    });
    return least < REACH ? best : -1;
  }

  /** Marks an item and tells of it, aloud where the keyboard came to it. */
  private look(i: number, aloud: boolean): void {
    this.looked = i;
    const item = this.drawing?.items[i];
    this.marks.replaceChildren();
    this.tip.hidden = !item;
    if (!item) return;
    const [x, y] = this.at(item.x, item.y);
    if (item.span) {
      const [from, to] = [this.at(item.span[0], item.y)[0], this.at(item.span[1], item.y)[0]];
      this.marks.append(svg("rect", { class: "here", x: round(from), y: round(y), width: round(Math.max(1.5, to - from)), height: round(this.box.bottom - y) }));
    } else {
      this.marks.append(svg("circle", { class: "here", cx: round(x), cy: round(y), r: 5.5 }));
    }
    this.tip.replaceChildren(item.words);
    const room = this.frame.clientWidth - this.tip.offsetWidth;
    const left = x + 16 <= room ? x + 16 : x - 16 >= this.tip.offsetWidth ? x - 16 - this.tip.offsetWidth : Math.max(0, room);
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(0, Math.min(y - 16, this.frame.clientHeight - this.tip.offsetHeight)))}px)`;
    if (aloud) this.say(item.words);
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.drawing) return;
    if (e.key === "Escape" && this.part) {
      e.preventDefault();
      return this.show(undefined);
    }
    const last = this.drawing.items.length - 1;
    const by: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    const step = by[e.key];
    if (step === undefined) return;
    e.preventDefault();
    this.look(this.looked < 0 && step === 1 ? 0 : Math.min(last, Math.max(0, this.looked + step)), true);
  }
}
