/** The table of points: one path's, within the range of sizes shown. */

import type { Series } from "./data";
import { copy, h } from "./dom";
import type { State } from "./state";
import { pretty, significant, size, withInterval } from "./units";

/** Rows shown at most; copying takes all. A page of a hundred thousand rows would be slow and read by nobody. */
const MOST = 400;

type Cell = (s: Series, row: number) => string;

const seconds = (v: number | null | undefined): string => (typeof v === "number" && v > 0 ? pretty(significant(v, "seconds")) : "-");
const share = (v: number | null | undefined): string => (v ? `${(v * 100).toPrecision(2)}%` : "0");
const rate = (v: number | null | undefined): string => (v ? `${v >= 100 ? Math.round(v) : v.toFixed(2)}/s` : "-");
const column = (name: "min" | "p50" | "p90" | "p99" | "p999" | "max"): Cell => (s, row) => seconds(s.path.points[name][row]);

function range(median: number | null | undefined, low: number | null | undefined, high: number | null | undefined): string {
  if (typeof median !== "number" || typeof low !== "number" || typeof high !== "number" || !(low > 0)) return "-";
  return pretty(withInterval(median, low, high, "seconds")).replace(/^.*\[/, "[");
}

const COLUMNS: readonly (readonly [string, Cell])[] = [
  ["Size", (s, r) => size(s.path.points.size[r]!)],
  ["Median", (s, r) => seconds(s.path.points.median[r])],
  ["95% interval", (s, r) => range(s.path.points.median[r], s.path.points.low[r], s.path.points.high[r])],
  ["A repeat run", (s, r) => range(s.path.points.median[r], s.path.points.repeat_low[r], s.path.points.repeat_high[r])],
  ["Min", column("min")],
  ["Throughput", (s, r) => significant(s.path.points.throughput[r] ?? NaN, "bitsPerSecond")],
  ["Sender", (s, r) => (s.path.points.sender[r] ? significant(s.path.points.sender[r] ?? NaN, "bitsPerSecond") : "-")],
  ["A second", (s, r) => rate(s.path.points.transactions[r])],
  ["p50", column("p50")],
  ["p90", column("p90")],
  ["p99", column("p99")],
  ["p99.9", column("p999")],
  ["Max", column("max")],
  ["Lost", (s, r) => share(s.path.points.loss[r])],
  ["Reordered", (s, r) => share(s.path.points.reordering[r])],
  ["Blocks", (s, r) => String(s.path.points.blocks[r])],
  ["Ended", (s, r) => s.path.points.why[r]! + (s.path.points.warned[r] === 1 ? " (warning)" : "")],
];

const RAW = ["size", "median", "low", "high", "repeat_low", "repeat_high", "min", "throughput", "sender", "transactions", "p50", "p90", "p99", "p999", "max", "loss", "reordering", "blocks", "why", "warned"] as const;

/** Fills the section with a choice of path, the table and a copy button. */
export function points(section: HTMLElement, state: State, say: (words: string) => void): void {
  const choose = h("select", { "aria-label": "Path" });
  for (const s of state.series) choose.append(h("option", { value: s.key }, s.path.name));
  const copyAll = h("button", { type: "button" }, "Copy as table");
  const note = h("p", { class: "note", "aria-live": "polite" });
  const place = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Points" });
  section.append(h("div", { class: "tools" }, choose, copyAll, note), place);

  const series = () => state.series.find((s) => s.key === choose.value);
  const rows = (s: Series) => s.path.points.size.flatMap((bytes, row) => (state.inRange(bytes) ? [row] : []));
  const show = () => {
    const s = series();
    if (!s) return;
    const all = rows(s);
    const some = (name: "sender" | "transactions" | "p50" | "p90" | "p99" | "p999" | "max" | "loss" | "reordering") => all.some((r) => s.path.points[name][r]);
    const filled: Record<string, boolean> = {
      Sender: some("sender"),
      "A second": some("transactions"),
      p50: some("p50"),
      p90: some("p90"),
      p99: some("p99"),
      "p99.9": some("p999"),
      Max: some("max"),
      Lost: some("loss"),
      Reordered: some("reordering"),
    };
    const used = COLUMNS.filter(([name]) => filled[name] ?? true);
    const head = h("tr", {}, ...used.map(([name]) => h("th", { scope: "col" }, name)));
    const body = all.slice(0, MOST).map((r) =>
      h("tr", { class: s.path.points.warned[r] === 1 ? "warned" : undefined }, ...used.map(([, cell], i) => (i === 0 ? h("th", { scope: "row" }, cell(s, r)) : h("td", {}, cell(s, r))))),
    );
    place.replaceChildren(h("table", { class: "points" }, h("caption", {}, `${s.path.name}: times are ${s.path.time}`), h("thead", {}, head), h("tbody", {}, ...body)));
    const cut = all.length > MOST ? `The first ${MOST} of ${all.length} points; narrow the range to see others. Copying takes all.` : `${all.length} points`;
    note.textContent = state.choice.range ? `${cut}, in the range shown above.` : cut;
  };
  copyAll.addEventListener("click", async () => {
    const s = series();
    if (!s) return;
    const lines = rows(s).map((r) => RAW.map((name) => s.path.points[name][r] ?? "").join("\t"));
    const done = await copy([`${RAW.join("\t")}`, ...lines].join("\n"));
    say(done ? `Copied ${lines.length} points; sizes in bytes, times in seconds, throughput in bit/s.` : "The browser did not allow copying.");
  });
  choose.addEventListener("change", show);
  state.listen((part) => part === "view" && show());
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
