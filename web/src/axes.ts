/** Draws axes: grid, ticks, labels, titles. */

import { svg } from "./dom";
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
  const labels = ticks(y.scale, y.kind, Math.floor(height / 60)).ticks.map((t) => pretty(t.label ?? "").length);
  return Math.max(2, ...labels) * 7 + (small ? 26 : 32);
}

/** Words that fit a width of so many pixels. */
function fitting(words: string, room: number): string {
  const most = Math.floor(room / 7);
  return words.length <= most ? words : `${words.slice(0, Math.max(3, most - 1))}…`;
}

/** One axis; the x axis lies below the box, the y axis left of it. */
export function axis(side: "x" | "y", a: Drawn, box: Box): SVGElement {
  const { left, right, top, bottom } = box;
  const t = ticks(a.scale, a.kind, Math.floor(side === "x" ? (right - left) / 76 : (bottom - top + 56) / 60));
  const group = svg("g", { class: `axis ${side}`, "aria-hidden": "true" });
  for (const tick of t.ticks) {
    const at = place(a.scale, tick.value);
    if (!(at >= -1e-6 && at <= 1 + 1e-6)) continue;
    const kind = tick.label === undefined ? "minor" : "major";
    if (side === "x") {
      const x = left + at * (right - left);
      group.append(svg("line", { class: kind, x1: x, x2: x, y1: top, y2: bottom }));
      if (tick.label) group.append(svg("text", { class: "tick", x, y: bottom + 18, "text-anchor": "middle" }, pretty(tick.label)));
    } else {
      const y = bottom - at * (bottom - top);
      group.append(svg("line", { class: tick.value === 0 ? "zero" : kind, x1: left, x2: right, y1: y, y2: y }));
      if (tick.label) group.append(svg("text", { class: "tick", x: left - 8, y: y + 4, "text-anchor": "end" }, pretty(tick.label)));
    }
  }
  const details = [t.unit ? pretty(t.unit) : "", a.scale.spread === "log" ? "log" : ""].filter((d) => d !== "");
  const rest = details.map((d) => `, ${d}`).join("");
  const words = fitting(a.title, (side === "x" ? right - left : bottom - top) - 7 * rest.length) + rest;
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
