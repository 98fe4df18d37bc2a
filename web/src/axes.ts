/** Draws axes: grid, ticks, labels, titles. */

import { svg } from "./dom";
import { width } from "./measure";
import { place, ticks, type Scale } from "./scale";
import { pretty, type Kind } from "./units";

/** Where lines are drawn, pixels. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface Drawn {
  readonly scale: Scale;
  readonly kind: Kind;
  readonly title: string;
}

/** Room that a vertical axis' labels and title need, pixels. */
export function gutter(y: Drawn, height: number, small: boolean): number {
  const labels = ticks(y.scale, y.kind, Math.floor(height / 60)).ticks.map((t) => width(pretty(t.label ?? ""), TICK));
  return Math.max(14, ...labels) + (small ? 30 : 36);
}

/** Sizes of text (.chart text, .chart .title in style.css), and the least distance of two labels. */
const [TICK, TITLE, APART] = [12, 12.5, 6];

/** One axis; the x axis lies below the box, the y axis left of it. */
export function axis(side: "x" | "y", a: Drawn, box: Box): SVGElement {
  const { left, right, top, bottom } = box;
  const t = ticks(a.scale, a.kind, Math.floor(side === "x" ? (right - left) / 76 : (bottom - top + 56) / 60));
  const group = svg("g", { class: `axis ${side}`, "aria-hidden": "true" });
  let end = -Infinity;
  for (const tick of t.ticks) {
    const at = place(a.scale, tick.value);
    if (!(at >= -1e-6 && at <= 1 + 1e-6)) continue;
    const kind = tick.label === undefined ? "minor" : "major";
    if (side === "x") {
      const x = left + at * (right - left);
      group.append(svg("line", { class: kind, x1: x, x2: x, y1: top, y2: bottom }));
      const label = pretty(tick.label ?? "");
      const half = width(label, TICK) / 2;
      // Where a narrow graph has no room, its line stays.
      if (label === "" || x - half < end + APART) continue;
      end = x + half;
      group.append(svg("text", { class: "tick", x, y: bottom + 18, "text-anchor": "middle" }, label));
    } else {
      const y = bottom - at * (bottom - top);
      group.append(svg("line", { class: tick.value === 0 ? "zero" : kind, x1: left, x2: right, y1: y, y2: y }));
      if (tick.label) group.append(svg("text", { class: "tick", x: left - 8, y: y + 4, "text-anchor": "end" }, pretty(tick.label)));
    }
  }
  const details = [t.unit ? pretty(t.unit) : "", a.scale.spread === "log" ? "log" : ""].filter((d) => d !== "");
  const rest = details.map((d) => `, ${d}`).join("");
  // Titles may be as long as the axis and what lies left or below of it.
  const words = titled(a.title, rest, side === "x" ? right - left : bottom - top + 20);
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

/** A title that fits a width, cut at its end: it begins with what the axis shows. */
function titled(title: string, rest: string, most: number): string {
  let words = title;
  while (words.length > 3 && width(`${words}\u2026${rest}`, TITLE) > most && width(title + rest, TITLE) > most) words = words.slice(0, -1).trimEnd();
  return words === title ? title + rest : `${words}\u2026${rest}`;
}

/** To two decimals: what a screen can show. */
export function round(v: number): number {
  return Math.round(v * 100) / 100;
}

export type Pixel = readonly [number, number];

/** A line through places. */
export function path(points: Iterable<Pixel>): string {
  let d = "";
  for (const [x, y] of points) d += `${d === "" ? "M" : "L"}${round(x)} ${round(y)}`;
  return d;
}
