#!/usr/bin/env bash
# Installs what is missing for `make run` (setup.sh run), for building and linting (lint), for `make test` (test), `make figures` (figures) or
# `make bench` (bench) on Debian 12 or a system like it.
# Says what it does; does nothing, and needs no root, where nothing is missing. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PATH:$HOME/.cargo/bin:/usr/sbin:/sbin"

goal=${1:-run}
case "$goal" in run | lint | test | figures | bench) ;; *) echo "usage: scripts/setup.sh run|lint|test|figures|bench" >&2; exit 2 ;; esac

have() { command -v "$1" >/dev/null 2>&1; }
missing=()
# want PACKAGE TEST...: PACKAGE is missing where TEST fails.
want() { local package=$1; shift; "$@" >/dev/null 2>&1 || missing+=("$package"); }

# The oldest Rust that builds this, from Cargo.toml.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
new_enough() { # new_enough FOUND OLDEST
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}
rust_is_there() {
  local tool version
  for tool in cargo rustc; do
    have "$tool" || return 1
    version=$("$tool" --version | awk '{print $2}')
    new_enough "$version" "$oldest" || return 1
  done
}

want build-essential have cc
want ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
debian_rust=no
if ! rust_is_there; then
  # Debian 12's own rustc is too old; rustc-web follows new releases.
  missing+=(rustc-web cargo-web)
  debian_rust=yes
fi

if [ "$goal" = test ] || [ "$goal" = lint ]; then
  if [ "$debian_rust" = yes ] || { [ "$(command -v cargo)" = /usr/bin/cargo ] && dpkg -s cargo-web >/dev/null 2>&1; }; then
    want rustfmt-web have rustfmt
    want rust-web-clippy have cargo-clippy
  fi
fi
if [ "$goal" = test ]; then
  if [ -f web/package.json ]; then
    want nodejs have node
    want npm have npm
    want chromium have chromium
  fi
  want openssh-server have sshd
  want openssh-client have ssh
  want iproute2 have ip
  want nftables have nft
  want netpipe-tcp have NPtcp
  want ethtool have ethtool
  want socat have socat
  want strace have strace
  want openmpi-bin have mpiexec.openmpi
  want libopenmpi-dev have mpicc.openmpi
  want mpich have mpiexec.mpich
  want libmpich-dev have mpicc.mpich
  want libzmq3-dev test -e /usr/include/zmq.h
  want libnng-dev test -e /usr/include/nng/nng.h
  want libgrpc-dev test -e /usr/include/grpc/grpc.h
  want redis-server have redis-server
  want redis-tools have redis-benchmark
  want nginx-light have nginx
  want wrk have wrk
  want memcached have memcached
  want curl have curl
  want sockperf have sockperf
  want nuttcp have nuttcp
  want iperf3 have iperf3
  want vsftpd have vsftpd
  want lftp have lftp
  want ncftp have ncftpget
  want postgresql sh -c 'ls /usr/lib/postgresql/*/bin/pgbench'
  want default-jdk-headless have javac
  want maven have mvn
  want golang-go have go
  want nats-server have nats-server
  want libucx-dev test -e /usr/include/ucp/api/ucp.h
  want libfabric-dev test -e /usr/include/rdma/fabric.h
  want corosync have corosync
  want libcpg-dev test -e /usr/include/corosync/cpg.h
  want man-db have man
  want gnuplot-nox have gnuplot
  want python3-venv python3 -c 'import venv, ensurepip'
fi
if [ "$goal" = figures ]; then
  want python3 have python3
  want iproute2 have ip
  want ethtool have ethtool
  want nuttcp have nuttcp
  want iperf3 have iperf3
  want vsftpd have vsftpd
  want curl have curl
fi
if [ "$goal" = figures ] || [ "$goal" = bench ]; then
  want openmpi-bin have mpiexec.openmpi
  want libopenmpi-dev have mpicc.openmpi
  want mpich have mpiexec.mpich
  want libmpich-dev have mpicc.mpich
fi
if [ "$goal" = bench ]; then
  want python3 have python3
  want netpipe-tcp have NPtcp
  want netpipe-openmpi have NPopenmpi
  want netpipe-mpich2 have NPmpich2
  want sockperf have sockperf
  want qperf have qperf
  want iperf3 have iperf3
  want nuttcp have nuttcp
  want redis-server have redis-server
  want redis-tools have redis-benchmark
  want nginx-light have nginx
  want wrk have wrk
  want libucx-dev test -e /usr/include/ucp/api/ucp.h
  want ucx-utils have ucx_perftest
  want libfabric-dev test -e /usr/include/rdma/fabric.h
  want libfabric-bin have fi_pingpong
  want corosync have corosync
  want libcpg-dev test -e /usr/include/corosync/cpg.h
  want default-jdk-headless have javac
  want maven have mvn
  want nftables have nft
fi

if [ ${#missing[@]} -eq 0 ]; then
  echo "set-up: nothing is missing"
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "set-up: missing: ${missing[*]}" >&2
  echo "Installing takes root; run this, then try again:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
if ! have apt-get; then
  echo "set-up: missing: ${missing[*]}, and there is no apt-get here; install what corresponds to them" >&2
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; echo "set-up: failed: $*" >&2; exit 1; }; }
export DEBIAN_FRONTEND=noninteractive
echo "set-up: installing ${missing[*]}"
quietly apt-get update
# No service is started by an installation here: the tests run a private sshd of their own.
if [ -d /usr/sbin ] && [ ! -e /usr/sbin/policy-rc.d ]; then
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
  chmod +x /usr/sbin/policy-rc.d
  trap 'rm -f "$log" /usr/sbin/policy-rc.d' EXIT
fi
quietly apt-get install -y --no-install-recommends "${missing[@]}"
echo "set-up: done"
