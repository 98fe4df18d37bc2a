// One point: chosen in any graph or in the table, its histogram and its trials.
import assert from "node:assert/strict";

export async function point({ check, shot }) {
  const heading = (page) => page.locator(".panel.histogram h3").innerText();

  await check("a click in any graph chooses a point, which is marked in all", "one.html", {}, async (page) => {
    for (const graph of ["signature", "throughput", "saturation", "overhead"]) {
      const dot = page.locator(`.panel.${graph} [data-series="0-2"] circle`).nth(30);
      await dot.scrollIntoViewIfNeeded();
      const { x, y } = await dot.evaluate((c) => {
        const r = c.getBoundingClientRect();
        return { x: r.x + r.width / 2, y: r.y + r.height / 2 };
      });
      await page.mouse.click(x, y);
      assert.match(await heading(page), /^Histogram: unix at [\d,]+ (B|KiB)$/, graph);
    }
    assert.match(await page.locator(".panel.percentiles h3").innerText(), /: unix$/);
    for (const graph of ["signature", "throughput", "saturation", "overhead"]) {
      assert.equal(await page.locator(`.panel.${graph} .marks .chosen`).count(), 1, graph);
    }
    assert.equal(await page.locator(".panel.percentiles .marks .chosen").count(), 5);
    assert.equal(await page.locator(".range .reset").isDisabled(), true, "a click is no brush");
  });

  await check("a size in the table chooses its point, and buttons step to the next", "one.html", {}, async (page) => {
    await page.locator("#points select").selectOption("0-2");
    await page.locator("#points .row", { hasText: /^64 B$/ }).click();
    assert.equal(await heading(page), "Histogram: unix at 64 B");
    assert.equal(await page.locator("#points .row[aria-pressed=true]").innerText(), "64 B");
    await page.locator('[data-step="1"]').click();
    assert.equal(await heading(page), "Histogram: unix at 67 B");
    await page.locator('[data-step="-1"]').click();
    await page.locator('[data-step="-1"]').click();
    assert.equal(await page.locator("#points .row[aria-pressed=true]").innerText(), "61 B");
  });

  await check("the histogram counts every single iteration and marks the percentiles", "one.html", { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await page.locator("#points .row", { hasText: /^1 KiB$/ }).click();
    const note = await page.locator(".panel.histogram .note").innerText();
    const total = Number(/^([\d,]+) single iterations/.exec(note)[1].replaceAll(",", ""));
    assert.ok(total > 100);
    await page.locator("[data-copy-bars]").click();
    const rows = (await page.evaluate(() => navigator.clipboard.readText())).split("\n").map((l) => l.split("\t"));
    assert.deepEqual(rows.shift(), ["from", "to", "iterations"]);
    assert.equal(rows.reduce((sum, r) => sum + Number(r[2]), 0), total);
    assert.ok(rows.every((r) => Number(r[1]) / Number(r[0]) < 1.04));
    const marks = (await page.locator(".panel.histogram .quantiles text").allTextContents()).join(" ");
    for (const name of ["p50", "p90", "p99", "p99.9", "max"]) assert.ok(marks.includes(name), marks);
    assert.match(await page.locator(".panel.histogram .axis.y .title").textContent(), /2% of time, log/);
    await page.locator('[data-counts="linear"]').click();
    assert.doesNotMatch(await page.locator(".panel.histogram .axis.y .title").textContent(), /log/);
    await page.locator(".panel.histogram .frame").focus();
    await page.keyboard.press("End");
    assert.match(await page.locator(".say").innerText(), /^[\d.]+ µs to [\d.]+ µs: [\d,]+ of [\d,]+ iterations; 100% took no longer$/);
    await page.locator(".panel.trials .frame").focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator(".say").innerText(), /^round 0, 0\.01 s after the start: .*, warming up$/);
    assert.match(await page.locator(".panel.trials .note").innerText(), /^5 trials, 1 of them while warming up/);
    await shot(page, "histogram");
  });

  await check("without single iterations the trials' times are shown, and it is said", "one.html", {}, async (page) => {
    await page.locator("#points select").selectOption("0-0");
    assert.match(await heading(page), /^Histogram: memcpy at /);
    assert.match(await page.locator(".panel.histogram .note").innerText(), /^Single iterations were not timed here: .*its 4 trials/);
    assert.equal(await page.locator(".panel.histogram .axis.y .title").textContent(), "Trials, log");
    assert.match((await page.locator(".panel.histogram .quantiles text").allTextContents()).join(), /^median /);
  });

  await check("bad figures never come out as NaN, and nothing breaks", "odd.html", {}, async (page) => {
    const keys = await page.locator("#points select option").evaluateAll((all) => all.map((o) => o.value));
    const everything = () => page.evaluate(() => document.querySelector("main").outerHTML);
    const clean = async (words) => {
      const html = await everything();
      for (const bad of ["NaN", "Infinity", "undefined", "null", "[object"]) assert.ok(!html.includes(bad), `${bad}: ${words} ${html.slice(Math.max(0, html.indexOf(bad) - 120), html.indexOf(bad) + 30)}`);
    };
    for (const key of keys) {
      await page.locator("#points select").selectOption(key);
      for (const spread of ["linear", "log"]) {
        await page.locator(`[data-axis="rest-${spread}"]`).click();
        await page.locator(`[data-axis="rate-${spread}"]`).click();
        await clean(`${key} ${spread}`);
      }
      const rows = page.locator("#points .row");
      for (let i = 0; i < (await rows.count()); i++) {
        await rows.nth(i).click();
        await clean(`${key} row ${i}`);
      }
    }
    await page.locator('[data-over="fits"]').click();
    for (const base of await page.locator(".panel.overhead option").evaluateAll((all) => all.map((o) => o.value))) {
      await page.locator(".panel.overhead select").selectOption(base);
      for (const as of ["share", "time"]) await page.locator(`[data-added="${as}"]`).click();
      await clean(`over ${base}`);
    }
    for (const graph of ["signature", "percentiles", "overhead", "histogram", "trials"]) {
      await page.locator(`.panel.${graph} .frame`).focus();
      for (const key of ["Home", "ArrowRight", "ArrowDown", "End", "Enter", "+", "+", "Escape"]) {
        await page.keyboard.press(key);
        await clean(`${graph} ${key}`);
      }
    }
    await shot(page, "odd");
  });
}
