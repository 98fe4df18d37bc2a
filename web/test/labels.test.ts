import assert from "node:assert/strict";
import { test } from "node:test";
import { merged } from "../src/histogram";
import { Labels } from "../src/labels";
import { nearest, lowerBound } from "../src/search";
import { percent } from "../src/units";
import { covering } from "../src/scale";

test("labels keep clear of each other and of curves, within the box", () => {
  const curve = Array.from({ length: 60 }, (_, i) => [100 + i, 80] as const);
  const labels = new Labels({ left: 0, right: 300, top: 0, bottom: 200 }, curve);
  const placed = [0, 1, 2, 3].map(() => labels.near(110, 90, "a label")!);
  for (const [x, y] of placed) assert.ok(x > 0 && x + 7 * 6.7 <= 300 && y - 12 >= 0 && y <= 200);
  placed.forEach(([x, y], i) => {
    for (const [ox, oy] of placed.slice(0, i)) assert.ok(Math.abs(y - oy) >= 15 || Math.abs(x - ox) >= 7 * 6.7);
  });
  assert.equal(labels.near(110, 90, "far too long a label to find any room in this small box"), undefined);
  assert.equal(new Labels({ left: 0, right: 300, top: 0, bottom: 200 }).row(0, "at the edge")![0], 2);
});

test("percentiles of one value are one label", () => {
  assert.deepEqual(merged([["p50", 1e-6], ["p99", 2e-6], ["p99.9", 2.0001e-6], ["max", 2.0002e-6]]), [["p50", 1e-6], ["p99, p99.9, max", 2e-6]]);
});

test("places in columns", () => {
  assert.deepEqual([0, 1, 2, 9].map((v) => lowerBound([1, 2, 4], v)), [0, 0, 1, 3]);
  assert.deepEqual([0.1, 2.9, 3.1, 99].map((v) => nearest([1, 2, 4], v)), [0, 2, 2, 2]);
  assert.equal(nearest([1, 2, 4], 2.8), 1);
  assert.equal(nearest([], 3), -1);
});

test("shares have a sign, and an axis of them goes below zero only where it is linear", () => {
  assert.deepEqual([0.125, -0.5, 34, NaN].map(percent), ["+12.5%", "-50.0%", "+3,400%", "unknown"]);
  const axis = covering("linear", "percent", -20, 80)!;
  assert.ok(axis.low < -20 && axis.high > 80);
  assert.equal(covering("log", "percent", -20, 80), undefined);
  assert.ok(covering("linear", "percent", 0, 0)!.high > 0);
});
