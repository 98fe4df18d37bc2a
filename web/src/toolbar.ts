/** What is shown: paths and runs, range of sizes, axes, light or dark. */

import type { PageData } from "./data";
import { h } from "./dom";
import type { Models } from "./fitted";
import { strip } from "./strip";
import type { State } from "./state";
import { parseSize, size } from "./units";

function button(words: (Node | string)[], pressed: () => boolean, act: () => void, state: State, attributes = {}): HTMLButtonElement {
  const b = h("button", { type: "button", ...attributes }, ...words);
  const show = () => b.setAttribute("aria-pressed", String(pressed()));
  b.addEventListener("click", act);
  state.listen(show);
  show();
  return b;
}

/** Buttons that show and hide paths, and whole runs where there are several. */
export function paths(page: PageData, state: State): HTMLElement {
  const root = h("div", { class: "paths", role: "group", "aria-label": "Paths shown" });
  page.runs.forEach((run, r) => {
    const own = state.series.filter((s) => s.run === r);
    const group = h("div", { class: "run" });
    if (page.runs.length > 1) {
      const shown = () => own.some((s) => !state.choice.hidden.has(s.key));
      const act = () => state.change({ hidden: toggled(state, own.map((s) => s.key), shown()) });
      group.append(button([`Run ${run.letter}`], shown, act, state, { class: "whole", title: run.line }));
    }
    for (const s of own) {
      const swatch = h("span", { class: `swatch hue${s.path.hue} dash${s.path.dash}` });
      const empty = s.rows.length === 0;
      const words = [swatch, s.path.name + (empty ? " (no points)" : "")];
      const shown = () => !state.choice.hidden.has(s.key);
      const act = () => state.change({ hidden: toggled(state, [s.key], shown()) });
      group.append(button(words, shown, act, state, { "data-toggle": s.key, disabled: empty }));
    }
    root.append(group);
  });
  return root;
}

function toggled(state: State, keys: string[], hide: boolean): Set<string> {
  const hidden = new Set(state.choice.hidden);
  for (const key of keys) {
    if (hide) hidden.add(key);
    else hidden.delete(key);
  }
  return hidden;
}

/** The range of sizes: a strip to drag, fields to type, and a button that shows all. */
export function range(state: State): HTMLElement {
  const field = (label: string) => h("input", { type: "text", size: 10, "aria-label": label, spellcheck: "false", autocomplete: "off" });
  const [from, to] = [field("Smallest message shown"), field("Largest message shown")];
  const reset = h("button", { type: "button", class: "reset" }, "All sizes");
  reset.addEventListener("click", () => state.change({ range: undefined }));
  const zoom = (words: string, label: string, factor: number) => {
    const b = h("button", { type: "button", class: "zoom", "aria-label": label, title: label }, words);
    b.addEventListener("click", () => state.zoom(factor, undefined));
    return b;
  };
  const wider = zoom("\u2212", "Zoom out", 2);
  const show = () => {
    const [low, high] = state.choice.range ?? state.all;
    from.value = size(low);
    to.value = size(high);
    for (const f of [from, to]) f.removeAttribute("aria-invalid");
    reset.disabled = wider.disabled = state.choice.range === undefined && state.choice.times === undefined;
  };
  const read = () => {
    const [low, high] = [parseSize(from.value), parseSize(to.value)];
    const order = low !== undefined && high !== undefined && low <= high;
    const bad = (f: HTMLInputElement, wrong: boolean) => {
      if (wrong) f.setAttribute("aria-invalid", "true");
      else f.removeAttribute("aria-invalid");
      f.title = wrong ? "a size as 100, 64KiB or 1MiB, the smaller one first" : "";
    };
    bad(from, low === undefined);
    bad(to, high === undefined || (low !== undefined && !order));
    if (order) state.show(low, high);
  };
  for (const f of [from, to]) f.addEventListener("change", read);
  state.listen((part) => part === "view" && show());
  show();
  // Of one size there is nothing to choose.
  return h("div", { class: "range", hidden: state.all[0] === state.all[1], role: "group", "aria-label": "Range of message sizes" }, h("span", {}, "Sizes"), from, strip(state), to, zoom("+", "Zoom in", 0.5), wider, reset);
}

/** What may lie over the curves: fitted models, and marked ranges where there are any. */
export function layers(state: State): HTMLElement {
  const root = h("div", { class: "over", role: "group", "aria-label": "Drawn over the curves" });
  const flip = (name: "fits" | "marks", words: string) => button([words], () => state.choice[name], () => state.change({ [name]: !state.choice[name] }), state, { "data-over": name });
  const fitted = (m: Models | null) => m !== null && (m.lines.length > 0 || m.bandwidth !== null || m.saturation !== null);
  if (state.series.some((s) => fitted(s.path.models))) root.append(flip("fits", "Fits"));
  if (state.series.some((s) => s.path.marks.length > 0)) root.append(flip("marks", "Marks"));
  return root;
}

/** Linear or logarithmic axes. */
export function axes(state: State): HTMLElement {
  const choice = (name: "rate" | "rest", words: string) => {
    const one = (spread: "linear" | "log") =>
      button([spread], () => state.choice[name] === spread, () => state.change({ [name]: spread }), state, { "data-axis": `${name}-${spread}` });
    return h("div", { class: "axes", role: "group", "aria-label": `${words} axis` }, h("span", {}, words), h("span", { class: "pair" }, one("linear"), one("log")));
  };
  const root = h("div", { class: "both" });
  root.append(choice("rate", "Throughput"), choice("rest", "Time and size"));
  return root;
}

/** Light, dark, or as the system has it. */
export function theme(): HTMLElement {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const b = h("button", { type: "button", class: "theme" });
  const now = () => root.dataset["theme"] ?? (dark.matches ? "dark" : "light");
  const show = () => {
    b.textContent = now() === "dark" ? "Light" : "Dark";
    b.setAttribute("aria-label", `${b.textContent} colours`);
  };
  b.addEventListener("click", () => {
    root.dataset["theme"] = now() === "dark" ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);
  show();
  return b;
}
