# hosts.sh MEMBERS TRANSPORT LOSS TOTEM...: a Corosync daemon in a network namespace of its own for each member, joined by a bridge. Loss is how many of
# 10,000 UDP datagrams each of them drops as they come; TOTEM are lines of that section of the configuration.
#
# It is run in namespaces of network and mounts of its own. It says `ready`, or `failed` and why, and ends all once its standard input ends, which it does
# with the process that has its other end, however that goes.
members=$1 transport=$2 loss=$3
shift 3
most=600 # looks at the daemons, 50 ms apart, before it gives up
leaving=40 # looks at daemons that were told to end, 50 ms apart
daemons=

end() {
  for daemon in $daemons; do kill "$daemon"; done 2>/dev/null
  # A daemon that gets no turn in time is ended without order.
  left=$daemons
  for look in $(seq "$leaving"); do
    still=
    for daemon in $left; do kill -0 "$daemon" 2>/dev/null && still="$still $daemon"; done
    left=$still
    [ "$left" ] || break
    sleep 0.05
  done
  for daemon in $left; do kill -KILL "$daemon"; done 2>/dev/null
  wait
  # What a daemon leaves: its flight recorder, and rings of members that went with it.
  for daemon in $daemons; do rm -rf /dev/shm/qb-corosync-"$daemon"-* /dev/shm/qb-"$daemon"-*; done
  exit "$1"
}
failed() {
  echo "failed $*"
  end 1
}
# What must work.
must() { said=$("$@" 2>&1) || failed "$*: $said"; }

must mkdir -p /run/netns
must mount -t tmpfs tmpfs /run/netns
here=/run/netns/here
must mkdir "$here"
must ip link add name switch type bridge mcast_snooping 0
must ip link set switch up
nodes=
for i in $(seq "$members"); do
  must ip netns add "m$i"
  must ip link add "to$i" type veth peer name eth0 netns "m$i"
  must ip link set "to$i" master switch up
  must ip -n "m$i" link set lo up
  must ip -n "m$i" address add "10.78.0.$i/16" dev eth0
  must ip -n "m$i" link set eth0 up
  must ip -n "m$i" route add 224.0.0.0/4 dev eth0
  if [ "$loss" -gt 0 ]; then
    must ip netns exec "m$i" nft -f - <<END
table inet loss { chain in { type filter hook input priority 0; meta l4proto udp numgen random mod 10000 < $loss drop; }; }
END
  fi
  nodes="$nodes
  node {
    nodeid: $i
    name: m$i
    ring0_addr: 10.78.0.$i
  }"
done
{
  echo 'totem {
  version: 2
  cluster_name: pipegauge'
  echo "  transport: $transport"
  for line in "$@"; do echo "  $line"; done
  # knet encrypts where nothing is said; the others can't.
  [ "$transport" = knet ] && echo '  crypto_cipher: none
  crypto_hash: none'
  [ "$transport" = udp ] && echo '  interface {
    ringnumber: 0
    mcastaddr: 239.78.0.1
    mcastport: 5405
  }'
  echo "}
nodelist {$nodes
}
logging {
  to_stderr: yes
  to_syslog: no
  to_logfile: no
}"
} >"$here/corosync.conf"

for i in $(seq "$members"); do
  # /run and the state of a daemon are its own; /dev/shm is where members find their rings.
  ip netns exec "m$i" sh -c '
    mkdir -p /var/lib/corosync && mount --bind "$0" /mnt && mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib/corosync &&
    exec setpriv --pdeathsig KILL corosync -f -c /mnt/corosync.conf' "$here" >"$here/said.$i" 2>&1 </dev/null &
  daemons="$daemons $!"
done
for look in $(seq "$most"); do
  i=0 formed=0
  for daemon in $daemons; do
    i=$((i + 1))
    kill -0 "$daemon" 2>/dev/null || failed "Corosync $i ended: $(grep -m 1 -i error "$here/said.$i" || tail -n 1 "$here/said.$i")"
    grep -qs "Sync members\[$members\]" "$here/said.$i" && formed=$((formed + 1))
  done
  [ "$formed" = "$members" ] && break
  sleep 0.05
done
[ "$formed" = "$members" ] || failed "only $formed of $members Corosyncs are of one membership after $((most / 20)) s"
echo ready
cat >/dev/null
end 0
