// Words of a graph: none lies over another or leaves its frame, however many paths there are and however long their names.
import assert from "node:assert/strict";

/** Words of graphs that overlap or leave their graph, told by their boxes on the screen; and whether the page is wider than the window. */
function collisions() {
  const out = [];
  let all = 0;
  for (const graph of document.querySelectorAll("svg")) {
    const frame = graph.getBoundingClientRect();
    const texts = [...graph.querySelectorAll("text")].map((t) => ({ words: t.textContent, box: t.getBoundingClientRect() }));
    const seen = frame.width > 0 ? texts.filter((t) => t.words && t.box.width > 0) : [];
    all += seen.length;
    seen.forEach((a, i) => {
      const { left, right, top, bottom } = a.box;
      if (left < frame.left - 0.5 || right > frame.right + 0.5 || top < frame.top - 0.5 || bottom > frame.bottom + 0.5) out.push(`${a.words} leaves the graph`);
      for (const b of seen.slice(0, i)) {
        const wide = Math.min(right, b.box.right) - Math.max(left, b.box.left);
        // A line's box has room above and below its letters.
        const high = Math.min(bottom, b.box.bottom) - Math.max(top, b.box.top);
        if (wide > 0.5 && high > 2.5) out.push(`${a.words} lies over ${b.words}`);
      }
    });
  }
  if (document.documentElement.scrollWidth > innerWidth) out.push(`the page is ${document.documentElement.scrollWidth} wide`);
  return { out, all };
}

export async function labels({ check, shot }) {
  for (const file of ["crowd-1.html", "crowd-3.html", "crowd-6.html", "crowd-12.html", "marked.html", "rates.html", "flows.html", "odd.html"]) {
    for (const width of [1280, 700, 400]) {
      await check(`no words collide: ${file}, ${width} pixels wide`, file, { viewport: { width, height: 900 } }, async (page) => {
        const fits = page.locator('[data-over="fits"]');
        for (const drawn of [false, true]) {
          if (drawn && !(await fits.isVisible())) continue;
          if (drawn) await fits.click();
          const { out, all } = await page.evaluate(collisions);
          assert.deepEqual(out, [], drawn ? "with fits" : "without fits");
          assert.ok(all > 20, `${all} texts`);
        }
        await shot(page, `words-${file}-${width}`);
      });
    }
  }
}
