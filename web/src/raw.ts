/** The run file that the page carries, gzipped in parts (crates/report/src/html/raw.rs), as a file for the reader. */

import { bytes } from "./columns";
import type { RunData } from "./data";
import { byId, h, save } from "./dom";

async function unpacked(part: Uint8Array<ArrayBuffer>): Promise<Blob> {
  return new Response(new Blob([part]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
}

/** A button that unpacks the run and hands it over. */
export function download(run: RunData, r: number, several: boolean, say: (words: string) => void): HTMLElement {
  const b = h("button", { type: "button", "data-download": r }, several ? `Download run ${run.letter}` : "Download the run");
  b.addEventListener("click", async () => {
    const parts = Array.from({ length: run.parts }, (_, k) => bytes(byId(`raw-${r}-${k}`).textContent ?? ""));
    try {
      const texts = await Promise.all(parts.map(unpacked));
      save(run.file, new Blob(texts, { type: "application/x-ndjson" }));
      say(`${run.file}: ${texts.reduce((sum, t) => sum + t.size, 0).toLocaleString("en")} bytes.`);
    } catch {
      // A browser that can't unpack gets it as it is: gzip takes members one after another.
      save(`${run.file}.gz`, new Blob(parts, { type: "application/gzip" }));
      say(`This browser can't unpack it: ${run.file}.gz is for gunzip.`);
    }
  });
  return b;
}
