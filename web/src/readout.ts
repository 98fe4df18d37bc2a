/** What is said about the point that is looked at. */

import { interval, nearestSize, type Series } from "./data";
import { h } from "./dom";
import type { Spot, State } from "./state";
import { pretty, significant, size, withInterval } from "./units";

/** Paths shown in a tip at most; the one looked at is always among them. */
const MOST = 10;

function time(s: Series, n: number): string {
  const ends = interval(s, n);
  const text = ends ? withInterval(s.time[n]!, ends[0], ends[1], "seconds") : significant(s.time[n]!, "seconds");
  return pretty(text);
}

/** Every shown path at the size looked at. */
export function listing(state: State, spot: Spot): HTMLElement {
  const bytes = spot.series.size[spot.n]!;
  const all = state.shown();
  const at = Math.max(0, all.indexOf(spot.series) - MOST + 1);
  const rows = all.slice(at, at + MOST).map((s) => {
    const n = s === spot.series ? spot.n : nearestSize(s, bytes);
    const other = s.size[n] === bytes ? "" : ` at ${size(s.size[n]!)}`;
    return h(
      "tr",
      { class: s === spot.series ? "here" : undefined },
      h("th", { scope: "row" }, h("span", { class: `swatch hue${s.path.hue} dash${s.path.dash}` }), s.path.name + other),
      h("td", {}, time(s, n)),
      h("td", {}, significant(s.rate[n]!, "bitsPerSecond")),
    );
  });
  const table = h("table", {}, h("caption", {}, size(bytes)), h("tbody", {}, ...rows));
  const row = spot.series.rows[spot.n]!;
  const points = spot.series.path.points;
  const kind = `${spot.series.path.name}: ${spot.series.path.time}, ${points.blocks[row]} blocks, ${points.why[row]}`;
  const warned = points.warned[row] === 1 ? "; has a warning" : "";
  return h("div", {}, table, h("p", {}, kind + warned));
}

/** The point in one sentence, for screen readers. */
export function sentence(spot: Spot): string {
  const s = spot.series;
  const warned = s.path.points.warned[s.rows[spot.n]!] === 1 ? ", has a warning" : "";
  const rate = significant(s.rate[spot.n]!, "bitsPerSecond");
  return `${s.path.name}, ${size(s.size[spot.n]!)}: ${s.path.time} ${time(s, spot.n)}, ${rate}${warned}`;
}
