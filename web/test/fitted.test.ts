import assert from "node:assert/strict";
import { test } from "node:test";
import type { Series } from "../src/data";
import { bandwidthCurve, bitsAt, knee, ladder, latencyLines, type Models } from "../src/fitted";

const SIZES = Float64Array.from({ length: 21 }, (_, i) => 2 ** i);

/** A path of t0 + b B, whose transfers count 8 bits a byte and 8 more (an answer of a byte). */
function series(models: Models | null, sizes = SIZES): Series {
  const time = sizes.map((s) => 1e-5 + 1e-9 * s);
  const rate = sizes.map((s, i) => (8 * s + 8) / time[i]!);
  return { path: { models }, size: sizes, time, rate } as unknown as Series;
}

const models: Models = {
  lines: [{ from: 1, to: 1024, t0: 1e-5, per_byte: 1e-9 }, { from: 1025, to: 2 ** 20, t0: -1e-3, per_byte: 2e-9 }],
  bandwidth: { r_max: 8e9, n_half: 10_000 },
  saturation: { point: 10_000, interval: null, seconds: 2e-5 },
  notes: [],
};

test("a transfer's bits are known between and beyond the sizes that were measured", () => {
  const s = series(models);
  for (const size of [1, 3, 1000, 2 ** 20]) assert.ok(Math.abs(bitsAt(s, size) / (8 * size + 8) - 1) < 1e-9, String(size));
  assert.ok(Math.abs(bitsAt(series(models, Float64Array.of(64)), 128) / 1040 - 1) < 1e-9);
});

test("models are drawn within the range, and nowhere where they mean nothing", () => {
  const s = series(models);
  const [first, second] = latencyLines(s, 4, 2 ** 20);
  assert.deepEqual([first![0]!.size, first!.at(-1)!.size], [4, 1024]);
  assert.ok(second!.every((p) => p.time > 0 && p.rate > 0), "a line below zero is no time");
  const curve = bandwidthCurve(s, 1, 2 ** 20);
  const half = curve.reduce((best, p) => (Math.abs(p.size - 10_000) < Math.abs(best.size - 10_000) ? p : best));
  assert.ok(Math.abs(half.rate / 4e9 - 1) < 0.1);
  assert.equal(knee(s, 1, 2 ** 20)!.size, 10_000);
  assert.equal(knee(s, 1, 100), undefined);
  assert.deepEqual([latencyLines(series(null), 1, 9), bandwidthCurve(series(null), 1, 9), knee(series(null), 1, 9)], [[], [], undefined]);
});

test("a ladder holds both ends and nothing that is no size", () => {
  assert.deepEqual([ladder(8, 8), ladder(9, 8), ladder(0, 8)], [[8], [], []]);
  assert.deepEqual([ladder(2, 8)[0], ladder(2, 8).at(-1)], [2, 8]);
});
