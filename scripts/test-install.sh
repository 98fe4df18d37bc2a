#!/usr/bin/env bash
# test-install.sh PROGRAM: `make install` puts a working command, its pages and completions where it was told to.
set -uo pipefail
cd "$(dirname "$0")/.."
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
good=0 bad=0
ok() { local what=$1; shift; if "$@" >/dev/null 2>&1; then good=$((good + 1)); else bad=$((bad + 1)); echo "failed: $what"; fi; }

# A run under fastsock, until `fastsock status` tells of a fast connection of its processes, which the mark in their environment tells from others.
through_the_ring() {
  local run found=1 process
  INSTALLED_IN=$there FASTSOCK_AFTER=4 "$there/usr/bin/pipegauge" run tcp:preload=fastsock --sizes 64 --budget 60s --no-html --no-history -o "$there/long.run.jsonl" &
  run=$!
  while [ $found -ne 0 ] && kill -0 $run; do
    for process in $("$there/usr/bin/fastsock" status | awk '/ fast /{ print $1 }'); do
      tr '\0' '\n' <"/proc/$process/environ" | grep -qx "INSTALLED_IN=$there" && found=0
    done
    sleep 0.05
  done
  kill $run
  wait $run
  return $found
}

ok "make install" make --no-print-directory install PREFIX="$there/usr" PROGRAM="$1"
if command -v strip >/dev/null; then
  ok "it is stripped of its symbols" bash -c "! readelf -S '$there/usr/bin/pipegauge' | grep -q -E '[.](symtab|debug_line)'"
fi
ok "the command runs" "$there/usr/bin/pipegauge" --version
if [ -e "$(dirname "$1")/libfastsock.so" ] && [ -e "$(dirname "$1")/fastsock" ]; then
  ok "fastsock finds its library" bash -c "'$there/usr/bin/fastsock' run cat /proc/self/maps | grep -q '$there/usr/lib/libfastsock.so'"
  ok "so does the command" "$there/usr/bin/pipegauge" run tcp:preload=fastsock --sizes 64 --trials 1 --repeats 20 --no-html --no-history -o "$there/x.run.jsonl"
  ok "and both processes have it" bash -c "[ \$(grep '\"event\":\"path\"' '$there/x.run.jsonl' | grep -o '\"preload\":\"[^\"]*/usr/lib/libfastsock.so\"' | wc -l) -eq 2 ]"
  ok "and their bytes go through its rings" through_the_ring
else
  echo "skipped: fastsock, which is not beside $1"
fi
beside=$(dirname "$1")
if [ -e "$beside/strata" ]; then
  ok "strata runs" bash -c "'$there/usr/bin/strata' stack TOTAL:MBRSHIP:FRAG:NAK:COM:udp | grep -q TOTAL"
else
  echo "skipped: strata, which is not beside $1"
fi
for interface in strata_c:strata.h am_c:am.h fastsock_native:fastsock.h; do
  library=${interface%%:*} name=$(basename "${interface#*:}" .h)
  if [ -e "$beside/lib$library.so" ] && command -v cc >/dev/null; then
    printf '#include <%s>\nint main(void) { return 0; }\n' "${interface#*:}" >"$there/$name.c"
    ok "a program in C is built with $name" cc -Wall -Wextra -Werror -I "$there/usr/include" -o "$there/$name" "$there/$name.c" -L "$there/usr/lib" -Wl,--no-as-needed "-l$library"
    ok "and runs with it" env LD_LIBRARY_PATH="$there/usr/lib" "$there/$name"
  else
    echo "skipped: the C interface of $name, which is not beside $1, or there is no compiler"
  fi
done
PATH="$there/usr/bin:$PATH" ok "it is found by its name" bash -c 'pipegauge list'
for command in $("$1" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p' | grep -vx help); do
  ok "a page of $command" grep -q "^.TH pipegauge-$command" "$there/usr/share/man/man1/pipegauge-$command.1"
done
ok "a page of the command" grep -q '^.TH pipegauge ' "$there/usr/share/man/man1/pipegauge.1"
ok "the header of modules" cmp "$(dirname "$0")/../include/pipegauge.h" "$there/usr/include/pipegauge.h"
for module in openmpi=/usr/bin/mpicc.openmpi mpich=/usr/bin/mpicc.mpich zeromq=/usr/include/zmq.h nng=/usr/include/nng/nng.h grpc=/usr/include/grpc/grpc.h ucx=/usr/include/ucp/api/ucp.h libfabric=/usr/include/rdma/fabric.h; do
  if [ -e "${module#*=}" ]; then
    ok "the module ${module%=*}" test -s "$there/usr/lib/pipegauge/modules/${module%=*}.so"
  else
    echo "skipped: the module ${module%=*}, as its library is not installed"
  fi
done
ok "completions of bash" grep -q -- --precision "$there/usr/share/bash-completion/completions/pipegauge"
ok "completions of zsh" grep -q -- --precision "$there/usr/share/zsh/site-functions/_pipegauge"
ok "completions of fish" grep -q precision "$there/usr/share/fish/vendor_completions.d/pipegauge.fish"
ok "nothing half written" test -z "$(find "$there" -name '*.part')"

echo "test result: install. $good passed; $bad failed; 0 ignored"
[ "$bad" -eq 0 ]
