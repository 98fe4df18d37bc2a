#!/usr/bin/env bash
# test-wasm.sh TARGET: the pure crates as a WebAssembly module that imports nothing and reckons as this machine does
# (tests/pure/check.mjs), and proof that the check sees what it is for. Closes with "N passed, N failed", or prints
# "skipped: why" where the machine can't build it.
set -uo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "$1")
# Counted as scripts/count.sh counts: a test that passed, taken back by its word that it was skipped.
skip() { printf 'skipped: %s\n1 passed, 0 failed\n' "$*"; exit 0; }

command -v node >/dev/null || skip "node is not installed"
# Built as all tests of the workspace are: another choice of features would build every crate below it again.
cargo build --workspace --features pipegauge/full --locked --quiet --target-dir "$target" --example figures || exit 1
"$target/debug/examples/figures" >"$target/figures.tsv" || exit 1

build=(cargo build --locked --quiet -p pipegauge-pure --lib --target wasm32-unknown-unknown --target-dir "$target/wasm")
# Few figures are computed there: optimising these crates takes longer than all of them. The standard library is optimised, since without that
# it links what none of these crates calls.
for crate in stats model; do build+=(--config "profile.dev.package.pipegauge-$crate.opt-level=0"); done
build+=(--config profile.dev.debug=false)
libs=$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)
if ! ls "$libs"/libcore-*.rlib >/dev/null 2>&1; then
  # This Rust has no such target: take one that brings its standard library's sources, and build that as well.
  why=$(scripts/wasm-rust.sh "$target/wasm-rust") || skip "this Rust has no wasm32-unknown-unknown target, and $why"
  root=$target/wasm-rust/root
  # It is no nightly; its standard library is built by the very compiler that it belongs to.
  export RUSTC_BOOTSTRAP=1 RUSTC=$root/usr/bin/rustc LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu
  [ -d "$LD_LIBRARY_PATH" ] || export LD_LIBRARY_PATH=$(dirname "$(ls "$root"/usr/lib/*/librustc_driver-*.so | head -n 1)")
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(ls "$root"/usr/lib/llvm-*/bin/wasm-ld | tail -n 1)
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER
  build+=(-Zbuild-std=std,panic_abort)
  unset RUSTC_WRAPPER RUSTFLAGS
  why=$(cargo fetch --locked --quiet -Zbuild-std=std,panic_abort --target wasm32-unknown-unknown 2>&1) ||
    skip "the standard library's own crates can't be fetched: $(tail -n 1 <<<"$why")"
fi

passed=0 failed=0
good() { passed=$((passed + 1)); echo "ok - $1"; }
bad() { failed=$((failed + 1)); echo "not ok - $1"; }
module=$target/wasm/wasm32-unknown-unknown/debug/pure.wasm
check() { node tests/pure/check.mjs "$module" "$target/figures.tsv"; }

"${build[@]}" || { echo "the module can't be built"; exit 1; }
if check; then good "stats, model, workload and units import nothing and reckon there as here"; else bad "the pure crates are pure"; fi
# breaks FEATURE FAULT: with the fault that FEATURE brings in, the check names it.
breaks() {
  local said
  "${build[@]}" --features "$1" || { bad "the module with $1 can't be built"; return; }
  said=$(check)
  if [ $? -ne 0 ] && grep -q "^not pure: .*$2" <<<"$said"; then good "$1 is found"; else bad "$1 is not found: $said"; fi
}
breaks import 'imports function host\.now'
breaks clock 'links .*Instant'
breaks print 'links .*stdio'
breaks files 'links .*fs'
breaks chance 'links .*random'
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
