import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSize, pretty, short, significant, size, spanned, withInterval } from "../src/units";
import table from "./units.json";

// The same table is checked against crates/units by a test of crates/report.
test("figures read as the command prints them", () => {
  for (const kind of ["seconds", "bitsPerSecond"] as const) {
    for (const [value, long, tick] of table[kind] as [number, string, string][]) {
      assert.equal(significant(value, kind), long);
      assert.equal(short(value, kind), tick);
    }
  }
  for (const [value, text] of table.bytes as [number, string][]) assert.equal(size(value), text);
  // JSON has no infinity: an end that nothing bounds is null.
  for (const [value, low, high, text] of table.interval as [number, number | null, number | null, string][]) {
    assert.equal(withInterval(value, low ?? -Infinity, high ?? Infinity, "seconds"), text);
  }
});

test("rounds that give no interval are told by their range", () => {
  for (const [value, rounds, low, high, text] of table.spanned as [number, number, number, number, string][]) {
    assert.equal(spanned(value, rounds, low, high, "seconds"), text);
  }
});

test("a missing figure is unknown", () => {
  assert.equal(significant(NaN, "seconds"), "unknown");
});

test("sizes are read with and without units", () => {
  const cases: [string, number | undefined][] = [
    ["100", 100], ["64KiB", 65536], ["1.5 MiB", 1572864], ["64 kB", 64000], ["98,307 B", 98307],
    ["64K", undefined], ["", undefined], ["-1", undefined], ["1e3", undefined],
  ];
  for (const [text, bytes] of cases) assert.equal(parseSize(text), bytes, text);
});

test("micro is written as print has it", () => {
  assert.equal(pretty("9.23 us [8.9, 9.6]"), "9.23 µs [8.9, 9.6]");
  assert.equal(pretty("us"), "µs");
});
