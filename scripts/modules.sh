#!/usr/bin/env bash
# modules.sh FOLDER: builds the modules whose libraries are here into FOLDER, and says of the others what they need.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../modules"
# one NAME FOLDER PACKAGES WHAT TEST...: the module NAME, whose source is in FOLDER, is built where TEST holds; WHAT is what it needs.
one() {
  local name=$1 source=$2 packages=$3 what=$4
  shift 4
  if "$@" >/dev/null 2>&1; then
    make -s -C "$source" OUT="$folder" "$name"
    echo "module: $folder/$name.so"
  else
    echo "note: no module $name, as $what is not installed (apt install $packages)"
  fi
}
header() { echo "#include <$1>" | "${CC:-cc}" -E -x c -; }
one openmpi mpi "libopenmpi-dev openmpi-bin" mpicc.openmpi command -v mpicc.openmpi
one mpich mpi "libmpich-dev mpich" mpicc.mpich command -v mpicc.mpich
one zeromq zeromq libzmq3-dev zmq.h header zmq.h
one nng nng libnng-dev nng/nng.h header nng/nng.h
one grpc grpc libgrpc-dev grpc/grpc.h header grpc/grpc.h
one ucx ucx libucx-dev ucp/api/ucp.h header ucp/api/ucp.h
one corosync corosync "corosync libcpg-dev" corosync/cpg.h header corosync/cpg.h
one libfabric libfabric libfabric-dev rdma/fabric.h header rdma/fabric.h

# JGroups is of Java, and Maven fetches it: a machine without a network has it only where it was fetched before.
java() { command -v mvn && command -v javac && javac --release 17 -version; }
if java >/dev/null 2>&1 && ! said=$(make -s -C jgroups OUT="$folder" "$folder/jgroups.jar" 2>&1); then
  echo "note: no module jgroups, as Maven can't fetch JGroups: $(grep -m 1 ERROR <<<"$said" || tail -n 1 <<<"$said")"
else
  one jgroups jgroups "default-jdk-headless maven" "a JDK of 17 or later with Maven" java
fi
