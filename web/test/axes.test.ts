import assert from "node:assert/strict";
import { test } from "node:test";
import { leaves, ordered, scale } from "../src/chart";
import type { Curve, Pair } from "../src/curves";
import { reaches } from "../src/overlay";

const AXIS = { kind: "bitsPerSecond", quantity: "rate", spread: "linear", title: "Throughput" } as const;

/** A curve of three points with these intervals of the rate. */
function curve(intervals: readonly (Pair | undefined)[], least = 1e9): Curve {
  const [x, y] = [[1, 2, 3], [50, 100, 80]];
  return {
    name: "tcp", look: "", series: {} as Curve["series"], x, y, size: x, index: (i) => i,
    ends: (i) => { const ends = intervals[i]; return ends && [[x[i]!, ends[0]], [x[i]!, ends[1]]]; },
    least: (i) => [x[i]!, least], flags: false, gaps: false,
  };
}

test("an axis holds medians and resolved intervals, and no shortest trial", () => {
  const top = (c: Curve) => scale(AXIS, [c], 1)!.high;
  const calm = top(curve([]));
  assert.equal(top(curve([undefined, [90, 120], undefined])), calm * 1.2);
  assert.equal(top(curve([undefined, [4, 326], undefined])), calm, "an interval that says nothing");
  assert.equal(top(curve([undefined, [60, 500], undefined])), calm * 2, "no further than twice the medians");
  assert.ok(scale(AXIS, [curve([undefined, [90, 120], undefined])], 1, [1, 1])!.high < calm, "a part of the x axis alone");
});

test("what leaves the frame is marked where it leaves", () => {
  const box = { left: 0, right: 100, top: 0, bottom: 100 };
  assert.deepEqual(leaves([50, 50], [50, -50], box), { side: "top", at: [50, 0] });
  assert.deepEqual(leaves([50, 50], [150, 100], box), { side: "right", at: [100, 75] });
  assert.equal(leaves([50, 50], [99, 1], box), undefined);
});

test("names of curves one below the other keep their order where a curve ends early", () => {
  // max, p99.9 and p99 end early and low, p90, p50.
  assert.deepEqual(ordered([50, 300, 280, 100, 120]), [50, 100, 100, 100, 120]);
});

test("a mark below all sizes of a graph is not in it", () => {
  const series = {} as Curve["series"];
  const ground = { placed: [{ curve: { series, size: [24_576, 65_536] } }] } as unknown as Parameters<typeof reaches>[0];
  assert.equal(reaches(ground, series, 51, 51), false);
  assert.equal(reaches(ground, series, 32_768, 32_768), true);
});
