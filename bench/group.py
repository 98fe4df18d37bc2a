"""Part `group` of `make bench`: strata and plain UDP multicast against Corosync's process groups and JGroups, three members, at the loads of the report of 1994.

All paths of a load are of one run and take turns, so that a round of one is compared with the same round of another. Runs are made in a network namespace of their own: UDP goes over its
loopback at an MTU of 1,500, and the daemons of Corosync over a bridge with the same MTU. No I/O but in `part_group` and what it calls: scripts/test-bench.py tests the rest.
What this needs of a run, part `layers` needs, too.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
from dataclasses import dataclass

from common import PG, QUICK, TARGET, WORK, run, say, table
from fastsock import in_words, time_in_words, verdict
from pairs import bootstrap

MEMBERS = 3
# Each round starts the machines of JGroups and the daemons of Corosync anew, which takes most of the part's time. Of nine rounds the bootstrap's interval of a median holds the truth
# about as often as of the twelve of pairs.py (92% and 93% of 1,500 draws each, of normal and of lognormal noise).
ROUNDS = 5 if QUICK else 10
# Fewer rounds of a run make no interval; one may be lost.
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
    """What is measured of all carriers in one run, and the target of strata's own stack: messages a second, or seconds where the load is timed."""
    name: str
    size: int
    messages: int
    target: float
    # How often each member sends its messages in a trial, whatever time opening the path took: Corosync's daemons begin anew in each round.
    repeats: int
    pattern: str = "group"
    loss: float = 0
    timed: bool = False


LOADS = [
    Load("1 B, m=25", 1, 25, 600e3, 1000),
    Load("1 B, m=1000", 1, 1000, 5e6, 50),
    Load("1 KB, m=25", 1024, 25, 100e3, 500),
    Load("one way, 1 B, m=1, one sender", 1, 1, 50e-6, 2000, pattern="one-sender", timed=True),
    Load("one way, 1 B, m=1, all sending", 1, 1, 50e-6, 2000, timed=True),
    Load("1 B, m=25, 1% of datagrams lost", 1, 25, 100e3, 80, loss=0.01),
]
# Its loopback as a network of the usual packets. Corosync's daemons have namespaces below, and drop for themselves.
NAMESPACE = """ip link set lo mtu 1500 multicast on up && ip route add 224.0.0.0/4 dev lo || exit 2
[ "$0" = 0 ] || nft "add table inet loss; add chain inet loss in { type filter hook input priority 0; }; add rule inet loss in meta l4proto udp numgen random mod 10000 < $0 drop" || exit 2
exec "$@\""""


NOTE = (f"Messages a second that one member delivers, all members sending; or the time from before a cast until the slower receiver has it, and where all send one message each, that of a round at one member, "
        "which the report of 1994 calls one way, with the rate beside it. "
        f"Medians over the {ROUNDS} rounds of one run for each column, in which all take turns. strata, UDP multicast and JGroups go over the loopback of one network namespace; Corosync's daemons have a namespace each "
        "and cross a bridge, a longer way, and its figures hold its clients' way to their daemons, too. Tuned: the transport UDP multicast, a token that counts as lost after 100 ms "
        "and wider windows. JGroups is its own udp.xml with SEQUENCER, its machines warmed up by 30,000 casts of each member before a round; tuned: what is missing is asked for again after "
        "10 ms, and a member casts 16 MiB before receivers must have granted more.")


def path_of(carrier, load):
    return carrier.path + (f",loss={load.loss:.0%}" if load.loss and carrier.of == "corosync" else "")


def taken(carriers, load):
    """Those that the load is for: nothing of shared memory is lost."""
    return [carrier for carrier in carriers if carrier.datagrams or not load.loss]


def command(carriers, load, out, rounds):
    """What measures a load: in a namespace of its own, where so many of 10,000 datagrams are lost."""
    return ["unshare", "--net", "sh", "-c", NAMESPACE, str(round(load.loss * 10_000)), PG, "run", *(path_of(carrier, load) for carrier in carriers),
            "--pattern", load.pattern, "--topology", "group", "--members", str(MEMBERS), "--sizes", str(load.size), "--burst", str(load.messages),
            "--trials", str(rounds), "--repeats", str(load.repeats // (10 if QUICK else 1)), "--budget", BUDGET, "--patience", "60s", "--pin", "none", "--no-html", "--quiet", "-o", out]


def figure(trial, timed):
    """Messages a second that one member delivers, or the median seconds of a round or of one way; none of a trial that has neither."""
    if timed:
        return trial.get("median")
    whole = trial["repeats"] - trial.get("lost", 0)
    return MEMBERS * trial["burst"] * whole / trial["seconds"] if trial.get("seconds") and whole > 0 else None


def of_path(events, path):
    return [e for e in events if e["event"] == "trial" and not e.get("warmup") and e["path"] == path]


def figures(events, path, timed):
    """The figure of each round of a path."""
    found = {}
    for e in of_path(events, path):
        if one := figure(e, timed):
            found.setdefault(e["block"], []).append(one)
    return {block: statistics.median(each) for block, each in found.items()}


def label(carrier):
    """The name under which a run's error tells of it."""
    return carrier.path.split("label=")[1].split(",")[0]


def failure(events, name, names):
    """What a run's error says of one of its paths; none where it says nothing of it. The failures of several paths stand in one line."""
    error = next((e["error"] for e in events if e["event"] == "end" and e.get("error")), "")
    parts = re.split("; (?=(?:" + "|".join(map(re.escape, names)) + "): )", error)
    return next((part[len(name) + 2:] for part in parts if part.startswith(name + ": ")), None)


def reason(events, path, carriers, timed, said, needed=1):
    """Why a path of a run has fewer rounds with a figure than so many: what the run's error says of it, what it lost, or what the command said last where the run file has no error."""
    trials, ended = of_path(events, path), any(e["event"] == "end" for e in events)
    lost, whole = (sum(e.get(what, 0) for e in trials) for what in ("lost", "repeats"))
    why = failure(events, label(carriers[path]), [label(each) for each in carriers])
    why = why or (f"{lost:,} of {whole:,} rounds of casts were lost" if lost else said if said and not ended else "the run says nothing of it")
    have = len(figures(events, path, timed))
    return (f"{have} of the {needed} rounds that an interval takes; " if needed > 1 else "") + " ".join(why.split())[:400]


def beside(ours, theirs, smaller):
    """How many times as good ours is, over rounds that both have: median and 95% interval."""
    pairs = [theirs[block] / ours[block] if smaller else ours[block] / theirs[block] for block in sorted(ours.keys() & theirs.keys())]
    return bootstrap(pairs) if len(pairs) >= FEWEST else None


def against_target(ours, load):
    """How many times as good as the target, with its interval: 1 and more meets it."""
    values = [load.target / one if load.timed else one / load.target for one in ours.values()]
    return bootstrap(values) if len(values) >= FEWEST else None


def told(each, load):
    if not each:
        return "-"
    middle = statistics.median(each.values())
    return time_in_words(middle) if load.timed else f"{middle:,.0f}/s"


def told_twice(events, path, load):
    """A round's time where all send has its rate beside it."""
    time = told(figures(events, path, load.timed), load)
    rates = figures(events, path, False) if load.timed and load.pattern == "group" else {}
    return f"{time}, {statistics.median(rates.values()):,.0f}/s" if rates else time


def explained(reasons):
    """Why cells are empty, in a note below their table: (row, column, reason) of each."""
    return "".join(f" Empty: {row}, {column}: {why.rstrip('.')}." for row, column, why in reasons)


def here():
    """The carriers that can be measured here; says why of the others."""
    listed = run([PG, "list"])
    modules = {name for name in MODULES if any(line.startswith(name + " ") for line in listed.splitlines())}
    for name in sorted(MODULES - modules):
        say(f"without {name}: its module is not built here (make modules; PIPEGAUGE_MODULES)")
    return [carrier for carrier in CARRIERS if carrier.of in modules | {"strata", "multicast"}]


def measured(carriers, load, rounds=ROUNDS):
    """A run's events, and the last line that the command said where it ended with an error: why cells are empty that the run file says nothing of."""
    out = os.path.join(WORK, "group-" + re.sub(r"\W+", "-", load.name) + ".run.jsonl")
    p = subprocess.run(command(carriers, load, out, rounds), capture_output=True, text=True, timeout=3600)
    said = p.stderr.strip().splitlines()[-1] if p.returncode and p.stderr.strip() else ""
    # A run that measured nothing has a file that says why; one that never began has none.
    if not os.path.exists(out):
        raise RuntimeError(f"{load.name}: ended with {p.returncode}: {said}")
    with open(out) as f:
        return [json.loads(line) for line in f], said


def part_group():
    if not shutil.which("unshare"):
        raise RuntimeError("unshare is not installed (util-linux)")
    os.environ.setdefault("PIPEGAUGE_MODULES", os.path.join(TARGET, "modules"))
    carriers = here()
    rows, ratios, targets = {c.name: [c.name, c.promises] for c in carriers}, {c.name: [c.name] for c in carriers[1:]}, []
    empty, untold = [], []
    for load in LOADS:
        taking = taken(carriers, load)
        events, said = measured(taking, load)
        at = {carrier.name: path for path, carrier in enumerate(taking)}
        of = {carrier.name: figures(events, at[carrier.name], load.timed) for carrier in taking}
        ours = of[carriers[0].name]
        for carrier in carriers:
            path, mine = at.get(carrier.name), of.get(carrier.name, {})
            why = lambda needed: "nothing of shared memory is lost" if path is None else reason(events, path, taking, load.timed, said, needed)
            rows[carrier.name].append(told_twice(events, path, load) if mine else "-")
            if not mine:
                empty.append((carrier.name, load.name, why(1)))
            if carrier is carriers[0]:
                continue
            ratio = beside(ours, mine, load.timed)
            ratios[carrier.name].append(in_words(ratio))
            if mine and ours and not ratio:
                untold.append((carrier.name, load.name, why(FEWEST)))
        ratio = against_target(ours, load)
        wanted = time_in_words(load.target) if load.timed else f"{load.target:,.0f}/s"
        targets.append([load.name, wanted, told(ours, load), in_words(ratio), verdict(ratio, 1)])
    if all(cell == "-" for row in rows.values() for cell in row[2:]):
        raise RuntimeError("no load has a figure:" + explained(empty))
    names = [load.name for load in LOADS]
    table("Groups of three members", ["", "promises", *names], list(rows.values()), NOTE + explained(empty))
    table("Groups: strata against the others", ["strata is so many times as good as", *names], list(ratios.values()),
          "Ratios of the same rounds, with 95% intervals; for times, how many times as long the other takes. Corosync's ratios hold its longer way (above)." + explained(untold))
    table("Groups: targets and what was measured", ["strata, its own stack", "target", "measured", "of the target [95%]", ""], targets)
