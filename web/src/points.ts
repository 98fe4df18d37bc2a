/** The table of points: the chosen path's, within the range of sizes shown. */

import { exact } from "./columns";
import type { Head, Series } from "./data";
import { copy, h } from "./dom";
import { choosePath } from "./graphs";
import { lowerBound } from "./search";
import type { State } from "./state";
import { count, pretty, significant, size, spanned, withInterval } from "./units";

/** Rows shown at most; copying takes all. A page of a hundred thousand rows would be slow and read by nobody. */
const MOST = 400;
/** Rows of a table that takes its time. */
const LONG = 200;

type Cell = (s: Series, row: number) => string;

/** A column of the table: its title, its cells, and whether a row has the figure. */
interface Column {
  readonly title: string;
  readonly cell: Cell;
  readonly has: (s: Series, row: number) => boolean;
}

const positive = (v: number | undefined): v is number => v !== undefined && Number.isFinite(v) && v > 0;

function text(v: number, unit: Head["unit"]): string {
  switch (unit) {
    case "seconds":
    case "bitsPerSecond":
    case "bytes":
      return pretty(significant(exact(v), unit));
    case "share":
      return `${(v * 100).toPrecision(2)}%`;
    case "perSecond":
      return `${v >= 100 ? Math.round(v) : v.toFixed(2)}/s`;
    default:
      return Number.isInteger(v) ? count(v) : v.toPrecision(3);
  }
}

function column(head: Head): Column {
  const of = (s: Series, name: string | undefined, row: number) => (name === undefined ? undefined : s.columns.all[name]?.[row]);
  const has = (s: Series, row: number) => positive(of(s, head.name, row));
  const cell: Cell = (s, row) => {
    const v = of(s, head.name, row);
    if (!positive(v)) return head.unit === "share" ? "0" : "-";
    if (head.form === "range") {
      const to = of(s, head.to, row);
      return positive(to) ? `${text(v, head.unit)} to ${text(to, head.unit)}` : "-";
    }
    if (head.form === "plain" || (head.unit !== "seconds" && head.unit !== "bitsPerSecond")) return text(v, head.unit);
    const [low, high] = [of(s, head.low, row) ?? NaN, of(s, head.high, row) ?? NaN];
    const seen = head.seen?.map((name) => of(s, name, row));
    if (positive(seen?.[0]) && positive(seen[1])) return pretty(spanned(exact(v), s.columns.blocks[row]!, exact(seen[0]), exact(seen[1]), head.unit));
    return pretty(withInterval(exact(v), exact(low), exact(high), head.unit));
  };
  return { title: head.heading.charAt(0).toUpperCase() + head.heading.slice(1), cell, has };
}

const SIZE: Column = { title: "Size", cell: (s, r) => size(s.columns.size[r]!), has: () => true };
const ENDED: Column = { title: "Ended", cell: (s, r) => s.columns.why(r) + (s.columns.warned[r] === 1 ? " (warning)" : ""), has: () => true };

/** A path's points as text: every figure that any of them has, those of the table first and in its order. */
function copied(s: Series, rows: readonly number[], heads: readonly Head[]): string {
  const shown = heads.flatMap((head) => [head.name, head.low, head.high, head.to]).filter((name) => name !== undefined && name in s.columns.all);
  const names = [...new Set([...(shown as string[]), ...Object.keys(s.columns.all)])].filter((name) => rows.some((r) => Number.isFinite(s.columns.all[name]![r]!)));
  const value = (name: string, v: number) => (Number.isFinite(v) ? (Number.isInteger(v) ? v : exact(v)) : name.endsWith("_share") ? 0 : "");
  const line = (r: number) => [s.columns.size[r], ...names.map((name) => value(name, s.columns.all[name]![r]!)), s.columns.why(r), s.columns.warned[r]].join("\t");
  return [["size_bytes", ...names, "why", "warned"].join("\t"), ...rows.map(line)].join("\n");
}

/** Fills the section with a choice of path, the table and a copy button. A size in it chooses the point. */
export function points(section: HTMLElement, heads: readonly Head[], state: State, say: (words: string) => void): void {
  const columns = [SIZE, ...heads.map(column), ENDED];
  const choose = h("select", { "aria-label": "Path" });
  for (const s of state.series) choose.append(h("option", { value: s.key }, s.path.name));
  const copyAll = h("button", { type: "button" }, "Copy as table");
  const note = h("p", { class: "note", "aria-live": "polite" });
  const place = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Points" });
  section.append(h("div", { class: "tools" }, choose, copyAll, note), place);

  let key = state.choice.chosen?.series.key ?? state.series[0]?.key;
  const series = () => state.series.find((s) => s.key === key);
  const rows = (s: Series) => Array.from(s.columns.size.keys()).filter((row) => state.inRange(s.columns.size[row]!));
  const buttons = new Map<number, HTMLElement>();
  const mark = () => {
    const { chosen } = state.choice;
    const row = chosen && chosen.series.key === key ? chosen.series.rows[chosen.n]! : -1;
    for (const [r, b] of buttons) b.setAttribute("aria-pressed", String(r === row));
  };
  const first = (s: Series, r: number, text: string) => {
    const n = lowerBound(s.rows, r);
    if (s.rows[n] !== r) return h("th", { scope: "row" }, text);
    const b = h("button", { type: "button", class: "row", title: "Show this point's times" }, text);
    b.addEventListener("click", () => {
      state.change({ chosen: { series: s, n } });
      say(`Chosen: ${s.path.name} at ${text}`);
    });
    buttons.set(r, b);
    return h("th", { scope: "row" }, b);
  };
  let waiting = 0;
  /** A long table would hold up a range that is being dragged: it follows when the drag rests. */
  const soon = () => {
    clearTimeout(waiting);
    if (buttons.size > LONG) waiting = window.setTimeout(show, 400);
    else show();
  };
  const show = () => {
    clearTimeout(waiting);
    const s = series();
    if (!s) return;
    choose.value = s.key;
    buttons.clear();
    const all = rows(s);
    const used = columns.filter(({ has }) => all.some((r) => has(s, r)));
    const head = h("tr", {}, ...used.map(({ title }) => h("th", { scope: "col" }, title)));
    const body = all
      .slice(0, MOST)
      .map((r) => h("tr", { class: s.columns.warned[r] === 1 ? "warned" : undefined }, ...used.map(({ cell }, i) => (i === 0 ? first(s, r, cell(s, r)) : h("td", {}, cell(s, r))))));
    place.replaceChildren(h("table", { class: "points" }, h("caption", {}, `${s.path.name}: times are ${s.path.time}`), h("thead", {}, head), h("tbody", {}, ...body)));
    const cut = all.length > MOST ? `The first ${MOST} of ${all.length} points; narrow the range to see others. Copying takes all.` : all.length === 1 ? "1 point" : `${all.length} points`;
    note.textContent = state.choice.range ? `${cut}, in the range shown above.` : cut;
    mark();
  };
  copyAll.addEventListener("click", async () => {
    const s = series();
    if (!s) return;
    const all = rows(s);
    const done = await copy(copied(s, all, heads));
    say(done ? `Copied ${all.length} points; sizes in bytes, times in seconds, throughput in bit/s.` : "The browser did not allow copying.");
  });
  choose.addEventListener("change", () => {
    key = choose.value;
    choosePath(state, key);
    show();
  });
  state.listen((part) => {
    const chosen = state.choice.chosen?.series.key;
    if (part === "chosen" && chosen !== undefined && chosen !== key) {
      key = chosen;
      show();
    } else if (part === "view") soon();
    else if (part === "chosen") mark();
  });
  show();
}

/** Gives every table that asks for it a button that copies its text. */
export function copyButtons(say: (words: string) => void): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table[data-copy]")) {
    const b = h("button", { type: "button", class: "copy" }, "Copy as table");
    b.addEventListener("click", async () => {
      const text = [...table.rows].map((row) => [...row.cells].map((c) => c.textContent.trim().replace(/\s+/g, " ")).join("\t")).join("\n");
      say((await copy(text)) ? "Copied the table." : "The browser did not allow copying.");
    });
    (table.closest(".scroll") ?? table).after(b);
  }
}
