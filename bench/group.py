"""Part `group` of `make bench`: strata and plain UDP multicast against Corosync's process groups and JGroups, three members, at the loads of the report of 1994.

All paths of a load are of one run and take turns, so that a round of one is compared with the same round of another. Runs are made in a network namespace of their own: UDP goes over its
loopback at an MTU of 1,500, and the daemons of Corosync over a bridge with the same MTU. No I/O but in `part_group` and what it calls: scripts/test-bench.py tests the rest.
"""
import json
import os
import shutil
import statistics
import subprocess
from dataclasses import dataclass

from common import PG, QUICK, TARGET, WORK, run, say, table
from fastsock import in_words, time_in_words, verdict
from pairs import FEWEST_PAIRS, bootstrap

MEMBERS = 3
# One more than an interval takes: a round may be lost.
ROUNDS = 5 if QUICK else FEWEST_PAIRS + 1
# Fewer rounds of a run make no interval.
FEWEST = ROUNDS - 1
# Rounds and casts are counted; this ends none of them.
BUDGET = "10min"


@dataclass(frozen=True)
class Carrier:
    """A path, what its casts are promised, and the system that it is of."""
    name: str
    path: str
    promises: str
    of: str = "strata"
    # Whether what it sends is datagrams, which can be lost.
    datagrams: bool = True


TOTAL, FIFO = "one order of all, virtual synchrony", "each sender's order, virtual synchrony"
ORDER = "one order of all, no virtual synchrony"
# Paths that are modules, which a machine may lack.
MODULES = {"corosync", "jgroups"}
CARRIERS = [
    Carrier("strata", "strata:label=strata", TOTAL + ", flow control, merging"),
    Carrier("strata, the report's stack", "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:udp,label=total", TOTAL),
    Carrier("strata, over multicast", "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:multicast,label=total-multicast", TOTAL),
    Carrier("strata, over shared memory", "strata:stack=TOTAL:MBRSHIP:FRAG:NAK:COM:shm,label=total-shm", TOTAL, datagrams=False),
    Carrier("strata, FIFO", "strata:stack=MBRSHIP:FRAG:NAK:COM:udp,label=fifo", FIFO),
    Carrier("UDP multicast", "multicast:label=multicast", "neither arrival nor an order of all", "multicast"),
    Carrier("Corosync", "corosync:label=corosync", TOTAL, "corosync"),
    Carrier("Corosync, tuned", "corosync:transport=udp,token=100ms,retransmits=8,window=300,messages=100,label=corosync-tuned", TOTAL, "corosync"),
    Carrier("JGroups", "jgroups:label=jgroups", ORDER, "jgroups"),
    Carrier("JGroups, tuned", "jgroups:retransmit=10ms,credits=16MiB,label=jgroups-tuned", ORDER, "jgroups"),
]


@dataclass(frozen=True)
class Load:
    """What is measured of all carriers in one run, and the target of strata's own stack: messages a second, or seconds where it is a time."""
    name: str
    size: int
    messages: int
    target: float
    # How often each member sends its messages in a trial, whatever time opening the path took: Corosync's daemons begin anew in each round.
    repeats: int
    pattern: str = "group"
    loss: float = 0

LOADS = [
    Load("1 B, m=25", 1, 25, 600e3, 1000),
    Load("1 B, m=1000", 1, 1000, 5e6, 50),
    Load("1 KB, m=25", 1024, 25, 100e3, 500),
    Load("one way, 1 B, m=1, one sender", 1, 1, 50e-6, 2000, pattern="one-sender"),
    Load("1 B, m=25, 1% of datagrams lost", 1, 25, 100e3, 100, loss=0.01),
]
# Its loopback as a network of the usual packets. Corosync's daemons have namespaces below, and drop for themselves.
NAMESPACE = """ip link set lo mtu 1500 multicast on up && ip route add 224.0.0.0/4 dev lo || exit 2
[ "$0" = 0 ] || nft "add table inet loss; add chain inet loss in { type filter hook input priority 0; }; add rule inet loss in meta l4proto udp numgen random mod 10000 < $0 drop" || exit 2
exec "$@\""""


def path_of(carrier, load):
    return carrier.path + (f",loss={load.loss:.0%}" if load.loss and carrier.of == "corosync" else "")


def taken(carriers, load):
    """Those that the load is for: nothing of shared memory is lost."""
    return [carrier for carrier in carriers if carrier.datagrams or not load.loss]


def command(carriers, load, out):
    """What measures a load: in a namespace of its own, where so many of 10,000 datagrams are lost."""
    return ["unshare", "--net", "sh", "-c", NAMESPACE, str(round(load.loss * 10_000)), PG, "run", *(path_of(carrier, load) for carrier in carriers),
            "--pattern", load.pattern, "--topology", "group", "--members", str(MEMBERS), "--sizes", str(load.size), "--burst", str(load.messages),
            "--trials", str(ROUNDS), "--repeats", str(load.repeats // (10 if QUICK else 1)), "--budget", BUDGET, "--patience", "60s", "--pin", "none", "--no-html", "--quiet", "-o", out]


def figure(trial):
    """Messages a second that one member delivers, or the median seconds of one way; none of a trial that has neither."""
    if trial.get("pattern") == "one-sender":
        return trial.get("median")
    whole = trial["repeats"] - trial.get("lost", 0)
    return MEMBERS * trial["burst"] * whole / trial["seconds"] if trial.get("seconds") and whole > 0 else None


def figures(events, path, pattern):
    """The figure of each round of a path."""
    found = {}
    for e in events:
        if e["event"] == "trial" and not e.get("warmup") and e["path"] == path and (one := figure({**e, "pattern": pattern})):
            found.setdefault(e["block"], []).append(one)
    return {block: statistics.median(each) for block, each in found.items()}


def beside(ours, theirs, smaller):
    """How many times as good ours is, over rounds that both have: median and 95% interval."""
    pairs = [theirs[block] / ours[block] if smaller else ours[block] / theirs[block] for block in sorted(ours.keys() & theirs.keys())]
    return bootstrap(pairs) if len(pairs) >= FEWEST else None


def against_target(ours, load):
    """How many times as good as the target, with its interval: 1 and more meets it."""
    values = [load.target / one if load.pattern == "one-sender" else one / load.target for one in ours.values()]
    return bootstrap(values) if len(values) >= FEWEST else None


def told(each, load):
    if not each:
        return "-"
    middle = statistics.median(each.values())
    return time_in_words(middle) if load.pattern == "one-sender" else f"{middle:,.0f}/s"


def here():
    """The carriers that can be measured here; says why of the others."""
    listed = run([PG, "list"])
    modules = {name for name in MODULES if any(line.startswith(name + " ") for line in listed.splitlines())}
    for name in sorted(MODULES - modules):
        say(f"without {name}: its module is not built here (make modules; PIPEGAUGE_MODULES)")
    return [carrier for carrier in CARRIERS if carrier.of in modules | {"strata", "multicast"}]


def measured(carriers, load):
    out = os.path.join(WORK, f"group-{LOADS.index(load)}.run.jsonl")
    p = subprocess.run(command(carriers, load, out), capture_output=True, text=True, timeout=3600)
    if p.returncode == 2:
        raise RuntimeError(f"{load.name}: {p.stderr.strip()[-500:]}")
    with open(out) as f:
        return [json.loads(line) for line in f]


def part_group():
    if not shutil.which("unshare"):
        raise RuntimeError("unshare is not installed (util-linux)")
    os.environ.setdefault("PIPEGAUGE_MODULES", os.path.join(TARGET, "modules"))
    carriers = here()
    rows, ratios, targets = {c.name: [c.name, c.promises] for c in carriers}, {c.name: [c.name] for c in carriers[1:]}, []
    for load in LOADS:
        taking = taken(carriers, load)
        events = measured(taking, load)
        of = {carrier.name: figures(events, path, load.pattern) for path, carrier in enumerate(taking)}
        each = [of.get(carrier.name, {}) for carrier in carriers]
        for carrier, of in zip(carriers, each):
            rows[carrier.name].append(told(of, load))
        for carrier, of in zip(carriers[1:], each[1:]):
            ratios[carrier.name].append(in_words(beside(each[0], of, load.pattern == "one-sender")))
        ratio = against_target(each[0], load)
        wanted = time_in_words(load.target) if load.pattern == "one-sender" else f"{load.target:,.0f}/s"
        targets.append([load.name, wanted, told(each[0], load), in_words(ratio), verdict(ratio, 1)])
    names = [load.name for load in LOADS]
    table("Groups of three members", ["", "promises", *names], list(rows.values()),
          "Messages a second that one member delivers, all members sending; or the time from before a cast until the slower receiver has it. Medians over the rounds of one run for each column, in which all take "
          "turns. Corosync's figures hold its clients' way to their daemons. Tuned: the transport UDP multicast, a token that counts as lost after 100 ms "
          "and wider windows. JGroups is its own udp.xml with SEQUENCER, its machines warmed up by 30,000 casts of each member before a round; tuned: what is missing is asked for again after "
          "10 ms, and a member casts 16 MiB before receivers must have granted more.")
    table("Groups: strata against the others", ["strata is so many times as good as", *names], list(ratios.values()),
          "Ratios of the same rounds, with 95% intervals; for times, how many times as long the other takes.")
    table("Groups: targets and what was measured", ["strata, its own stack", "target", "measured", "of the target [95%]", ""], targets)
