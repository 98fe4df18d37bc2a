#!/usr/bin/env bash
# wasm-rust.sh DIR: a Rust that can make its own standard library for WebAssembly, unpacked into DIR from Debian's packages.
# For machines whose own Rust has no wasm32 target. Nothing is installed, so that no Rust that is there is disturbed (rustc-web
# conflicts with others), and no root is needed. Prints what is in the way and fails where it can't be had. Safe to run again.
set -euo pipefail
dir=$1
llvm_ld() { ls "$dir"/root/usr/lib/llvm-*/bin/wasm-ld 2>/dev/null | tail -n 1; }
# The versions unpacked; written last, so that half a copy is no copy.
[ -f "$dir/whole" ] && [ -n "$(llvm_ld)" ] && exit 0

for tool in apt-get apt-cache dpkg; do
  command -v $tool >/dev/null || { echo "there is no $tool to fetch one with"; exit 1; }
done
version=$(apt-cache policy rustc-web | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")
if [ -z "$version" ] || [ "$(printf '%s\n%s\n' "$oldest" "$version" | sort -V | head -n 1)" != "$oldest" ]; then
  echo "this system's packages have no Rust of $oldest or later (rustc-web is ${version:-not there})"
  exit 1
fi

# All packages that PACKAGE... stand on.
under() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" |
    grep -E '^[a-z]'
}
mapfile -t compiler < <(under rustc-web | grep -E '^lib(std-rust-web|llvm)')
llvm=$(printf '%s\n' "${compiler[@]}" | sed -n 's/^libllvm//p' | head -n 1)
wanted=(rustc-web rust-web-src "${compiler[@]}" "lld-$llvm")
for package in $(under "libllvm$llvm" "lld-$llvm"); do
  dpkg -s "$package" >/dev/null 2>&1 || wanted+=("$package")
done
rm -rf "$dir"
mkdir -p "$dir/debs" "$dir/root"
# Lists of packages that are older than the packages lead nowhere; only root can fetch new ones.
fetch() { (cd "$dir/debs" && apt-get download "${wanted[@]}"); }
if ! fetch >"$dir/log" 2>&1 && ! { [ "$(id -u)" = 0 ] && apt-get update >>"$dir/log" 2>&1 && fetch >>"$dir/log" 2>&1; }; then
  echo "its packages can't be fetched: $(grep -E '^E:' "$dir/log" | tail -n 1)"
  exit 1
fi
for deb in "$dir"/debs/*.deb; do dpkg -x "$deb" "$dir/root"; done
rm -rf "$dir/debs"
[ -n "$(llvm_ld)" ] || { echo "lld-$llvm holds no wasm-ld"; exit 1; }
echo "$version" >"$dir/whole"
