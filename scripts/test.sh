#!/usr/bin/env bash
# Every test of the repository, part by part. A part's output goes to a log and is shown where it fails; the last lines are
# what failed, a line each, and the sum over all parts: N passed, N failed, N skipped.
#
# Counting: a part that runs a test runner counts its tests; any other part is one test. A Rust test that can't run here
# prints a line "skipped: why" and returns; it is counted as skipped, not as passed.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/count.sh
export PATH="$PATH:$HOME/.cargo/bin:/usr/sbin:/sbin"
export CARGO_TERM_COLOR=never NO_COLOR=1
target=${CARGO_TARGET_DIR:-target}
logs=$target/test-logs
mkdir -p "$logs"
rm -f "$logs/failures"
passed=0 failed=0 skipped=0

say() { printf '%-28s %s\n' "$1" "$2"; }

skip() { # skip NAME WHY
  skipped=$((skipped + 1))
  say "$1" "skipped: $2"
}

part() { # part NAME COMMAND...
  local name=$1 log code p f s
  shift
  log=$logs/${name//[^a-z0-9]/-}.log
  local TIMEFORMAT='%0R s, CPU %0U s + %0S s' took
  took=$({ time "$@" >"$log" 2>&1 </dev/null; } 2>&1; exit $?)
  code=$?
  count "$log" "$code"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  say "$name" "$p passed, $f failed, $s skipped ($took)"
  grep -E '^(skipped|not run): ' "$log" | sed 's/^/    /'
  if [ "$code" -ne 0 ]; then
    failures "$name" "$log" >>"$logs/failures"
    echo "---- $name failed; more in $log:"
    # libtest's account of what failed, or the end of whatever else it was.
    if grep -q '^failures:$' "$log"; then
      sed -n '/^failures:$/,/^test result/p' "$log" | head -n 200
    else
      tail -n 60 "$log"
    fi
    echo "----"
  fi
  return "$code"
}

# beside FUNCTION: begins its parts while others go on; joined FUNCTION waits for them and shows what they said.
declare -A beside
beside() {
  rm -f "$logs/$1.sum"
  (
    passed=0 failed=0 skipped=0
    "$1"
    echo "$passed $failed $skipped" >"$logs/$1.sum"
  ) >"$logs/$1.out" 2>&1 &
  beside[$1]=$!
}
joined() {
  wait "${beside[$1]}"
  cat "$logs/$1.out"
  local p=0 f=1 s=0
  read -r p f s <"$logs/$1.sum"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

in_web() { (cd web && "$@"); }

# The web part: its own tests, types, and whether the committed bundle is what its sources give.
web() {
  if [ ! -f web/package.json ]; then skip web "there is no web/package.json"; return; fi
  for tool in node npm; do
    command -v $tool >/dev/null || { skip web "$tool is not installed"; return; }
  done
  # Fetching what the tests need is no test, but failing at it is a failure.
  part "web: npm ci" in_web npm ci --no-audit --no-fund || return
  passed=$((passed - 1))
  local script
  for script in check verify test test:browser; do
    if ! in_web node -e 'process.exit(require("./package.json").scripts?.[process.argv[1]] ? 0 : 1)' "$script"; then
      continue
    fi
    if [ "$script" = test:browser ] && ! command -v chromium >/dev/null; then
      skip "web: $script" "chromium is not installed"
      continue
    fi
    part "web: $script" in_web npm run --silent "$script"
  done
}

# Every interleaving, in a folder of its own: these flags build all dependencies anew, optimised, but not across crates.
in_loom() {
  RUSTFLAGS="--cfg loom" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=false \
    cargo test --locked --quiet --release --target-dir "$target/loom" "$@"
}

# The pure crates must run where there is no system at all: nothing in them may reach for I/O or a clock.
pure() { part "pure crates for wasm" scripts/test-wasm.sh "$target"; }

# in_venv PART NAME PACKAGES -- COMMAND...: a part run by the Python of a virtual environment NAME that has the packages.
in_venv() {
  local part=$1 venv=$target/$2 log=$logs/$2.log packages=()
  shift 2
  while [ "$1" != -- ]; do packages+=("$1"); shift; done
  shift
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then skip "$part" "python3-venv is not installed"; return; fi
  if ! { [ -x "$venv/bin/python" ] || python3 -m venv "$venv"; } >"$log" 2>&1 ||
    ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >>"$log" 2>&1; then
    skip "$part" "${packages[*]} can't be installed: $(tail -n 1 "$log")"
    return
  fi
  part "$part" "$venv/bin/python" "$@"
}

# A Parquet file is read by somebody else's reader.
parquet() { in_venv "parquet in DuckDB" duckdb-venv 'duckdb==1.*' -- scripts/test-parquet.py "$target/debug/pipegauge"; }

# What the manual tells people to draw with gnuplot, matplotlib and Jupyter.
recipes() {
  in_venv recipes recipes-venv 'matplotlib==3.*' 'nbconvert==7.*' 'ipykernel' 'pandas' 'pyarrow' \
    -- scripts/test-recipes.py "$target/debug/pipegauge"
}

# A fresh clone is built once: what is kept for building it again would take gigabytes and be read by nobody.
# Nor does anybody run a debugger there: lines of a panic's frames cost a tenth of the build (its own place is known without).
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0

# The builds take 7 GiB (with CI set, on a fresh clone; some more where cargo keeps what builds again faster). A compiler that finds the disk full says so hundreds of lines from the cause.
mkdir -p "$target"
free=$(df --output=avail --block-size=1G "$target" | tail -n 1)
if [ ! -d "$target/debug/deps" ] && [ "$free" -lt 12 ]; then
  echo "tests: the builds need about 12 GiB in $target, and ${free// /} GiB are free: make room, or set CARGO_TARGET_DIR to a folder on another disk"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

# No test may read or add to the user's earlier runs.
PIPEGAUGE_HISTORY=$(mktemp -d)
export PIPEGAUGE_HISTORY
trap 'rm -rf "$PIPEGAUGE_HISTORY"' EXIT

began=$SECONDS
scripts/setup.sh lint || { echo "0 passed, 1 failed, 0 skipped"; exit 1; }
# What only tests need is fetched and installed while others build. Installing is no test, but failing at it is a failure.
set_up() { part "set-up" scripts/setup.sh test && passed=$((passed - 1)); }
beside set_up

if command -v rustfmt >/dev/null; then part "cargo fmt" cargo fmt --all --check; else skip "cargo fmt" "rustfmt is not installed"; fi
if command -v cargo-clippy >/dev/null; then
  part "cargo clippy" cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
else
  skip "cargo clippy" "clippy is not installed"
fi
# Before the tests, which build the same command with all features, so that nothing is built twice for the parts behind them.
# With an example the packages' dependencies have the features that they have in tests, so that most are built for both.
bare() {
  # Little is measured with it, so that the crates here are not optimised.
  cargo build --locked --quiet --workspace --no-default-features --bin pipegauge --example figures \
    --config profile.dev.opt-level=0 --config profile.dev.package.pipegauge-measure.opt-level=0 &&
    scripts/test-bare.sh "$target/debug/pipegauge"
}
part "without features" bare
joined set_up
part "tests of the scripts" scripts/test-scripts.sh
# Building is no test, but failing at it is a failure, of which one account is enough.
# What of it takes how long stands in target/cargo-timings.
built() {
  cargo test --workspace --features pipegauge/full --locked --no-run --quiet --timings &&
    # Libraries that others than Rust programs load.
    cargo build --workspace --features pipegauge/full --locked --quiet --lib --example figures
}
if part "build of the tests" built; then
  passed=$((passed - 1))
  # What needs the built command, and builds of their own with a browser: they wait as often as the tests do, and no time decides any of
  # them.
  documents() {
    parquet
    recipes
    part "links of the documents" python3 scripts/links.py
    in_venv "the manual's site" docs-venv 'mkdocs==1.6.*' -- scripts/site.py "$target/docs"
    part "import circles" python3 scripts/circles.py
    part "commands of the documents" python3 scripts/docs.py --check "$target/debug/pipegauge"
    part "make install" scripts/test-install.sh "$target/debug/pipegauge"
    part "the papers' figures" scripts/test-figures.sh "$target/debug/pipegauge"
  }
  others() {
    web
    part "loom" in_loom -p pipegauge-transport --lib shm::model
    part "loom: am" in_loom -p am --lib model
    part "loom: fastsock" in_loom -p fastsock --test model
    pure
  }
  beside documents
  beside others
  # --show-output: a skipped test says why on its standard output.
  part "cargo test" python3 scripts/test-rust.py --features pipegauge/full --locked
  joined documents
  joined others
fi

[ ! -s "$logs/failures" ] || cat "$logs/failures"
echo "logs: $logs; $((SECONDS - began)) s in all"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
