#!/bin/sh
# Runs a command in a network namespace of its own, whose loopback drops so many of a thousand UDP datagrams: examples/lossy.sh 10 target/release/examples/round --members 3
# Needs root, or user namespaces, and nft. Says at the end how many were dropped.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 PER_THOUSAND COMMAND [ARGUMENT ...]" >&2; exit 2; }
command -v nft >/dev/null || { echo "$0: no nft, which drops the datagrams: apt install nftables" >&2; exit 1; }
exec unshare --map-root-user --net sh -eu -c '
share=$1; shift
ip link set lo up
nft add table inet loss
nft add chain inet loss input "{ type filter hook input priority 0; }"
nft add rule inet loss input meta l4proto udp counter
nft add rule inet loss input meta l4proto udp numgen random mod 1000 \< "$share" counter drop
status=0
"$@" || status=$?
nft list chain inet loss input | grep counter
exit $status' sh "$@"
