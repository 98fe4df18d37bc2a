/** The table of points: the chosen path's, within the range of sizes shown. */

import { exact } from "./columns";
import type { Figure, Series } from "./data";
import { copy, h } from "./dom";
import { choosePath } from "./graphs";
import { lowerBound } from "./search";
import type { State } from "./state";
import { pretty, significant, size, withInterval } from "./units";

/** Rows shown at most; copying takes all. A page of a hundred thousand rows would be slow and read by nobody. */
const MOST = 400;
/** Rows of a table that takes its time. */
const LONG = 200;

type Cell = (s: Series, row: number) => string;

const has = (v: number | undefined): v is number => v !== undefined && Number.isFinite(v) && v > 0;
const column = (name: Figure): Cell => (s, row) => {
  const v = s.columns[name][row];
  return has(v) ? pretty(significant(exact(v), "seconds")) : "-";
};
const bits = (name: Figure): Cell => (s, row) => {
  const v = s.columns[name][row];
  return has(v) ? significant(exact(v), "bitsPerSecond") : "-";
};
const share = (name: Figure): Cell => (s, row) => {
  const v = s.columns[name][row];
  return has(v) ? `${(v * 100).toPrecision(2)}%` : "0";
};
const rate: Cell = (s, row) => {
  const v = s.columns.transactions[row];
  return has(v) ? `${v >= 100 ? Math.round(v) : v.toFixed(2)}/s` : "-";
};
const range = (lowest: Figure, highest: Figure): Cell => (s, row) => {
  const [median, low, high] = [s.columns.median[row], s.columns[lowest][row], s.columns[highest][row]];
  if (!has(median) || !has(low) || !has(high)) return "-";
  const text = pretty(withInterval(exact(median), exact(low), exact(high), "seconds"));
  return text.includes("[") ? text.replace(/^.*\[/, "[") : "-";
};

/** Title, cell, and the figure without which the column is left out. */
const COLUMNS: readonly (readonly [string, Cell, Figure?])[] = [
  ["Size", (s, r) => size(s.columns.size[r]!)],
  ["Median", column("median")],
  ["In this run, 95%", range("low", "high")],
  ["On this machine, 95%", range("repeat_low", "repeat_high"), "repeat_low"],
  ["Shortest trial", column("min")],
  ["Throughput", bits("throughput")],
  ["Sender", bits("sender"), "sender"],
  ["Mean rate", rate, "transactions"],
  ["p50", column("p50"), "p50"],
  ["p90", column("p90"), "p90"],
  ["p99", column("p99"), "p99"],
  ["p99.9", column("p999"), "p999"],
  ["Longest", column("max"), "max"],
  ["Lost", share("loss"), "loss"],
  ["Reordered", share("reordering"), "reordering"],
  ["Rounds", (s, r) => String(s.columns.blocks[r])],
  ["Ended", (s, r) => s.columns.why(r) + (s.columns.warned[r] === 1 ? " (warning)" : "")],
];

const FIGURES = ["median", "low", "high", "repeat_low", "repeat_high", "min", "throughput", "sender", "transactions", "p50", "p90", "p99", "p999", "max", "loss", "reordering"] as const;
const RAW = ["size", ...FIGURES, "blocks", "why", "warned"];

function line(s: Series, r: number): string {
  const figures = FIGURES.map((name) => {
    const v = s.columns[name][r]!;
    return Number.isFinite(v) ? exact(v) : name === "loss" || name === "reordering" ? 0 : "";
  });
  return [s.columns.size[r], ...figures, s.columns.blocks[r], s.columns.why(r), s.columns.warned[r]].join("\t");
}

/** Fills the section with a choice of path, the table and a copy button. A size in it chooses the point. */
export function points(section: HTMLElement, state: State, say: (words: string) => void): void {
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
    const used = COLUMNS.filter(([, , needs]) => needs === undefined || all.some((r) => has(s.columns[needs][r])));
    const head = h("tr", {}, ...used.map(([name]) => h("th", { scope: "col" }, name)));
    const body = all
      .slice(0, MOST)
      .map((r) => h("tr", { class: s.columns.warned[r] === 1 ? "warned" : undefined }, ...used.map(([, cell], i) => (i === 0 ? first(s, r, cell(s, r)) : h("td", {}, cell(s, r))))));
    place.replaceChildren(h("table", { class: "points" }, h("caption", {}, `${s.path.name}: times are ${s.path.time}`), h("thead", {}, head), h("tbody", {}, ...body)));
    const cut = all.length > MOST ? `The first ${MOST} of ${all.length} points; narrow the range to see others. Copying takes all.` : all.length === 1 ? "1 point" : `${all.length} points`;
    note.textContent = state.choice.range ? `${cut}, in the range shown above.` : cut;
    mark();
  };
  copyAll.addEventListener("click", async () => {
    const s = series();
    if (!s) return;
    const lines = rows(s).map((r) => line(s, r));
    const done = await copy([RAW.join("\t"), ...lines].join("\n"));
    say(done ? `Copied ${lines.length} points; sizes in bytes, times in seconds, throughput in bit/s.` : "The browser did not allow copying.");
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
