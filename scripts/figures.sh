#!/usr/bin/env bash
# Every figure and table of the papers that one host can make, into a folder: pictures as SVG, tables and answers as text,
# and the run files that they are made from. commands.tsv has the name of each and the command that makes it.
#
#   scripts/figures.sh PROGRAM [FOLDER] [FLAGS OF EVERY RUN...]        e.g. --budget 4s
set -euo pipefail

program=$(realpath "${1:?usage: scripts/figures.sh PROGRAM [FOLDER] [FLAGS...]}")
folder=${2:-$(mktemp -d pipegauge-figures-XXXXXX)}
flags=("${@:3}")
scripts=$(realpath "$(dirname "$0")")
mkdir -p "$folder"
cd "$folder"
: >commands.tsv

# say NAME COMMAND: what is measured now. note NAME COMMAND: what makes a picture or a table of what was.
say() { echo "$1: $2" && note "$1" "$2"; }
note() { printf '%s\t%s\n' "$1" "${2%"${2##*[! ]}"}" >>commands.tsv; }

# finish RUN COMMAND...: what it prints and what it says go into files; 1 says "measured, but something fell short", which
# RUN.log explains. What could not be worked out at all is told at the end, so that it costs no other figure.
missing=()
finish() {
  "${@:2}" >"$1.txt" 2>"$1.log" || [ $? -eq 1 ] || missing+=("$1: $(head -n 1 "$1.log")")
}

# measure RUN ARGUMENTS...
measure() {
  say "$1" "pipegauge run ${*:2} ${flags[*]-}"
  finish "$1" "$program" run "${@:2}" ${flags[@]+"${flags[@]}"} -o "$1.run.jsonl" --no-html
}

# measure_hint RUN PATHS...: HINT has a command of its own.
measure_hint() {
  say "$1" "pipegauge hint ${*:2} ${flags[*]-}"
  finish "$1" "$program" hint "${@:2}" ${flags[@]+"${flags[@]}"} -o "$1.run.jsonl"
}

# draw PICTURE RUN... [-- ARGUMENTS...]
draw() {
  local picture=$1 runs=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do runs+=("$1.run.jsonl"); shift; done
  note "$picture" "pipegauge plot ${runs[*]} ${*:2}"
  "$program" plot "${runs[@]}" "${@:2}" -o "$picture.svg" 2>"$picture.log" || missing+=("$picture: $(head -n 1 "$picture.log")")
}

# print TEXT ARGUMENTS...: what a command says of runs that are there already.
print() {
  note "$1" "pipegauge ${*:2}"
  finish "$1" "$program" "${@:2}"
}

# The paper's layers in today's form: fast sockets, where they are built, on Active Messages, beside the kernel's.
layers=(am shm unix tcp)
beside=$(dirname "$program")
if [ -e "$beside/libfastsock.so" ] && [ -e "$beside/fastsock" ]; then layers+=(tcp:preload=fastsock); else echo "without fast sockets: make build puts them beside $program"; fi
sockets=("${layers[@]:2}")

measure round-trips "${layers[@]}" --to 64KiB
draw fast-sockets-3-4 round-trips -- --graph latency
measure bursts "${layers[@]}" --pattern burst --to 64KiB
draw fast-sockets-5-6 bursts -- --graph throughput
measure collected "${sockets[@]}" --pattern stream --no-nodelay --to 64KiB
draw fast-sockets-7 collected -- --graph throughput
print fast-sockets-tables tables {round-trips,bursts,collected}.run.jsonl
measure kept "${sockets[@]}" --pattern request --to 64KiB
measure connected unix tcp --pattern connect --to 64KiB
transactions=(kept connected)
if [ ${#sockets[@]} -gt 2 ]; then
  # Each transaction has a connection of the command's own process, which has the library, too.
  say connected-fast "fastsock run pipegauge run tcp --pattern connect --to 64KiB ${flags[*]-}"
  finish connected-fast "$beside/fastsock" run "$program" run tcp --pattern connect --to 64KiB ${flags[@]+"${flags[@]}"} -o connected-fast.run.jsonl --no-html
  transactions+=(connected-fast)
fi
draw fast-sockets-8 "${transactions[@]}" -- --graph message-rate
if [ ${#sockets[@]} -gt 2 ]; then
  # By programs of others: nuttcp, iperf3, vsftpd and curl.
  for name in fast-sockets-7-tools fast-sockets-table-3 fast-sockets-9; do say $name "scripts/sockets.py fastsock FOLDER ${flags[*]-}"; done
  python3 "$scripts/sockets.py" "$beside/fastsock" . ${flags[@]+"${flags[@]}"} 2>sockets.log || missing+=("sockets.py: $(tail -n 1 sockets.log)")
fi

for mss in 1448 8948; do
  for buffer in 64KiB 128KiB; do measure "tcp-$mss-$buffer" tcp --mss $mss --sockbuf $buffer --to 1MiB; done
done
draw gigabit-1-2 tcp-1448-64KiB tcp-8948-128KiB -- --graph throughput
print gigabit-tables tables tcp-*.run.jsonl

# Two hosts of a laboratory, joined by veth: packets, buffers and offloads as knobs. It takes root.
if "$program" lab -- true 2>gigabit-1.log; then
  say gigabit-1 "pipegauge sweep tcp --lab --over mtu=1500,9000 --over sockbuf=64KiB,128KiB --over offloads=on,off ${flags[*]-}"
  finish gigabit-1 "$program" sweep tcp --lab --over mtu=1500,9000 --over sockbuf=64KiB,128KiB --over offloads=on,off \
    --rounds 4 ${flags[@]+"${flags[@]}"} -q -o gigabit-1 -- --to 1MiB
else
  echo "skipped: gigabit-1, the table of MTU and buffers: $(head -n 1 gigabit-1.log)"
fi

# MPI over TCP beside TCP itself, of each MPI whose module is there.
mpi=()
for module in openmpi mpich; do "$program" list | grep -q "^$module " && mpi+=("$module:over=tcp"); done
if [ ${#mpi[@]} -gt 0 ]; then
  measure mpi tcp "${mpi[@]}" --to 1MiB
  draw gigabit-layers mpi
  print netpipe-8-mpi layers mpi.run.jsonl
  # The same over a link: the ranks are in two hosts of a laboratory.
  if [ -e gigabit-1 ]; then
    wire=("${mpi[@]/%/,interface=eth0}")
    apart=(--peer-under 'ip netns exec h2' --peer-address h2)
    say mpi-wire "pipegauge lab -- pipegauge run tcp ${wire[*]} ${apart[*]@Q} --to 1MiB ${flags[*]-}"
    finish mpi-wire "$program" lab -- "$program" run tcp "${wire[@]}" "${apart[@]}" --to 1MiB ${flags[@]+"${flags[@]}"} -o mpi-wire.run.jsonl --no-html
    draw netpipe-8-wire mpi-wire
    print netpipe-8-mpi-wire layers mpi-wire.run.jsonl
  else
    echo "skipped: netpipe-8-wire, MPI over TCP between two hosts: no laboratory is to be had, as for gigabit-1"
  fi
else
  echo "skipped: gigabit-layers, netpipe-8-mpi and netpipe-8-wire, MPI over TCP: no module of an MPI is built (make modules)"
fi

# Horus: rounds in which each member casts. A group over UDP sends a cast to each member, one over multicast once.
fifo=MBRSHIP:FRAG:NAK:COM
if "$program" list strata | tr -s '\n ' ' ' | grep -q 'cargo build'; then
  echo "skipped: horus-4-carriers to horus-5-total, rounds of a group: this program is built without strata (cargo build --features strata)"
else
  measure rounds-fifo "strata:stack=$fifo:udp,label=fifo-udp" "strata:stack=$fifo:multicast,label=fifo-multicast" --pattern group --burst 1 --to 8KiB
  draw horus-4-carriers rounds-fifo -- --graph latency
  measure rounds-total "strata:stack=TOTAL:$fifo:multicast,label=total" "strata:stack=$fifo:multicast,label=fifo" --pattern group --burst 1 --to 8KiB
  draw horus-4-orders rounds-total -- --graph latency
  for case in "udp $fifo:udp" "multicast $fifo:multicast" "total TOTAL:$fifo:multicast"; do
    case_of=horus-5-${case% *} stack=${case#* }
    say "$case_of" "pipegauge sweep strata:stack=$stack --over members=2,3,4 --over burst=1,5,25 -- --pattern group --topology group --sizes 1 ${flags[*]-}"
    finish "$case_of" "$program" sweep "strata:stack=$stack" --over members=2,3,4 --over burst=1,5,25 --rounds 4 \
      ${flags[@]+"${flags[@]}"} -q -o "$case_of" -- --pattern group --topology group --sizes 1
    [ ! -e "$case_of/map.svg" ] || cp "$case_of/map.svg" "$case_of.svg"
    # What the paper draws: messages a second.
    rates=horus-5-rates-${case% *}
    note "$rates" "scripts/rates.py $case_of $rates"
    python3 "$scripts/rates.py" "$case_of" "$rates" 2>"$rates.log" || missing+=("$rates: $(head -n 1 "$rates.log")")
  done
fi

for rate in 155 513; do measure "wire-$rate" tcp --shape rate=${rate}Mbit/s --to 60KiB; done
draw scaling-1 wire-513 -- --graph latency
print scaling-table scale wire-155.run.jsonl --against wire-513.run.jsonl

measure blocks unix tcp
draw netpipe-1 blocks -- --graph throughput
draw netpipe-2-4-8 blocks
draw netpipe-3-5 blocks -- --graph saturation --fits
print netpipe-8 layers blocks.run.jsonl
measure streams unix tcp --pattern stream
draw netpipe-7 blocks streams
measure beside unix tcp --offset 1,1
draw netpipe-9 blocks beside
measure near tcp --from 48KiB --to 84KiB --step 512 --perturb 0
draw netpipe-10 near -- --graph throughput
measure_hint hint unix tcp
draw netpipe-6 hint
measure_hint hint-alone
draw netpipe-12 hint-alone
print netpipe-questions ask blocks.run.jsonl --arrive 64KiB --fastest 64KiB --most --size --control --cost tcp,unix \
  --frames 60/s --of 1MiB

echo "$folder: $(ls ./*.svg | wc -l) pictures, and tables as text"
[ ${#missing[@]} -eq 0 ] || {
  printf 'missing: %s\n' "${missing[@]}" >&2
  exit 1
}
