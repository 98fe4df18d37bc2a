/** Marks on a graph's curves: the chosen point, and the point that is looked at. */

import type { Box } from "./axes";
import type { Placed } from "./chart";
import { svg } from "./dom";
import { place } from "./find";
import type { Spot } from "./state";

/** Rings about the chosen point, on each curve that has it. */
export function ofChosen(placed: readonly Placed[], chosen: Spot): SVGElement[] {
  return placed.flatMap((p) => {
    const i = place(p, chosen);
    if (p.curve.series !== chosen.series || p.curve.index(i) !== chosen.n) return [];
    return [svg("circle", { class: `chosen hue${p.curve.series.path.hue}`, cx: p.x[i]!, cy: p.y[i]!, r: 7 })];
  });
}

/** A cross line through the point that is looked at, and a dot on every curve at its size. */
export function ofSpot(placed: readonly Placed[], spot: Spot, box: Box): SVGElement[] {
  const out: SVGElement[] = [];
  let crossed = false;
  for (const p of placed) {
    const i = place(p, spot);
    const [x, y] = [p.x[i], p.y[i]];
    if (x === undefined || y === undefined) continue;
    // In a gap there is nothing to mark: the nearest point may be far.
    if (p.curve.gaps && Math.abs(Math.log(p.curve.size[i]! / spot.series.size[spot.n]!)) > 0.06) continue;
    const own = p.curve.series === spot.series;
    if (own && !crossed) out.push(svg("line", { class: "cross", x1: x, x2: x, y1: box.top, y2: box.bottom }));
    crossed ||= own;
    out.push(svg("circle", { class: `${own ? "here" : "other"} hue${p.curve.series.path.hue}`, cx: x, cy: y, r: own ? 5.5 : 3.8 }));
  }
  return out;
}
