import assert from "node:assert/strict";
import { test } from "node:test";
import { counts, exact, flags, floats, sizes, Varints } from "../src/columns";
import { binned, lowerEnd, shareUpTo, Trials } from "../src/trials";

const base64 = (bytes: ArrayBuffer | number[]) => Buffer.from(bytes as ArrayBuffer).toString("base64");
const varint = (n: number): number[] => (n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))]);

test("columns come back as they went, and empty ones as nothing", () => {
  assert.deepEqual([...floats(base64(Float32Array.of(1.5, NaN).buffer), 2)], [1.5, NaN]);
  assert.deepEqual([...floats("", 2)], [NaN, NaN]);
  assert.deepEqual([...sizes(base64(Float64Array.of(2 ** 52 + 1).buffer))], [2 ** 52 + 1]);
  assert.deepEqual([...counts(base64(Uint32Array.of(7, 2 ** 32 - 1).buffer))], [7, 2 ** 32 - 1]);
  assert.deepEqual([...flags("", 2)], [0, 0]);
  assert.equal(exact(Math.fround(9.6e-6)), 9.6e-6);
  const read = new Varints(Uint8Array.from([...varint(0), ...varint(300), ...varint(2 ** 40)]));
  assert.deepEqual([read.next(), read.next(), read.next(), read.next()], [0, 300, 2 ** 40, 0]);
});

// Rust's half: crates/report/src/html/trials.rs.
test("steps of a histogram lie end to end", () => {
  assert.deepEqual([63, 64, 65, 95, 96].map(lowerEnd), [63, 64, 66, 126, 128]);
  for (let step = 1; step < 1300; step++) {
    const width = lowerEnd(step + 1) / lowerEnd(step);
    assert.ok(width > 1 && (step < 64 || width < 1.032), `${step}: ${width}`);
  }
});

test("a point's histogram and trials are found among those of the path", () => {
  const none = [0];
  // Two trials, half a round trip, three steps.
  const some = [2, 2, 3, ...varint(600), ...varint(1000), 1, 5, ...varint(200), 1];
  const raw = {
    count: base64(Uint32Array.of(1, 0, 2).buffer),
    at: base64(Float32Array.of(0.5, 1, 2).buffer),
    seconds: base64(Float32Array.of(1e-6, NaN, 3e-6).buffer),
    block: base64(Uint32Array.of(0, 1, 2).buffer),
    warmup: base64([1, 0, 0]),
  };
  const trials = new Trials(raw, base64([...none, ...some, ...none, ...some]), 4);
  assert.equal(trials.histogram(0), undefined);
  assert.equal(trials.histogram(2), undefined);
  assert.deepEqual(trials.histogram(1), trials.histogram(3));
  const found = trials.histogram(3)!;
  assert.deepEqual([found.trials, found.total, found.bars.map((b) => b.count)], [2, 1006, [1000, 5, 1]]);
  assert.equal(found.bars[0]!.from, (lowerEnd(600) * 1e-9) / 2);
  assert.equal(found.bars[1]!.from, found.bars[0]!.to, "neighbours touch");
  assert.ok(Math.abs(shareUpTo(found.bars, 1) - 1005 / 1006) < 1e-12);
  assert.deepEqual(trials.of(0).map((t) => [t.block, t.warmup]), [[0, true]]);
  assert.deepEqual(trials.of(1), []);
  assert.deepEqual(trials.of(2).map((t) => [t.block, t.warmup]), [[1, false], [2, false]]);
  assert.equal(new Trials(raw, "", 3).histogram(0), undefined);
});

test("few values get bars that hold them all, and odd ones none", () => {
  const bars = binned([1e-6, 1.1e-6, 1.2e-6, NaN, 0, -1, Infinity, 5e-6]);
  assert.equal(bars.reduce((sum, b) => sum + b.count, 0), 4);
  assert.ok(bars.every((b) => b.to > b.from && b.count > 0));
  assert.deepEqual(binned([2e-6, 2e-6]).map((b) => b.count), [2]);
  assert.deepEqual(binned([NaN, 0]), []);
});
