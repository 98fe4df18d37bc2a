// The page as a whole: light and dark, narrow, paper, copying, downloading, names for screen readers, large and empty runs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export async function page({ check, lines, shot, pictures }) {
  await check("light and dark follow the system and the button", "one.html", { colorScheme: "dark" }, async (page) => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await ground(), "rgb(20, 22, 26)");
    await shot(page, "dark-1280");
    await page.locator("#theme button").click();
    assert.equal(await ground(), "rgb(255, 255, 255)");
  });

  await check("words and lines stand out from their ground in both themes", "marked.html", {}, async (page) => {
    await page.locator('[data-over="fits"]').click();
    for (const theme of ["light", "dark"]) {
      const low = await page.evaluate(() => {
        const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
        const light = (c) => {
          const [r, g, b] = rgb(c).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
        const ground = getComputedStyle(document.body).backgroundColor;
        const texts = [...document.querySelectorAll("main svg text, main p, main h2, main h3, main th, main td")];
        return texts
          .map((e) => [e.textContent, contrast(e instanceof SVGElement ? getComputedStyle(e).fill : getComputedStyle(e).color, ground)])
          .filter(([, c]) => c < 4.5)
          .map(([text, c]) => `${text}: ${c.toFixed(2)}`);
      });
      assert.deepEqual(low, [], theme);
      await page.locator("#theme button").click();
    }
  });

  await check("everything that can be used has a name, and headings come in order", "marked.html", {}, async (page) => {
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, select, input, [tabindex], [role=slider]")]
        .filter((e) => !e.getAttribute("aria-label") && !e.getAttribute("aria-labelledby") && !e.textContent.trim())
        .map((e) => e.outerHTML.slice(0, 80)),
    );
    assert.deepEqual(nameless, []);
    const levels = await page.evaluate(() => [...document.querySelectorAll("h1, h2, h3")].map((e) => Number(e.tagName[1])));
    assert.equal(levels.filter((l) => l === 1).length, 1);
    levels.forEach((l, i) => assert.ok(i === 0 || l <= levels[i - 1] + 1, levels.join()));
    assert.deepEqual(await page.evaluate(() => { const ids = [...document.querySelectorAll("[id]")].map((e) => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i); }), []);
    assert.equal(await page.locator("[role=status][aria-live=polite]").count(), 1);
    assert.ok((await page.locator("table th[scope]").count()) > 20);
  });

  await check("tables are copied and the run is downloaded", "one.html", { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await page.locator("#points select").selectOption("0-3");
    await page.locator("#points .tools button").click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^size_bytes\t(load_flows\t)?(flows\t)?median_s\tlow_s\thigh_s\t/);
    assert.equal(copied.split("\n").length, 1 + (await page.locator("#points tbody tr").count()));
    await page.locator("section .copy").first().click();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^Path\tTime is\tLatency/);
    const waiting = page.waitForEvent("download");
    await page.locator('[data-download="0"]').click();
    const file = await waiting;
    assert.equal(file.suggestedFilename(), "pipegauge-2026-11-21.run.jsonl");
    const events = readFileSync(await file.path(), "utf8").trim().split("\n").map((l) => JSON.parse(l));
    assert.equal(events[0].event, "run");
    assert.equal(events.at(-1).event, "end");
    assert.ok(events.some((e) => e.event === "trial" && e.histogram?.length > 3), "histograms too");
  });

  await check("a narrow page has no sideways scroll", "one.html", { viewport: { width: 480, height: 900 } }, async (page) => {
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(content <= window, `${content} > ${window}`);
    await shot(page, "light-480");
    await page.locator("#theme button").click();
    await shot(page, "dark-480");
  });

  await check("no points are said in words", "empty.html", {}, async (page) => {
    assert.match(await page.locator(".panel.signature .empty").textContent(), /no point was measured/);
    assert.doesNotMatch(await page.locator("main").innerText(), /NaN|undefined|Infinity/);
    await shot(page, "empty");
  });

  await check("one size has no graphs over sizes, and its times are shown", "one-point.html", {}, async (page) => {
    const graphs = await page.locator(".panel").evaluateAll((all) => all.map((p) => p.dataset.graph));
    assert.deepEqual(graphs, ["histogram", "trials"]);
    assert.ok((await page.locator(".panel.trials circle").count()) > 1);
    assert.equal(await page.locator("#tools").isVisible(), false, "nothing is left to choose");
    assert.doesNotMatch(await page.locator("main").innerHTML(), /NaN|undefined|Infinity/);
    assert.equal(await page.locator(".range").isVisible(), false, "one size is no range");
    await shot(page, "one-point");
  });

  await check("a run at several rates shows what was lost, and no graph over sizes", "rates.html", {}, async (page) => {
    assert.match(await page.locator("section .picture").first().textContent(), /Loss graph/);
    const graphs = await page.locator(".panel").evaluateAll((all) => all.map((p) => p.dataset.graph));
    assert.deepEqual(graphs, ["histogram", "trials"]);
    await shot(page, "rates");
  });

  await check("a run of several numbers of flows shows the total over them first", "flows.html", {}, async (page) => {
    assert.match(await page.locator("section .picture").first().textContent(), /Flows graph/);
    const graphs = await page.locator(".panel").evaluateAll((all) => all.map((p) => p.dataset.graph));
    assert.deepEqual(graphs.slice(0, 2), ["throughput", "percentiles"], "two sizes have no knee");
    await shot(page, "flows");
  });

  for (const [words, file] of [["100,000 points", "large.html"], ["100,000 trials", "trials.html"]]) {
    await check(`${words} can be worked with`, file, {}, async (page) => {
      assert.equal(await lines(page), 4);
      const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
      assert.ok(nodes < 16_000, `${nodes} elements`);
      const box = await page.locator(".panel.signature .frame").boundingBox();
      const strip = await page.locator(".strip").boundingBox();
      const spent = await page.evaluate(frames, { box, strip });
      // Told, not judged: a slow machine is no fault of the page.
      const told = Object.entries(spent).map(([what, ms]) => `${what} ${ms.map((v) => v.toFixed(0)).join(" and ")} ms`);
      console.log(`  ${words}: a typical frame and the longest: ${told.join(", ")}`);
      assert.notEqual(await page.locator(".range input").first().inputValue(), "");
      await page.locator("#points .row").nth(3).click();
      assert.ok((await page.locator(".panel.trials circle").count()) >= 1);
      const waiting = page.waitForEvent("download");
      await page.locator('[data-download="0"]').click();
      const text = readFileSync(await (await waiting).path(), "utf8");
      assert.ok(text.split("\n").length > 100_000);
      assert.equal(JSON.parse(text.slice(text.trimEnd().lastIndexOf("\n"))).event, "end");
    });
  }

  await check("paper shows everything and no buttons", "one.html", { colorScheme: "dark" }, async (page) => {
    await shot(page, "light-1280");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("#tools").isVisible(), false);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    for (const graph of await page.locator(".panel").all()) assert.equal(await graph.isVisible(), true);
    assert.match(await page.locator(".panel.percentiles h3").innerText(), /tcp/, "what was chosen is told without its button");
    if (pictures) await page.pdf({ path: join(pictures, "print.pdf"), format: "A4" });
    await fivePages(page);
  });

  await check("of seven paths with many warnings five pages go before the points, and all of the rest behind them", "noisy.html", {}, async (page) => {
    await page.emulateMedia({ media: "print" });
    if (pictures) await page.pdf({ path: join(pictures, "noisy.pdf"), format: "A4" });
    await fivePages(page);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    const said = await page.locator("#appendix").innerText();
    for (const words of ["a CPU quota stopped the measurement", "what was seen, the likely cause of it", "Machines", "Pieces and misfits"]) {
      assert.ok(said.includes(words), `the appendix has "${words}"`);
    }
    assert.equal(await page.locator("#appendix [id]").count(), 0, "an id names one element");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator("#appendix").count(), 0, "the screen is as it was");
    assert.equal(await page.locator("details[open]").count(), 0, "and what was folded, too");
  });
}

/** Five pages of paper at most go before the points and the appendix. */
async function fivePages(page) {
  const pages = async () => (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g).length;
  const all = await pages();
  await page.addStyleTag({ content: "#points, #appendix { display: none !important }" });
  const before = await pages();
  assert.ok(before <= 5 && before < all, `${before} pages before the points, ${all} in all`);
}

/** In the page: the median and the longest frame, milliseconds, while it is hovered, its strip dragged, zoomed, and drawn on another axis. */
async function frames({ box, strip }) {
  const longest = async (steps, act) => {
    const took = [];
    for (let i = 0; i < steps; i++) {
      await new Promise((done) => requestAnimationFrame(done));
      const start = performance.now();
      act(i / steps);
      // Style and layout are part of a frame.
      document.body.getBoundingClientRect();
      await new Promise((done) => requestAnimationFrame(done));
      document.body.getBoundingClientRect();
      took.push(performance.now() - start);
    }
    took.sort((a, b) => a - b);
    return [took[took.length >> 1], took.at(-1)];
  };
  const frame = document.querySelector(".panel.signature .frame");
  const bar = document.querySelector(".strip");
  const pointer = (target, kind, x, y) => target.dispatchEvent(new PointerEvent(kind, { clientX: x, clientY: y, bubbles: true, pointerId: 1 }));
  const hover = await longest(40, (t) => pointer(frame, "pointermove", box.x + box.width * (0.2 + 0.6 * t), box.y + box.height / 3));
  bar.setPointerCapture = () => undefined;
  pointer(bar, "pointerdown", strip.x + strip.width * 0.3, strip.y + 10);
  const brush = await longest(20, (t) => pointer(bar, "pointermove", strip.x + strip.width * (0.5 + 0.4 * t), strip.y + 10));
  pointer(bar, "pointerup", strip.x + strip.width * 0.9, strip.y + 10);
  document.querySelector(".reset").click();
  const zoom = await longest(6, () => document.querySelector(".zoom").click());
  document.querySelector(".reset").click();
  const redraw = await longest(4, (t) => document.querySelector(`[data-axis="rate-${t < 0.5 ? "log" : "linear"}"]`).click());
  return { hover, brush, zoom, redraw };
}
