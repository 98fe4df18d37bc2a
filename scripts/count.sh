# Sourced by test.sh: reads from a part's log how many tests passed, failed and were skipped, and which failed why.

sum() { awk '{ n += $1 } END { print n + 0 }'; }

# count LOG CODE: sets p, f and s.
#   libtest:      "test result: ok. 3 passed; 0 failed; 1 ignored; ..."
#   node --test:  "# pass 3", or with another sign where it writes for people
#   plain:        "3 passed, 0 failed" and perhaps ", 1 skipped" alone on a line
# A Rust test that can't run here prints "skipped: why" and returns: libtest takes it for passed, this does not. One that prints
# "not run: what: why" tried its other variants: it stays passed, and what it left out counts as skipped besides. (scripts/docs.py prints such
# lines, too, and counts them itself.)
# A log without a test runner's lines is one test, judged by its exit code.
count() {
  local log=$1 code=$2 said left_out
  from_libtest() { grep -E '^test result: ' "$log" | grep -oE "[0-9]+ $1" | sum; }
  from_node() { sed -nE "s/^(#|ℹ) $1 ([0-9]+)\$/\2/p" "$log" | sum; }
  plain() { grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | grep -oE "[0-9]+ $1" | sum; }
  said=$(grep -cE '^skipped: ' "$log")
  left_out=0
  if grep -q '^test result: ' "$log"; then left_out=$(grep -cE '^not run: ' "$log"); fi
  p=$(($(from_libtest passed) + $(from_node pass) + $(plain passed) - said))
  f=$(($(from_libtest failed) + $(from_node fail) + $(plain failed)))
  s=$(($(from_libtest ignored) + $(from_node skipped) + $(plain skipped) + said + left_out))
  if [ $((p + f + s)) -eq 0 ] && grep -q '^test result: ' "$log"; then
    f=1 # a test runner that found no test protects nothing
  elif [ $((p + f + s)) -eq 0 ]; then
    if [ "$code" -eq 0 ]; then p=1; else f=1; fi
  elif [ "$code" -ne 0 ] && [ "$f" -eq 0 ]; then
    f=1 # it broke before or after its tests
  fi
}

# failures NAME LOG: a line for each test of the part that failed, with the place and the first line of what it said; where no
# test runner says it, the log's last lines. The last lines of a run are what people and CI keep of it.
failures() {
  local name=$1 log=$2 said
  said=$(awk '
    function tell() { if (test != "") print test ": " (why == "" ? "no account" : why); test = why = "" }
    /^---- .* stdout ----$/ { tell(); test = $2 }
    test != "" && why == "" && place != "" { why = place " " $0; place = "" }
    test != "" && why == "" && / panicked at / { place = $0; sub(/.* panicked at /, "", place) }
    /^failures:$/ && seen++ % 2 { tell() }
    END { tell() }' < <(sed -n '/^failures:$/,/^test result/p' "$log"))
  [ -n "$said" ] || said=$(tail -n 3 "$log")
  printf '%s\n' "$said" | cut -c 1-400 | head -n 20 | sed "s|^|failed: $name: |"
}
