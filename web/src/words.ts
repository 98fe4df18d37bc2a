/** What graphs do not show, in words. */

import { compared, PERCENTILES, percentile } from "./curves";
import type { Series } from "./data";
import { common, comparable } from "./overhead";
import type { State } from "./state";
import { size } from "./units";

const WHY = "an iteration's time is taken by itself only where reading the clock costs at most 1% of it, and never where the far side keeps the time";

const [MEDIAN] = PERCENTILES;

/** Where a path has no percentiles. */
export function gap(state: State, s: Series | undefined): string {
  if (!s) return "";
  const [first, last] = state.window(s);
  let timed = 0;
  let from: number | undefined;
  for (let n = first; n <= last; n++) {
    if (percentile(s, MEDIAN, n) === undefined) continue;
    timed++;
    from ??= s.size[n]!;
  }
  const all = last - first + 1;
  const few = rare(s, first, last);
  if (all <= 0 || timed === all) return few;
  if (timed === 0) return `${s.path.name}: single iterations were not timed at any of these sizes; ${WHY}.`;
  return `${s.path.name}: single iterations were timed at ${timed} of these ${all} sizes, the smallest ${size(from!)}; ${WHY}. ${few}`.trimEnd();
}

/** Where too few iterations were timed for the rarest percentiles. */
function rare(s: Series, first: number, last: number): string {
  let few = 0;
  for (let n = first; n <= last; n++) if (percentile(s, MEDIAN, n) !== undefined && s.columns.iterations[s.rows[n]!]! < 1000) few++;
  return few > 0 ? `p99.9 takes 1,000 iterations, p99 100 and p90 10; at ${few} of the sizes fewer than 1,000 were timed.` : "";
}

/** Paths whose times are of another kind than the base's. */
export function uncompared(state: State): string {
  const { base } = state.choice;
  if (!base) return state.series.length > 1 ? "No two paths have times of one kind." : "";
  const other = state.shown().filter((s) => s !== base && !comparable(s, base));
  if (other.length === 0) return "";
  const kinds = [...new Set(other.map((s) => s.path.time))].join(", ");
  return `Not held against ${base.path.name}, whose times are ${base.path.time}: ${other.map((s) => s.path.name).join(", ")} (${kinds}).`;
}

/** Sizes at which a path costs no more than the base, which have no place on a logarithmic axis. */
export function unplaced(state: State): string {
  const { base } = state.choice;
  if (!base || state.choice.rest === "linear") return "";
  const words = compared(state).flatMap((s) => {
    const [b, a] = common(base, s);
    let [within, cheaper] = [0, 0];
    for (let i = 0; i < a.length; i++) {
      if (!state.inRange(s.size[a[i]!]!)) continue;
      within++;
      if (s.time[a[i]!]! <= base.time[b[i]!]!) cheaper++;
    }
    return cheaper > 0 ? [`${s.path.name} costs no more than ${base.path.name} at ${cheaper} of ${within} sizes, which have no place on this axis (a linear one shows them).`] : [];
  });
  return words.join(" ");
}
