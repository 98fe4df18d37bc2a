import assert from "node:assert/strict";
import { test } from "node:test";
import { added } from "../src/overhead";
import table from "./overhead.json";

type Side = { seconds: number; interval: [number, number] | null };
type Case = { below: Side; above: Side; extra: number; interval: [number, number] | null; share: number };

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b)) + 1e-20;

// The same table is checked against crates/model by a test of crates/report.
test("overhead is what the command's layers say", () => {
  for (const one of table as unknown as Case[]) {
    const time = (side: Side) => ({ seconds: side.seconds, interval: side.interval ?? undefined });
    const found = added(time(one.below), time(one.above));
    assert.ok(near(found.extra, one.extra) && near(found.share, one.share), JSON.stringify({ one, found }));
    assert.equal(found.interval === undefined, one.interval === null);
    if (found.interval && one.interval) assert.ok(found.interval.every((end, i) => near(end, one.interval![i]!)), JSON.stringify({ one, found }));
  }
  assert.ok((table as unknown[]).length >= 4);
});
