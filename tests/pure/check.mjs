// node check.mjs MODULE.wasm FIGURES.tsv
// Fails where the module imports anything, where a clock, files, the network or the environment are linked into it, or where
// it reckons otherwise than FIGURES, which `cargo run --example figures` printed here.
//
// Imports alone would not do: Rust's standard library for wasm32-unknown-unknown imports nothing, its clock and its files
// are stubs that panic or fail. So the names of the functions that were linked are read as well.
import { readFileSync } from "node:fs";

const [file, expected] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const faults = [];

for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
  faults.push(`imports ${kind} ${from}.${name}`);
}

// In mangled names, "3std4time" stands for std::time. What only the panic handler needs of std is not among these.
const reaches = /3std(4time|2fs|3net|3env|7process|2io5stdio|4hash6random|3sys(4time|2fs|3net|3env|4args|5stdio|6random))/;
if (functions(module).length === 0) faults.push("holds no names of functions to judge it by");
for (const name of functions(module)) {
  if (reaches.test(name)) faults.push(`links ${name}`);
}

if (faults.length === 0) {
  const { count, figure } = new WebAssembly.Instance(module, {}).exports;
  const here = readFileSync(expected, "utf8").trim().split("\n").map((line) => line.split("\t"));
  if (count() !== here.length) faults.push(`knows ${count()} figures, this machine ${here.length}`);
  here.forEach(([name, text], i) => {
    const [there, number] = [figure(i), Number(text)];
    // Logarithms and powers come from another library there, and may differ in their last digit.
    if (!(Math.abs(there - number) <= 1e-9 * Math.abs(number))) faults.push(`${name}: ${there} there, ${number} here`);
  });
  console.log(`${here.length} figures agree; no imports; ${functions(module).length} functions`);
}
faults.forEach((fault) => console.log(`not pure: ${fault}`));
process.exit(faults.length === 0 ? 0 : 1);

// Names of all functions, from the module's name section.
function functions(module) {
  const [section] = WebAssembly.Module.customSections(module, "name");
  if (!section) return [];
  const bytes = new Uint8Array(section);
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const names = [];
  while (at < bytes.length) {
    const kind = bytes[at++];
    const end = number() + at;
    if (kind === 1) {
      for (let left = number(); left > 0; left--) {
        number();
        const length = number();
        names.push(new TextDecoder().decode(bytes.subarray(at, at + length)));
        at += length;
      }
    }
    at = end;
  }
  return names;
}
