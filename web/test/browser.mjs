// Opens the sample pages in a real Chromium and uses them as a person would: the cases stand in browser/. Makes the pages
// with the Rust example unless a folder with them is given.
//
//   node test/browser.mjs [FOLDER] [--pictures FOLDER]
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { graphs } from "./browser/graphs.mjs";
import { labels } from "./browser/labels.mjs";
import { page as wholePage } from "./browser/page.mjs";
import { point } from "./browser/point.mjs";
import { size } from "./browser/range.mjs";

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
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const folder = words[0] ?? scratch;
if (!words[0]) {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  // As all tests of the workspace are built: another choice of features would build every crate below it again.
  const build = ["build", "--workspace", "--features", "pipegauge/full", "--locked", "--quiet", "--example", "sample_page"];
  const built = spawnSync("cargo", build, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  assert.equal(built.status, 0, "the program that makes the sample pages could not be built");
  const target = resolve(root, process.env.CARGO_TARGET_DIR ?? "target");
  const made = spawnSync(join(target, "debug", "examples", "sample_page"), [folder], { stdio: ["ignore", "ignore", "inherit"] });
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
  // A machine whose CPUs others hold takes far longer to open a page: no time decides a test.
  page.setDefaultTimeout(180_000);
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

const tools = { check, lines, shot, pictures };
for (const cases of [graphs, labels, size, point, wholePage]) await cases(tools);

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
