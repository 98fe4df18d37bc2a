// Opens the sample pages in a real Chromium and uses them as a person would: toggles, brush, keys, read-out, copy,
// download, theme. Makes the pages with the Rust example unless a folder with them is given.
//
//   node test/browser.mjs [FOLDER] [--pictures FOLDER]
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(0);
}

if (!existsSync(CHROMIUM)) skip(`${CHROMIUM} is not installed (Debian's package chromium; CHROMIUM names another)`);
const { chromium } = await import("playwright-core").catch(() => skip("playwright-core is not installed (npm ci in web/)"));

const words = process.argv.slice(2);
const at = words.indexOf("--pictures");
const pictures = at >= 0 ? words.splice(at, 2)[1] : undefined;
const scratch = mkdtempSync(join(tmpdir(), "pipegauge-browser-"));
const folder = words[0] ?? scratch;
if (!words[0]) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const args = ["run", "--quiet", "-p", "pipegauge-report", "--example", "sample_page", "--", folder];
  const made = spawnSync("cargo", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  assert.equal(made.status, 0, "the sample pages could not be made");
}
if (pictures) mkdirSync(pictures, { recursive: true });

const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true });
let passed = 0;
let failed = 0;

/** Opens a page, runs the steps, and checks that the page asked the network for nothing and complained of nothing. */
async function check(name, file, options, steps) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && complaints.push(m.text()));
  page.on("pageerror", (e) => complaints.push(String(e)));
  page.on("request", (r) => !r.url().startsWith("blob:") && requests.push(r.url()));
  const url = pathToFileURL(join(folder, file)).href;
  try {
    await page.goto(url);
    await steps(page);
    assert.deepEqual(complaints, [], "the console is clean");
    assert.deepEqual(requests, [url], "nothing but the page itself was asked for");
    passed += 1;
    console.log(`ok - ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`not ok - ${name}\n${error.stack}`);
  } finally {
    await context.close();
  }
}

const lines = (page, graph = "signature") => page.locator(`.panel.${graph} .curve`).count();
const shot = async (page, name) => pictures && (await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }));

await check("three graphs show four paths, and a toggle hides one in all of them", "one.html", {}, async (page) => {
  assert.equal(await page.locator(".panel").count(), 3);
  for (const graph of ["signature", "throughput", "saturation"]) assert.equal(await lines(page, graph), 4);
  const toggle = page.locator('[data-toggle="0-0"]');
  await toggle.click();
  assert.equal(await toggle.getAttribute("aria-pressed"), "false");
  for (const graph of ["signature", "throughput", "saturation"]) assert.equal(await lines(page, graph), 3);
  await toggle.click();
  assert.equal(await lines(page), 4);
});

await check("hovering reads out every path and marks the same size in the linked graphs", "one.html", {}, async (page) => {
  const dot = page.locator('.panel.throughput [data-series="0-3"] circle').nth(40);
  await dot.hover({ force: true });
  const tip = page.locator(".panel.throughput .tip");
  await tip.waitFor({ state: "visible" });
  const text = await tip.innerText();
  assert.match(text, /tcp/);
  assert.match(text, /[µm]s \[/);
  assert.match(text, /[GM]bit\/s/);
  assert.equal(await tip.locator("tr").count(), 4);
  for (const graph of ["signature", "throughput", "saturation"]) {
    assert.equal(await page.locator(`.panel.${graph} .marks circle`).count(), 4, `marks in ${graph}`);
  }
  await shot(page, "hover");
  await page.mouse.move(5, 5);
  await tip.waitFor({ state: "hidden" });
});

await check("a brush narrows all graphs and the points to a size range, and reset shows all", "one.html", {}, async (page) => {
  const rows = () => page.locator("#points tbody tr").count();
  const all = await rows();
  const frame = await page.locator(".panel.throughput .frame").boundingBox();
  await page.locator(".panel.throughput").scrollIntoViewIfNeeded();
  const box = await page.locator(".panel.throughput .frame").boundingBox();
  assert.ok(frame && box);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 140, { steps: 5 });
  await page.mouse.up();
  const [from, to] = await page.locator(".range input").evaluateAll((fields) => fields.map((f) => f.value));
  assert.notEqual(from, "1 B");
  assert.notEqual(to, "8,388,611 B");
  assert.ok((await rows()) < all, "the table follows");
  const reset = page.locator(".range .reset");
  assert.equal(await reset.isEnabled(), true);
  await shot(page, "brushed");
  await reset.click();
  assert.equal(await rows(), all);
  assert.equal(await page.locator(".range input").first().inputValue(), "1 B");
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

await check("the keyboard moves, tells, zooms and resets", "one.html", {}, async (page) => {
  await page.locator(".panel.signature .frame").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  const said = () => page.locator(".say").innerText();
  assert.match(await said(), /^memcpy, 2 B: copy /);
  await page.keyboard.press("ArrowDown");
  assert.match(await said(), /^shm, 2 B: RTT\/2 /);
  await page.keyboard.press("End");
  assert.match(await said(), /^shm, /);
  await page.keyboard.press("+");
  assert.notEqual(await page.locator(".range input").first().inputValue(), "1 B");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".range input").first().inputValue(), "1 B");
});

await check("light and dark follow the system and the button", "one.html", { colorScheme: "dark" }, async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await ground(), "rgb(20, 22, 26)");
  await shot(page, "dark-1280");
  await page.locator("#theme button").click();
  assert.equal(await ground(), "rgb(255, 255, 255)");
});

await check("tables are copied and the run is downloaded", "one.html", { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
  await page.locator("#points select").selectOption("0-3");
  await page.locator("#points .tools button").click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^size\tmedian\tlow\thigh\t/);
  assert.equal(copied.split("\n").length, 1 + (await page.locator("#points tbody tr").count()));
  await page.locator("section .copy").first().click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^Path\tTime is\tLatency/);
  const waiting = page.waitForEvent("download");
  await page.locator('[data-download="0"]').click();
  const file = await waiting;
  assert.equal(file.suggestedFilename(), "pipegauge-2026-11-21.run.jsonl");
  const events = readFileSync(await file.path(), "utf8").trim().split("\n").map((l) => JSON.parse(l).event);
  assert.equal(events[0], "run");
  assert.equal(events.at(-1), "end");
});

await check("two runs share colours, differ by dash, and a run can be hidden as a whole", "two.html", {}, async (page) => {
  assert.equal(await lines(page), 8);
  assert.equal(await page.locator(".panel.signature .curve.dash1").count(), 4);
  await shot(page, "two-1280");
  await page.locator(".whole").last().click();
  assert.equal(await lines(page), 4);
  assert.equal(await page.locator(".panel.signature .curve.dash1").count(), 0);
});

await check("a narrow page has no sideways scroll", "one.html", { viewport: { width: 480, height: 900 } }, async (page) => {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `${content} > ${window}`);
  await shot(page, "light-480");
  await page.locator("#theme button").click();
  await shot(page, "dark-480");
});

await check("no points and one point are said in words", "empty.html", {}, async (page) => {
  assert.match(await page.locator(".panel.signature .empty").textContent(), /no point was measured/);
  await shot(page, "empty");
});

await check("one point is drawn", "one-point.html", {}, async (page) => {
  assert.equal(await page.locator(".panel.signature .curve circle").count(), 1);
  await shot(page, "one-point");
});

await check("100,000 points stay fluid", "large.html", {}, async (page) => {
  assert.equal(await lines(page), 4);
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 12_000, `${nodes} elements`);
  const box = await page.locator(".panel.signature .frame").boundingBox();
  const spent = await page.evaluate(async ({ x, y }) => {
    const frame = document.querySelector(".panel.signature .frame");
    const start = performance.now();
    for (let i = 0; i < 50; i++) frame.dispatchEvent(new PointerEvent("pointermove", { clientX: x + i, clientY: y, bubbles: true }));
    const hover = (performance.now() - start) / 50;
    const again = performance.now();
    document.querySelector('[data-axis="rate-log"]').click();
    return { hover, redraw: performance.now() - again };
  }, { x: box.x + box.width / 2, y: box.y + box.height / 3 });
  // Told, not judged: a slow machine is no fault of the page.
  console.log(`  a hover step takes ${spent.hover.toFixed(1)} ms, a redraw of all graphs ${spent.redraw.toFixed(0)} ms`);
});

await check("paper shows everything and no buttons", "one.html", {}, async (page) => {
  await shot(page, "light-1280");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#tools").isVisible(), false);
  assert.equal(await page.locator(".panel").first().isVisible(), true);
  if (pictures) await page.pdf({ path: join(pictures, "print.pdf"), format: "A4" });
});

await browser.close();
rmSync(scratch, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
