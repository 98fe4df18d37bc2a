"""What the command takes besides time: start-up, processes, threads, descriptors, memory, and its size on disk, beside its peers'."""
import os
import re
import shutil
import subprocess
import time
from dataclasses import astuple, dataclass

import peers
from common import PG, QUICK, WORK, run, say, table

# The least of so many starts: a busy machine prolongs most of them.
TIMES = 10 if QUICK else 300
SECONDS = 2


@dataclass
class Seen:
    """The most that a tool's processes took together at one moment."""
    processes: int = 0
    descriptors: int = 0
    threads: int = 0
    # Their largest resident memory up to then, KiB, as the kernel keeps it of each.
    memory: int = 0

    def words(self):
        return [str(self.processes), str(self.descriptors), str(self.threads), f"{self.memory / 1024:.0f} MiB"]


def children(root):
    """Every process's parent."""
    found = {}
    for name in os.listdir(root):
        if name.isdigit():
            try:
                with open(f"{root}/{name}/stat") as f:
                    # The name, in brackets, may have blanks and brackets in it.
                    found[int(name)] = int(f.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return found


def below(parents, pids):
    """`pids` and what they started, and so on."""
    tree = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return tree


def look(seen, pids, program, root="/proc"):
    """What is there now, where it is more than was seen: of the processes at and below `pids`, those that run `program`."""
    parents = children(root)
    now = Seen()
    for pid in below(parents, pids):
        at = f"{root}/{pid}"
        try:
            # Between its fork and the program that it becomes a process is its parent's copy.
            if os.path.basename(os.readlink(f"{at}/exe")) != program or command(root, pid) == command(root, parents[pid]):
                continue
            with open(f"{at}/status") as f:
                status = f.read()
            descriptors, threads = len(os.listdir(f"{at}/fd")), int(re.search(r"^Threads:\s*(\d+)", status, re.M)[1])
            memory = int(re.search(r"^VmHWM:\s*(\d+) kB", status, re.M)[1])
        except (OSError, TypeError, KeyError):
            # It has just ended.
            continue
        now = Seen(now.processes + 1, now.descriptors + descriptors, now.threads + threads, now.memory + memory)
    return Seen(*map(max, astuple(seen), astuple(now)))


def command(root, pid):
    with open(f"{root}/{pid}/cmdline", "rb") as f:
        return f.read()


def watched(program, client, server=None, fine=(0,)):
    """Runs a tool, looking at its processes until the client ends, with one of the codes `fine`."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": WORK}
    seen, running = Seen(), []
    try:
        if server:
            running.append(subprocess.Popen(server, **quiet))
            time.sleep(1)
        running.append(subprocess.Popen(client, **quiet))
        until = time.monotonic() + 120
        while running[-1].poll() is None:
            if time.monotonic() > until:
                raise RuntimeError(f"{' '.join(client)}: still running after 120 s")
            seen = look(seen, [p.pid for p in running], program)
            time.sleep(0.01)
    finally:
        for p in running:
            if p.poll() is None:
                p.terminate()
        for p in running:
            try:
                p.wait(5)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
    if running[-1].returncode not in fine:
        raise RuntimeError(f"{' '.join(client)} ended with {running[-1].returncode}")
    return seen


def libraries(said):
    """Files of the libraries that `ldd` names, the loader too."""
    return re.findall(r"(/\S+) \(0x", said)


def on_disk(file):
    """Bytes of a program without its symbols, and with the shared libraries that it loads, each as it is installed."""
    bare = os.path.join(WORK, "stripped")
    run(["strip", "-o", bare, file])
    linked = sum(os.path.getsize(os.path.realpath(at)) for at in libraries(run(["ldd", file])))
    return os.path.getsize(bare), os.path.getsize(bare) + linked


def starts(*command):
    """Milliseconds of each of so many starts, in turns of all commands."""
    times = [[] for _ in command]
    for _ in range(TIMES):
        for taken, one in zip(times, command):
            begin = time.monotonic()
            run(one)
            taken.append((time.monotonic() - begin) * 1e3)
    return times


def part_start():
    block = str(peers.BLOCK)
    tools = [("pipegauge", PG, ["--help"], None,
              [PG, "run", "tcp", "--pattern", "stream", "--sizes", block, "--budget", f"{SECONDS}s", "-o", "footprint.run.jsonl", "--no-html", "--quiet"])]
    if iperf3 := shutil.which("iperf3"):
        tools.append(("iperf3", iperf3, ["--help"], ["iperf3", "-s", "-p", "11240", "-1"],
                      ["iperf3", "-c", "127.0.0.1", "-p", "11240", "-t", str(SECONDS), "-N", "-l", block]))
    if nuttcp := shutil.which("nuttcp"):
        tools.append(("nuttcp", nuttcp, ["-V"], ["nuttcp", "-S", "--nofork", "-P", "11241"], ["nuttcp", "-P", "11241", "-D", f"-T{SECONDS}", f"-l{block}", "127.0.0.1"]))
    said = lambda of: f"{min(of):.2f} ms"
    *starting, empty = starts(*([file, *words] for _, file, words, _, _ in tools), ["true"])
    columns = []
    for (name, file, _, server, client), took in zip(tools, starting):
        say(f"{name} ...")
        bare, linked = on_disk(file)
        # pipegauge ends with 1 where it missed its precision.
        fine = (0,) if server else (0, 1)
        columns.append([said(took), *watched(os.path.basename(file), client, server, fine).words(), f"{bare / 1e6:.2f} MB", f"{linked / 1e6:.1f} MB"])
    large = watched(os.path.basename(PG), [PG, "run", "tcp", "--sizes", "8MiB", "--budget", "3s", "-o", "memory.run.jsonl", "--no-html", "--quiet"], fine=(0, 1))
    names = [f"`--help`, least of {TIMES}", "processes, both sides", "descriptors, sum of processes", "threads, sum of processes", "largest resident memory, sum of processes",
             "program on disk, stripped", "with the shared libraries that it loads"]
    rows = [[name, *(column[row] for column in columns)] for row, name in enumerate(names)]
    rows.append(["largest resident memory with messages of 8 MiB, sum of processes", large.words()[-1], *["-" for _ in columns[1:]]])
    table("Start and size", ["what", *(name for name, *_ in tools)], rows,
          f"`--help` (nuttcp: `-V`) of all tools in turns, started from Python; `true`, which does nothing, takes {said(empty)}. Processes, descriptors, threads and memory: the most at one moment, looking every 10 ms, "
          f"during a stream of 128 KiB blocks over TCP on this host for {SECONDS} s, of client and server; memory that processes share counts in each.")
