import assert from "node:assert/strict";
import { test } from "node:test";
import { covering, invert, place, ticks, type Scale } from "../src/scale";
import { simplify, spread } from "../src/simplify";

const labels = (s: Scale, kind: "seconds" | "bytes" | "bitsPerSecond", about: number) =>
  ticks(s, kind, about).ticks.flatMap((t) => (t.label === undefined ? [] : [t.label]));

test("sizes are labelled at powers of two", () => {
  const s: Scale = { spread: "log", low: 1, high: 8 * 2 ** 20 };
  assert.deepEqual(labels(s, "bytes", 8), ["1 B", "16 B", "256 B", "4 KiB", "64 KiB", "1 MiB"]);
});

test("a small range of sizes gets binary steps in one unit", () => {
  const t = ticks({ spread: "log", low: 59_000, high: 72_000 }, "bytes", 6);
  assert.deepEqual([t.ticks.map((k) => k.label), t.unit], [["60", "64", "68"], "KiB"]);
});

test("times and rates are labelled at decades and round steps", () => {
  assert.deepEqual(labels({ spread: "log", low: 2e-7, high: 2e-3 }, "seconds", 6), ["1 us", "10 us", "100 us", "1 ms"]);
  assert.deepEqual(labels({ spread: "linear", low: 0, high: 38e9 }, "bitsPerSecond", 5), ["0", "10", "20", "30"]);
});

test("ticks never flood an axis", () => {
  for (const [low, high] of [[1e-9, 1e9], [1, 1.0000001], [1e300, 1e305], [1e-300, 1]] as const) {
    for (const kind of ["bytes", "seconds", "bitsPerSecond"] as const) {
      for (const sp of ["linear", "log"] as const) {
        const found = labels({ spread: sp, low, high }, kind, 6);
        assert.ok(found.length <= 12, `${low} ${high} ${kind} ${sp}: ${found.length}`);
      }
    }
  }
});

test("a place and its value belong together", () => {
  for (const spreadOf of ["linear", "log"] as const) {
    const s: Scale = { spread: spreadOf, low: 2, high: 2000 };
    for (const v of [2, 3, 77, 2000]) assert.ok(Math.abs(invert(s, place(s, v)) / v - 1) < 1e-12);
  }
  assert.ok(Number.isNaN(place({ spread: "log", low: 1, high: 2 }, 0)));
});

test("an axis has room for equal values and refuses none", () => {
  const one = covering("log", "seconds", 3, 3);
  assert.ok(one && one.low < 3 && one.high > 3);
  assert.equal(covering("log", "seconds", Infinity, 0), undefined);
});

test("simplifying keeps ends, dips and spikes", () => {
  const x = Float64Array.from({ length: 100_000 }, (_, i) => i / 200);
  const y = Float64Array.from(x, () => 100);
  y[1234] = 5;
  y[77_777] = 300;
  const kept = simplify(x, y);
  assert.ok(kept.length <= 4 * 500 + 4);
  for (const i of [0, 1234, 77_777, 99_999]) assert.ok(kept.includes(i), String(i));
});

test("labels keep clear of each other", () => {
  assert.deepEqual(spread([10, 50], 12, 0, 100), [10, 50]);
  assert.deepEqual(spread([50, 50], 12, 0, 100), [44, 56]);
  assert.deepEqual(spread([99, 98, 10], 12, 0, 100), [100, 88, 10]);
});
