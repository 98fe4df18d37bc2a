/** The chosen point's trials over the run's time: whether it drifted, and how its rounds differ. */

import { round } from "./axes";
import { interval } from "./data";
import { svg } from "./dom";
import { title } from "./histogram";
import type { Drawing, Nothing, Part } from "./plot";
import { covering, type Scale } from "./scale";
import type { Spot } from "./state";
import type { Trial } from "./trials";
import { pretty, significant } from "./units";

/** Dots drawn at most. */
const MOST = 4000;

/** An axis that fits the values closely: drift is small beside the times themselves. */
function close(low: number, high: number): Scale | undefined {
  if (!(low > 0 && high >= low && Number.isFinite(high))) return undefined;
  if (high / low > 3) return covering("log", "seconds", low, high);
  const room = Math.max((high - low) * 0.08, high * 0.005);
  return { spread: "linear", low: low - room, high: high + room };
}

export function drift(spot: Spot | undefined, part?: Part): Drawing | Nothing {
  if (!spot) return { title: "Trials over time", note: "No point was measured." };
  const head = `Trials over time: ${title(spot)}`;
  const timed = spot.series.trials.of(spot.series.rows[spot.n]!).filter((t) => t.seconds > 0 && Number.isFinite(t.seconds) && t.at >= 0);
  const all = part ? timed.filter((t) => t.at >= part[0] && t.at <= part[1]) : timed;
  const warm = all.filter((t) => t.warmup).length;
  const ends = interval(spot.series, spot.n);
  const median = spot.series.time[spot.n]!;
  const times = [...all.map((t) => t.seconds), ...(ends ?? []), median];
  const y = close(least(times), -least(times.map((v) => -v)));
  const x = part ? { spread: "linear" as const, low: part[0], high: part[1] } : covering("linear", "seconds", Math.max(1e-9, least(all.map((t) => t.at))), Math.max(1e-3, -least(all.map((t) => -t.at))));
  const note = all.length === 0 ? "No trial of this point is in the run file, or none has a time." : `${all.length} ${all.length === 1 ? "trial" : "trials"}${warm > 0 ? `, ${warm} of them while warming up (hollow: kept, not counted)` : ""}.${part ? ` Of ${timed.length}; escape or a double click shows all.` : ""}`;
  if (!x || !y || all.length === 0) return { title: head, note };
  const every = Math.ceil(all.length / MOST);
  const shown = all.filter((_, i) => i % every === 0).sort((a, b) => a.at - b.at);
  return {
    title: head,
    zooms: true,
    note: every > 1 ? `${note} One of ${every} is drawn.` : note,
    axes: [
      { scale: x, kind: "seconds", title: "Time since the run's start" },
      { scale: y, kind: "seconds", title: `Time of a trial (${spot.series.path.time})` },
    ],
    items: shown.map((t) => ({ x: t.at, y: t.seconds, words: told(t) })),
    shapes: (at, box) => {
      const hue = `hue${spot.series.path.hue}`;
      const out: SVGElement[] = [];
      if (ends) {
        const [top, bottom] = [at(0, ends[1])[1], at(0, ends[0])[1]];
        out.push(svg("rect", { class: `within ${hue}`, x: box.left, y: round(top), width: box.right - box.left, height: round(Math.max(1, bottom - top)) }));
      }
      const middle = round(at(0, median)[1]);
      out.push(svg("line", { class: `middle ${hue}`, x1: box.left, x2: box.right, y1: middle, y2: middle }));
      for (const t of shown) {
        const [cx, cy] = at(t.at, t.seconds).map(round) as [number, number];
        out.push(svg("circle", { class: `${t.warmup ? "hollow" : "trial"} ${hue}`, cx, cy, r: 3 }));
      }
      return out;
    },
  };
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

function told(t: Trial): string {
  return `round ${t.block}, ${t.at.toFixed(2)} s after the start: ${pretty(significant(t.seconds, "seconds"))}${t.warmup ? ", warming up" : ""}`;
}
