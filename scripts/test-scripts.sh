#!/usr/bin/env bash
# Tests of the scripts: they parse, and they count what they should.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/count.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
good=0 bad=0
is() { # is WHAT FOUND EXPECTED
  if [ "$2" = "$3" ]; then good=$((good + 1)); else bad=$((bad + 1)); echo "$1: found '$2', expected '$3'"; fi
}
counts() { # counts CODE, with the log on standard input
  cat >"$log"
  local p f s
  count "$log" "$1"
  echo "$p $f $s"
}

for script in scripts/*.sh .ci/run; do
  is "$script parses" "$(bash -n "$script" 2>&1)" ""
done
is "cargo test is summed over its binaries" "$(counts 101 <<'T'
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s
test result: FAILED. 12 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
T
)" "15 2 1"
is "a skip that a test printed is no pass" "$(counts 0 <<'T'
---- hosts::two stdout ----
skipped: network namespaces take root
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
T
)" "2 0 1"
is "what a test left out of its variants is skipped, and the test passed" "$(counts 0 <<'T'
not run: these tests over sctp: making a socket of it: Protocol not supported
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
T
)" "3 0 1"
is "commands of a page that are not run are counted by its own closing line alone" "$(counts 0 <<'T'
not run: docs/lab.md:3: pipegauge lab (needs root)
5 passed, 0 failed, 1 skipped
T
)" "5 0 1"
is "node's runner is read" "$(counts 0 <<'T'
# tests 7
# pass 5
# fail 0
# skipped 2
T
)" "5 0 2"
is "a plain closing line is read" "$(counts 0 <<'T'
ok - a thing
14 passed, 0 failed
T
)" "14 0 0"
is "a script that can't run here is skipped" "$(counts 0 <<'T'
skipped: node is not installed
1 passed, 0 failed
T
)" "0 0 1"
is "a part without a runner is one test" "$(counts 0 </dev/null)" "1 0 0"
is "a part that fails without a runner is one failure" "$(counts 1 </dev/null)" "0 1 0"
is "a part that breaks after its tests is a failure" "$(counts 101 <<'T'
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
T
)" "3 1 0"
is "a runner that found no test is a failure" "$(counts 0 <<'T'
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.10s
T
)" "0 1 0"
is "what failed is told in a line each" "$(cat >"$log" <<'T'
running 3 tests
.F
failures:

---- serving::lost stdout ----
a line before
thread 'serving::lost' (77) panicked at tests/serving.rs:9:5:
no answer within 10 s
note: run with `RUST_BACKTRACE=1`
---- other::one stdout ----
Error: "no place"

failures:
    serving::lost
    other::one

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
T
failures "cargo test" "$log")" "failed: cargo test: serving::lost: tests/serving.rs:9:5: no answer within 10 s
failed: cargo test: other::one: no account"
is "of a part without a runner the last lines tell what failed" "$(printf '%s\n' one two three four >"$log"; failures loom "$log")" \
  "failed: loom: two
failed: loom: three
failed: loom: four"
is "an unknown goal of the set-up is refused" "$(scripts/setup.sh nonsense >/dev/null 2>&1; echo $?)" 2
is "make bench holds like against like (scripts/test-bench.py)" "$(python3 scripts/test-bench.py 2>&1)" "46 passed, 0 failed"
is "programs of others are run and read, their curves fitted, and rates of groups drawn (scripts/test-sockets.py)" "$(python3 scripts/test-sockets.py 2>&1)" "8 passed, 0 failed"
is "the documents are read, checked and renewed by rule (scripts/test-docs.py)" "$(python3 scripts/test-docs.py 2>&1)" "18 passed, 0 failed"

echo "test result: scripts. $good passed; $bad failed; 0 ignored"
[ "$bad" -eq 0 ]
