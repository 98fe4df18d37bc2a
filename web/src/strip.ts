/** The range of sizes as a strip: all curves small, a window over them, and a handle at each end, for pointer and keys. */

import { path } from "./axes";
import { h, svg } from "./dom";
import { simplify } from "./simplify";
import type { State } from "./state";
import { size } from "./units";

const [WIDTH, HEIGHT] = [600, 30];
/** A step of an arrow key: a twelfth of a doubling; with page up and down a whole one. */
const STEP = Math.LN2 / 12;

export function strip(state: State): HTMLElement {
  const [least, most] = state.all.map(Math.log) as [number, number];
  const across = Math.max(most - least, 1e-9);
  const share = (bytes: number) => Math.min(1, Math.max(0, (Math.log(bytes) - least) / across));
  const lines = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const shade = h("div", { class: "window" });
  const handle = (label: string) => h("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": label, "aria-orientation": "horizontal" });
  const handles = [handle("Smallest message shown"), handle("Largest message shown")] as const;
  const root = h("div", { class: "strip", title: "Drag to choose sizes; drag the window to move it" }, lines, shade, ...handles);

  const ends = (): [number, number] => (state.choice.range ?? state.all).map(Math.log) as [number, number];
  const show = (low: number, high: number) => state.show(Math.round(Math.exp(low)), Math.round(Math.exp(high)));
  /** Moves one end, not past the other. */
  const move = (end: 0 | 1, to: number) => {
    const [low, high] = ends();
    const at = Math.min(most, Math.max(least, to));
    if (end === 0) show(Math.min(at, high), high);
    else show(low, Math.max(at, low));
  };
  /** Moves the window as it is, as far as there are sizes. */
  const slide = (low: number, high: number, by: number) => {
    const bounded = Math.max(least - low, Math.min(most - high, by));
    show(low + bounded, high + bounded);
  };

  const draw = () => {
    const range = state.choice.range ?? state.all;
    const [from, to] = [share(range[0]), Math.max(share(range[1]), share(range[0]))];
    shade.style.left = `${from * 100}%`;
    shade.style.width = `${(to - from) * 100}%`;
    handles.forEach((one, end) => {
      one.style.left = `${[from, to][end]! * 100}%`;
      // In steps of an arrow key, so that the numbers a screen reader may say are whole ones.
      const at = (v: number) => String(Math.round((Math.log(v) - least) / STEP));
      one.setAttribute("aria-valuemin", at(end === 0 ? state.all[0] : range[0]));
      one.setAttribute("aria-valuemax", at(end === 0 ? range[1] : state.all[1]));
      one.setAttribute("aria-valuenow", at(range[end]!));
      one.setAttribute("aria-valuetext", size(range[end]!));
    });
  };
  let drawn = "";
  const curves = () => {
    const shown = state.shown();
    const log = state.choice.rate === "log";
    const key = `${log} ${shown.map((s) => s.key).join()}`;
    if (key === drawn && lines.childElementCount > 0) return;
    drawn = key;
    const top = Math.max(...shown.map((s) => s.rate.reduce((a, b) => Math.max(a, b), 0)));
    const low = Math.min(...shown.map((s) => s.rate.reduce((a, b) => Math.min(a, b), Infinity)));
    const up = (rate: number) => (log ? Math.log(rate / low) / Math.max(Math.log(top / low), 1e-9) : rate / top);
    lines.replaceChildren(
      ...shown.map((s) => {
        const x = s.size.map((bytes) => share(bytes) * WIDTH);
        const y = s.rate.map((rate) => HEIGHT - 2 - up(rate) * (HEIGHT - 4));
        return svg("path", { class: `hue${s.path.hue}`, d: path(simplify(x, y).map((i) => [x[i]!, y[i]!])) });
      }),
    );
  };

  handles.forEach((one, end) =>
    one.addEventListener("keydown", (e) => {
      const at = ends()[end]!;
      const by: Record<string, number> = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -12 * STEP, PageUp: 12 * STEP };
      const step = by[e.key];
      const to = e.key === "Home" ? least : e.key === "End" ? most : step === undefined ? undefined : at + step;
      if (to === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      // With shift the other end comes along.
      if (e.shiftKey && step !== undefined) slide(...ends(), step);
      else move(end as 0 | 1, to);
    }),
  );

  // One change a frame: a pointer may tell of more.
  let waiting: (() => void) | undefined;
  const soon = (act: () => void) => {
    if (!waiting) requestAnimationFrame(() => {
      waiting?.();
      waiting = undefined;
    });
    waiting = act;
  };
  root.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    const box = root.getBoundingClientRect();
    const at = (event: PointerEvent) => least + across * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const [low, high] = ends();
    const end = handles.findIndex((one) => one === e.target);
    const whole = state.choice.range === undefined;
    const begun = at(e);
    e.preventDefault();
    if (end >= 0) handles[end]!.focus();
    root.setPointerCapture(e.pointerId);
    const follow = (event: PointerEvent) => {
      const now = at(event);
      if (end >= 0) soon(() => move(end as 0 | 1, now));
      else if (e.target === shade && !whole) soon(() => slide(low, high, now - begun));
      else if (Math.abs(event.clientX - e.clientX) > 4) soon(() => show(Math.min(begun, now), Math.max(begun, now)));
    };
    const done = () => {
      root.removeEventListener("pointermove", follow);
      root.removeEventListener("pointerup", done);
      root.removeEventListener("pointercancel", done);
    };
    root.addEventListener("pointermove", follow);
    root.addEventListener("pointerup", done);
    root.addEventListener("pointercancel", done);
  });
  root.addEventListener("dblclick", () => state.change({ range: undefined }));
  state.listen((part) => {
    if (part !== "view") return;
    curves();
    draw();
  });
  curves();
  draw();
  return root;
}
