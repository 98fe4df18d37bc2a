/** What is said about the point that is looked at. */

import { exact } from "./columns";
import { addedAt, compared, PERCENTILES, percentile } from "./curves";
import { interval, nearestSize, seen, warned, type Series } from "./data";
import { h } from "./dom";
import type { Spot, State } from "./state";
import { count, percent, pretty, significant, size, spanned, withInterval } from "./units";

/** Paths shown in a tip at most; the one looked at is always among them. */
const MOST = 10;

function time(s: Series, n: number): string {
  const value = exact(s.time[n]!);
  const ends = interval(s, n);
  if (ends) return pretty(withInterval(value, ends[0], ends[1], "seconds"));
  const span = seen(s, n);
  return pretty(span ? spanned(value, s.columns.blocks[s.rows[n]!]!, span[0], span[1], "seconds") : significant(value, "seconds"));
}

/** What the path carries; nothing where sends follow a schedule. */
function rate(s: Series, n: number): string {
  return s.carries ? significant(exact(s.rate[n]!), "bitsPerSecond") : "";
}

function head(s: Series, other: string): HTMLElement {
  return h("th", { scope: "row" }, h("span", { class: `swatch hue${s.path.hue} dash${s.path.dash}` }), s.path.name + other);
}

function table(title: string, rows: HTMLElement[], below: string): HTMLElement {
  return h("div", {}, h("table", {}, h("caption", {}, title), h("tbody", {}, ...rows)), below === "" ? "" : h("p", {}, below));
}

/** At most so many of the paths, the one looked at among them. */
function some(all: Series[], here: Series): Series[] {
  const at = Math.max(0, all.indexOf(here) - MOST + 1);
  return all.slice(at, at + MOST);
}

/** Every shown path at the size looked at. */
export function listing(state: State, spot: Spot): HTMLElement {
  const bytes = spot.series.size[spot.n]!;
  const rows = some(state.shown(), spot.series).map((s) => {
    const n = s === spot.series ? spot.n : nearestSize(s, bytes);
    const other = s.size[n] === bytes ? "" : ` at ${size(s.size[n]!)}`;
    return h("tr", { class: s === spot.series ? "here" : undefined }, head(s, other), h("td", {}, time(s, n)), h("td", {}, rate(s, n)));
  });
  const row = spot.series.rows[spot.n]!;
  const { columns, path } = spot.series;
  const rounds = columns.blocks[row] === 1 ? "1 round" : `${columns.blocks[row]} rounds`;
  const kind = `${path.name}: ${path.time}, ${rounds}, ${columns.why(row)}`;
  return table(size(bytes), rows, kind + (columns.warned[row] === 1 ? "; has a warning" : ""));
}

/** The percentiles at the size looked at. */
export function percentileListing(_: State, spot: Spot): HTMLElement {
  const rows = PERCENTILES.map((one) => {
    const v = percentile(spot.series, one, spot.n);
    return h("tr", {}, h("th", { scope: "row" }, one[1]), h("td", {}, v === undefined ? "-" : pretty(significant(exact(v), "seconds"))));
  });
  return table(`${spot.series.path.name}, ${size(spot.series.size[spot.n]!)}`, rows, `of ${count(spot.series.columns.iterations[spot.series.rows[spot.n]!]!)} single iterations, ${spot.series.path.time}`);
}

function extra(base: Series, s: Series, n: number): [string, string] {
  const found = addedAt(base, s, n);
  if (!found) return ["-", "-"];
  const ends = found.interval;
  const text = ends ? withInterval(found.extra, ends[0], ends[1], "seconds") : significant(found.extra, "seconds");
  return [pretty(text), percent(found.share)];
}

/** What every compared path adds at the size looked at. */
export function addedListing(state: State, spot: Spot): HTMLElement {
  const { base } = state.choice;
  const bytes = spot.series.size[spot.n]!;
  if (!base) return h("div", {}, "-");
  const rows = some(compared(state), spot.series).map((s) => {
    const n = s === spot.series ? spot.n : nearestSize(s, bytes);
    const other = s.size[n] === bytes ? "" : ` at ${size(s.size[n]!)}`;
    const [text, share] = extra(base, s, n);
    return h("tr", { class: s === spot.series ? "here" : undefined }, head(s, other), h("td", {}, text), h("td", {}, share));
  });
  return table(size(bytes), rows, `added to ${base.path.name}: ${time(base, nearestSize(base, bytes))}`);
}

/** The point in one sentence, for screen readers. */
export function sentence(spot: Spot): string {
  const s = spot.series;
  const carried = s.carries ? `, ${rate(s, spot.n)}` : "";
  return `${s.path.name}, ${size(s.size[spot.n]!)}: ${s.path.time} ${time(s, spot.n)}${carried}${warned(s, spot.n) ? ", has a warning" : ""}`;
}

export function percentileSentence(spot: Spot): string {
  const s = spot.series;
  const parts = PERCENTILES.flatMap((one) => {
    const v = percentile(s, one, spot.n);
    return v === undefined ? [] : [`${one[1]} ${pretty(significant(exact(v), "seconds"))}`];
  });
  return `${s.path.name}, ${size(s.size[spot.n]!)}: ${parts.length > 0 ? parts.join(", ") : "single iterations were not timed"}`;
}

export function addedSentence(state: State, spot: Spot): string {
  const { base } = state.choice;
  const s = spot.series;
  if (!base || base === s) return sentence(spot);
  const [text, share] = extra(base, s, spot.n);
  return `${s.path.name}, ${size(s.size[spot.n]!)}: adds ${text} to ${base.path.name}, ${share}`;
}
