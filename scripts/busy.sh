#!/usr/bin/env bash
# busy.sh COMMAND...: runs COMMAND while other programs hold every CPU, and ends these with it. A test that fails so is decided by
# timing.
set -u
[ $# -gt 0 ] || { echo "usage: scripts/busy.sh COMMAND..." >&2; exit 2; }
loops=()
trap 'kill -KILL "${loops[@]}" 2>/dev/null' EXIT
for _ in $(seq "$(nproc)"); do
  bash -c 'while :; do :; done' &
  loops+=($!)
done
"$@"
