#!/usr/bin/env bash
# test-bare.sh PROGRAM: a command built without its features says of each what is missing and how to get it, and exits with 2.
set -uo pipefail
program=$1 failed=0 passed=0
at=$(mktemp -d)
trap 'rm -rf "$at"' EXIT

refuses() { # refuses WORDS COMMAND...
  local words=$1 said code
  shift
  said=$("$@" 2>&1 </dev/null)
  code=$?
  if [ "$code" -eq 2 ] && grep -q -- "$words" <<<"$said"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $*: exit $code, not 2 with '$words': $said"
  fi
}

"$program" run theory --budget 1s --to 64 --no-history --no-html --quiet -o "$at/a.run.jsonl" >/dev/null || exit 1
refuses '--features parquet' "$program" export "$at/a.run.jsonl" --format parquet -o "$at/a.parquet"
refuses '--features live' "$program" live theory
refuses '--features quic' "$program" run quic --no-history
refuses '--features http' "$program" run http --no-history
refuses '--features websocket' "$program" run websocket --no-history
[ ! -e "$at/a.parquet" ] || { failed=$((failed + 1)); echo "failed: a.parquet was written"; }
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
