// Bundles the report's script and style into crates/report/assets, where the Rust crate embeds them. With --check
// nothing is written: it fails if what is there was not built from these sources.
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const check = process.argv.includes("--check");

const built = await build({
  entryPoints: { report: here("src/main.ts") },
  outdir: here("../crates/report/assets"),
  bundle: true,
  format: "iife",
  target: ["es2022"],
  minify: true,
  charset: "ascii",
  legalComments: "none",
  logLevel: check ? "warning" : "info",
  write: !check,
});

for (const file of check ? built.outputFiles : []) {
  if (readFileSync(file.path, "utf8") !== file.text) {
    console.error(`${file.path} is older than its source: run npm run build in web/ and commit the result`);
    process.exitCode = 1;
  }
}
