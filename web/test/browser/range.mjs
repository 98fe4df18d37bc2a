// The range of sizes: dragged, typed, zoomed, by pointer and by keys.
import assert from "node:assert/strict";

export async function size({ check, shot }) {
  const fields = (page) => page.locator(".range input").evaluateAll((all) => all.map((f) => f.value));

  await check("a brush narrows all graphs and the points to a size range, and reset shows all", "one.html", {}, async (page) => {
    const rows = () => page.locator("#points tbody tr").count();
    const all = await rows();
    const drawn = (graph) => page.locator(`.panel.${graph} .curve .median`).last().getAttribute("d");
    const before = await Promise.all(["signature", "throughput", "saturation", "percentiles", "overhead"].map(drawn));
    await page.locator(".panel.throughput").scrollIntoViewIfNeeded();
    const box = await page.locator(".panel.throughput .frame").boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 140, { steps: 5 });
    await page.mouse.up();
    const [from, to] = await fields(page);
    assert.notEqual(from, "1 B");
    assert.notEqual(to, "8,388,611 B");
    assert.ok((await rows()) < all, "the table follows");
    const after = await Promise.all(["signature", "throughput", "saturation", "percentiles", "overhead"].map(drawn));
    after.forEach((d, i) => assert.notEqual(d, before[i], "every graph follows"));
    const reset = page.locator(".range .reset");
    assert.equal(await reset.isEnabled(), true);
    await shot(page, "brushed");
    await reset.click();
    assert.equal(await rows(), all);
    assert.equal((await fields(page))[0], "1 B");
  });

  await check("a brush over a time axis zooms that axis, and escape shows all", "one.html", {}, async (page) => {
    const ticks = (graph) => page.locator(`.panel.${graph} .axis.x .tick`).allInnerTexts();
    const note = page.locator(".panel.signature figcaption .note");
    const all = [await ticks("signature"), await ticks("saturation")];
    const frame = page.locator(".panel.signature .frame");
    await frame.scrollIntoViewIfNeeded();
    const box = await frame.boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 140, { steps: 5 });
    await page.mouse.up();
    const near = [await ticks("signature"), await ticks("saturation")];
    near.forEach((t, i) => assert.notDeepEqual(t, all[i], "both time axes are zoomed"));
    const said = await note.innerText();
    assert.match(said, /^Only \S+ \S+ to \S+ \S+ is shown/);
    // What lies beyond is cut off, and the sizes follow.
    assert.equal(await page.locator(".panel.signature g[clip-path]").count(), 1);
    assert.equal(await page.locator(".range .reset").isEnabled(), true);
    await shot(page, "zoomed-times");
    await frame.focus();
    await page.keyboard.press("Escape");
    assert.deepEqual([await ticks("signature"), await ticks("saturation")], all);
    assert.doesNotMatch(await note.innerText(), /Only/);
  });

  await check("a brush over the trials' time shows a part of them", "one.html", {}, async (page) => {
    const frame = page.locator(".panel.trials .frame");
    await frame.scrollIntoViewIfNeeded();
    const dots = () => page.locator(".panel.trials circle").count();
    const all = await dots();
    const box = await frame.boundingBox();
    const drag = async (from, to) => {
      await page.mouse.move(box.x + box.width * from, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * to, box.y + 90, { steps: 4 });
      await page.mouse.up();
      await page.mouse.move(box.x + box.width * 0.5, box.y - 20);
    };
    await drag(0.1, 0.6);
    const part = await dots();
    assert.ok(part > 0 && part < all, `${part} of ${all}`);
    assert.match(await page.locator(".panel.trials figcaption .note").innerText(), /escape or a double click shows all/);
    await frame.dblclick({ position: { x: 200, y: 40 } });
    assert.equal(await dots(), all);
  });

  await check("typed sizes set the range, and a wrong one is marked", "one.html", {}, async (page) => {
    const [from, to] = [page.locator(".range input").first(), page.locator(".range input").last()];
    await from.fill("4KiB");
    await from.press("Enter");
    await to.fill("64 KiB");
    await to.press("Enter");
    const sizes = await page.locator("#points tbody th").allInnerTexts();
    assert.equal(sizes[0], "4 KiB");
    assert.equal(sizes.at(-1), "64 KiB");
    await from.fill("64K");
    await from.press("Enter");
    assert.equal(await from.getAttribute("aria-invalid"), "true");
  });

  await check("the strip's handles are sliders for the keyboard", "one.html", {}, async (page) => {
    const [low, high] = [page.getByRole("slider", { name: "Smallest message shown" }), page.getByRole("slider", { name: "Largest message shown" })];
    assert.equal(await low.getAttribute("aria-valuetext"), "1 B");
    await low.focus();
    for (let i = 0; i < 10; i++) await page.keyboard.press("PageUp");
    assert.equal(await low.getAttribute("aria-valuetext"), "1 KiB", "ten doublings");
    assert.equal((await fields(page))[0], "1 KiB");
    await page.keyboard.press("ArrowRight");
    assert.equal((await fields(page))[0], "1,085 B", "a twelfth of a doubling");
    await high.focus();
    await page.keyboard.press("Home");
    assert.equal((await fields(page))[1], "1,085 B", "not past the other");
    await page.keyboard.press("PageUp");
    await page.keyboard.press("Shift+PageUp");
    assert.deepEqual(await fields(page), ["2,170 B", "4,340 B"], "both move");
    const now = await high.evaluate((e) => [e.ariaValueMin, e.ariaValueNow, e.ariaValueMax].map(Number));
    assert.ok(now[0] < now[1] && now[1] < now[2], now.join());
    await page.keyboard.press("End");
    await low.focus();
    await page.keyboard.press("Home");
    assert.equal(await page.locator(".range .reset").isDisabled(), true, "all sizes again");
  });

  await check("the strip is dragged: a handle, the window, a new range", "one.html", {}, async (page) => {
    const strip = await page.locator(".strip").boundingBox();
    const drag = async (from, to) => {
      await page.mouse.move(strip.x + strip.width * from, strip.y + 16);
      await page.mouse.down();
      await page.mouse.move(strip.x + strip.width * to, strip.y + 16, { steps: 4 });
      await page.waitForTimeout(50);
      await page.mouse.up();
    };
    const share = () => page.locator(".handle").evaluateAll((all) => all.map((h) => parseFloat(h.style.left) / 100));
    const near = async (low, high, words) => {
      const at = await share();
      assert.ok(Math.abs(at[0] - low) < 0.02 && Math.abs(at[1] - high) < 0.02, `${words}: ${at}`);
    };
    await drag(0.3, 0.6);
    await near(0.3, 0.6, "a new range");
    await drag(0.45, 0.55);
    await near(0.4, 0.7, "the window moved");
    await drag(0.7, 0.9);
    await near(0.4, 0.9, "a handle moved");
    await shot(page, "strip");
    await drag(0.5, 5);
    await near(0.5, 1, "no further than there are sizes");
  });

  await check("the page is zoomed by buttons and by a pinch about the pointer", "one.html", {}, async (page) => {
    await page.getByRole("button", { name: "Zoom in" }).click();
    const [from, to] = await fields(page);
    assert.ok(from !== "1 B" && to !== "8,388,611 B");
    await page.getByRole("button", { name: "Zoom out" }).click();
    assert.equal(await page.locator(".range .reset").isDisabled(), true);
    await page.locator(".panel.throughput .frame").scrollIntoViewIfNeeded();
    const box = await page.locator(".panel.throughput .frame").boundingBox();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 90);
    const scrolled = await page.evaluate(() => scrollY);
    await page.keyboard.down("Control");
    for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -60);
    await page.keyboard.up("Control");
    await page.waitForFunction(() => !document.querySelector(".range .reset").disabled);
    assert.equal(await page.evaluate(() => scrollY), scrolled, "the page stayed");
    const [low, high] = await page.locator(".handle").evaluateAll((all) => all.map((h) => parseFloat(h.style.left)));
    assert.ok(low < 25 && high < 60, `the small sizes, where the pointer was: ${low} to ${high}`);
  });

  await check("the keyboard moves, tells, chooses, zooms and resets", "one.html", {}, async (page) => {
    await page.locator(".panel.signature .frame").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    const said = () => page.locator(".say").innerText();
    assert.match(await said(), /^memcpy, 2 B: copy /);
    await page.keyboard.press("ArrowDown");
    assert.match(await said(), /^shm, 2 B: RTT\/2 /);
    await page.keyboard.press("Enter");
    assert.match(await said(), /^Chosen: shm, 2 B/);
    assert.equal(await page.locator(".panel.histogram h3").innerText(), "Histogram: shm at 2 B");
    await page.keyboard.press("End");
    assert.match(await said(), /^shm, /);
    await page.keyboard.press("+");
    assert.notEqual((await fields(page))[0], "1 B");
    await page.keyboard.press("Escape");
    assert.equal((await fields(page))[0], "1 B");
    await page.locator(".panel.percentiles .frame").focus();
    await page.keyboard.press("Home");
    assert.match(await said(), /^shm, 1 B: p50 .*, p90 .*, max /);
  });
}
