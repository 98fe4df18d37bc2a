// The graphs: what they show, how they are linked, what lies over them.
import assert from "node:assert/strict";

export async function graphs({ check, lines, shot }) {
  const paper = ["signature", "throughput", "saturation"];

  await check("the graphs show four paths, and a toggle hides one in all of them", "one.html", {}, async (page) => {
    assert.equal(await page.locator(".panel").count(), 7);
    for (const graph of paper) assert.equal(await lines(page, graph), 4);
    assert.equal(await lines(page, "overhead"), 2, "tcp and unix over shm");
    const toggle = page.locator('[data-toggle="0-3"]');
    await toggle.click();
    assert.equal(await toggle.getAttribute("aria-pressed"), "false");
    for (const graph of paper) assert.equal(await lines(page, graph), 3);
    assert.equal(await lines(page, "overhead"), 1);
    await toggle.click();
    assert.equal(await lines(page), 4);
  });

  await check("hovering reads out every path and marks the same size in the linked graphs", "one.html", {}, async (page) => {
    await page.locator('.panel.throughput [data-series="0-3"] circle').nth(40).hover({ force: true });
    const tip = page.locator(".panel.throughput .tip");
    await tip.waitFor({ state: "visible" });
    const text = await tip.innerText();
    assert.match(text, /tcp/);
    assert.match(text, /[µm]s \[/);
    assert.match(text, /[GM]bit\/s/);
    assert.equal(await tip.locator("tr").count(), 4);
    for (const [graph, marks] of [["signature", 4], ["throughput", 4], ["saturation", 4], ["percentiles", 5], ["overhead", 2]]) {
      assert.equal(await page.locator(`.panel.${graph} .marks :is(.here, .other)`).count(), marks, `marks in ${graph}`);
    }
    await shot(page, "hover");
    await page.mouse.move(5, 5);
    await tip.waitFor({ state: "hidden" });
    assert.equal(await page.locator(".marks .here").count(), 0);
  });

  await check("percentiles follow the chosen path, and where there are none the page says why", "one.html", {}, async (page) => {
    const names = () => page.locator(".panel.percentiles .names text").allTextContents();
    assert.deepEqual((await names()).sort(), ["max", "p50", "p90", "p99", "p99.9"]);
    assert.match(await page.locator(".panel.percentiles .note").innerText(), /^p99\.9 takes 1,000 iterations.* at \d+ of the sizes fewer/);
    // Long messages had fewer iterations: p99.9 ends before p99 does.
    const ends = await page.locator(".panel.percentiles .curve .median").evaluateAll((all) => Object.fromEntries(all.map((p) => [p.parentNode.getAttribute("class").match(/rank\d/)[0], p.getBBox().x + p.getBBox().width])));
    assert.ok(ends.rank3 < ends.rank2 && ends.rank2 <= ends.rank0, JSON.stringify(ends));
    const choose = page.locator(".panel.percentiles select");
    await choose.selectOption({ label: "unix" });
    assert.match(await page.locator(".panel.percentiles h3").innerText(), /: unix$/);
    assert.equal(await page.locator("#points select").inputValue(), "0-2", "the table of points follows");
    await choose.selectOption({ label: "memcpy" });
    assert.deepEqual(await names(), []);
    assert.match(await page.locator(".panel.percentiles .note").innerText(), /memcpy: single iterations were not timed at any of these sizes; .*at most 1%/);
    await shot(page, "no-percentiles");
    // The point of the size that was chosen before, in the other graphs as well.
    assert.match(await page.locator(".panel.histogram h3").innerText(), /^Histogram: memcpy at 1 B$/);
  });

  await check("overhead is read off against any base, in time and per cent", "one.html", { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    const panel = page.locator(".panel.overhead");
    assert.equal(await panel.locator("h3").innerText(), "Overhead over shm", "the fastest of those that can be compared");
    assert.match(await panel.locator(".note").innerText(), /Not held against shm.*memcpy \(copy\)/);
    const values = async () => {
      await panel.locator(".frame").focus();
      await page.keyboard.press("Home");
      return page.locator(".say").innerText();
    };
    const said = await values();
    // What the table of points says of both paths is what the graph subtracts.
    const median = async (key) => {
      await page.locator("#points select").selectOption(key);
      const [number, unit] = (await page.locator("#points tbody tr").first().locator("td").first().innerText()).split(" ");
      return Number(number) * { ns: 1e-9, "µs": 1e-6 }[unit];
    };
    const key = said.startsWith("tcp") ? "0-3" : "0-2";
    const [, number, unit, share] = /: adds ([\d.]+) (ns|µs)[^,]*(?:,[^,]*)? to shm, \+([\d,]+)%/.exec(said) ?? assert.fail(said);
    const [above, below] = [await median(key), await median("0-1")];
    assert.ok(Math.abs((Number(number) * { ns: 1e-9, "µs": 1e-6 }[unit]) / (above - below) - 1) < 0.01, said);
    assert.ok(Math.abs(Number(share.replaceAll(",", "")) / (100 * (above / below - 1)) - 1) < 0.02, said);
    await panel.locator("[data-copy-overhead]").click();
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).split("\n").map((l) => l.split("\t"));
    assert.equal(copied.length, 1 + 2 * 129, "two paths at every size");
    for (const [, , , time, below, added] of copied.slice(1)) assert.ok(Math.abs(Number(time) - Number(below) - Number(added)) < 1e-6 * Number(time));
    await panel.locator('[data-added="share"]').click();
    assert.match(await panel.locator(".axis.y .title").textContent(), /%/);
    await panel.locator("select").selectOption({ label: "over tcp" });
    assert.equal(await panel.locator("h3").innerText(), "Overhead over tcp");
    assert.match(await panel.locator(".note").innerText(), /shm costs no more than tcp at \d+ of \d+ sizes/);
    await page.locator('[data-axis="rest-linear"]').click();
    assert.equal(await panel.locator(".curve").count(), 2, "what is faster has a place on a linear axis");
    assert.equal(await panel.locator(".axis.y .zero").count(), 1);
    await shot(page, "overhead-linear");
  });

  await check("fitted models and saturation points lie over the curves when asked", "one.html", {}, async (page) => {
    assert.equal(await page.locator(".fit").count(), 0);
    const button = page.locator('[data-over="fits"]');
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    for (const graph of paper) {
      assert.equal(await page.locator(`.panel.${graph} .fit`).count(), 4, graph);
      assert.ok((await page.locator(`.panel.${graph} .fit .knee`).count()) >= 3, graph);
      assert.match(await page.locator(`.panel.${graph} .note`).innerText(), /Dash-dotted/);
    }
    const labels = await page.locator(".panel.signature .fit text").allTextContents();
    assert.ok(labels.some((l) => /^Rmax [\d.]+ Gbit\/s, n½ [\d.]+ (B|KiB)$/.test(l)), labels.join("; "));
    await shot(page, "fits");
    await button.click();
    assert.equal(await page.locator(".fit").count(), 0);
    assert.equal(await page.locator('[data-over="marks"]').count(), 0, "no marks, no button");
  });

  await check("marked ranges are shaded and named in every graph, and can be put away", "marked.html", {}, async (page) => {
    for (const graph of [...paper, "overhead"]) {
      const marks = page.locator(`.panel.${graph} .ranges [data-kind]`);
      assert.deepEqual(await marks.evaluateAll((all) => all.map((m) => m.dataset.kind).sort()), ["dip", "dip", "step"], graph);
    }
    assert.equal(await page.locator(".panel.percentiles .ranges [data-kind]").count(), 1, "of the path shown alone");
    const names = await page.locator(".panel.throughput .mark text").allTextContents();
    assert.deepEqual(names.sort(), ["dip of 23%", "dip of 31%", "step of +18%"]);
    // A step is one size wide and still seen.
    const widths = await page.locator(".panel.throughput [data-kind] rect").evaluateAll((all) => all.map((r) => r.getBBox().width));
    assert.ok(Math.min(...widths) >= 3);
    await page.locator('[data-over="fits"]').click();
    await shot(page, "marked");
    await page.locator('[data-over="marks"]').click();
    assert.equal(await page.locator("[data-kind]").count(), 0);
  });

  await check("axes switch between linear and logarithmic", "one.html", {}, async (page) => {
    const title = () => page.locator(".panel.throughput .axis.y .title").textContent();
    const button = page.locator('[data-axis="rate-log"]');
    await page.locator('[data-axis="rate-linear"]').click();
    assert.doesNotMatch(await title(), /log/);
    await button.click();
    assert.match(await title(), /log/);
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    await page.locator('[data-axis="rest-linear"]').click();
    assert.doesNotMatch(await page.locator(".panel.throughput .axis.x .title").textContent(), /log/);
  });

  await check("two runs share colours, differ by dash, and a run can be hidden as a whole", "two.html", {}, async (page) => {
    assert.equal(await lines(page), 8);
    assert.equal(await page.locator(".panel.signature .curve.dash1").count(), 4);
    await shot(page, "two-1280");
    await page.locator(".whole").last().click();
    assert.equal(await lines(page), 4);
    assert.equal(await page.locator(".panel.signature .curve.dash1").count(), 0);
  });
}
