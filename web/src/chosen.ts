/** The chosen point in full: its histogram and its trials, and buttons that step to the next size. */

import { copy, h } from "./dom";
import { drift } from "./drift";
import { histogram, text, title } from "./histogram";
import { Plot } from "./plot";
import type { Spread } from "./scale";
import type { State } from "./state";

export function chosen(state: State, say: (words: string) => void, soak: boolean): Plot[] {
  let spread: Spread = "log";
  const step = (words: string, label: string, by: number) => {
    const b = h("button", { type: "button", "aria-label": label, title: label, "data-step": by }, words);
    b.addEventListener("click", () => {
      const spot = state.choice.chosen;
      if (!spot) return;
      const n = Math.min(spot.series.rows.length - 1, Math.max(0, spot.n + by));
      state.change({ chosen: { series: spot.series, n } });
      say(`Chosen: ${title({ series: spot.series, n })}`);
    });
    return b;
  };
  const counts: HTMLElement[] = (["linear", "log"] as const).map((one) => {
    const b = h("button", { type: "button", "data-counts": one, "aria-pressed": String(one === spread) }, one);
    b.addEventListener("click", () => {
      spread = one;
      for (const other of counts) other.setAttribute("aria-pressed", String(other === b));
      bars.draw();
    });
    return b;
  });
  const copied = h("button", { type: "button", "data-copy-bars": true }, "Copy as table");
  const bars = new Plot(
    "histogram",
    "Click a point in a graph above, press enter on it, or choose a size in the table of points, to see its times here.",
    () => histogram(state.choice.chosen, spread),
    say,
    step("\u2039", "The next smaller size", -1),
    step("\u203a", "The next larger size", 1),
    h("span", { class: "pair", role: "group", "aria-label": "Counts" }, ...counts),
    copied,
  );
  const trials = new Plot(
    "trials",
    (soak
      ? "Each dot is an interval of one connection (of a long soak, a stretch of them); the line is their median, the band its 95% interval. A slope is drift."
      : "Each dot is a trial, each cluster a round over a fresh connection; the line is the point's median, the band its 95% interval. A slope is drift of the machine.") +
      " Drag over a part of the time to see it alone.",
    (part) => drift(state.choice.chosen, part),
    say,
  );
  copied.addEventListener("click", async () => {
    const spot = state.choice.chosen;
    if (!spot) return;
    say((await copy(text(spot))) ? "Copied the bars; times in seconds." : "The browser did not allow copying.");
  });
  state.listen((part) => {
    if (part !== "chosen") return;
    bars.draw();
    trials.show(undefined);
  });
  return [bars, trials];
}
