"""Part `mpi` of `make bench`: pipegauge over Open MPI and MPICH against NetPIPE's own MPI programs (Debian: netpipe-openmpi, netpipe-mpich2), at
like settings in pairs that take turns. NetPIPE calls MPI_Send and MPI_Recv, pipegauge MPI_Isend and MPI_Irecv, which it tests. Both keep rank 0 to CPU 0 and rank 1 to CPU 1, and report the best mean of
three trials of as many round trips. No I/O but in `part_mpi` and what it calls: scripts/test-bench.py tests the rest.
"""
import os
import re
import shutil
import statistics
import subprocess
from dataclasses import dataclass

TRIALS = 3
# Round trips of a trial: tens of milliseconds on a machine that is left alone.
TIMES = {64: 100000, 1 << 20: 1000}


@dataclass(frozen=True)
class Mpi:
    """One comparison: a module of pipegauge, NetPIPE's program for the same MPI, and its launcher with what pins the ranks."""
    module: str
    program: str
    launcher: tuple
    size: int

    @property
    def times(self):
        return TIMES[self.size]

    def mine(self):
        return [self.module, "--pattern", "ping-pong", "--sizes", str(self.size), "--trials", str(TRIALS), "--repeats", str(self.times), "--pin", "0,1"]

    def floor(self, program, buffers):
        return [*self.launcher, "-np", "2", program, str(self.size), str(self.times), str(TRIALS), str(buffers)]

    def theirs(self, out):
        # -p 0: this size alone, without its neighbours.
        return [*self.launcher, "-np", "2", self.program, "-l", str(self.size), "-u", str(self.size), "-p", "0", "-n", str(self.times), "-o", out]


def of_netpipe(text, size):
    """Seconds of half a round trip, the best of its trials, from the lines of its file: bytes, megabits a second, seconds."""
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] == str(size) and re.match(r"^[\d.e+-]+$", fields[2]):
            return float(fields[2])
    raise RuntimeError(f"no row of {size} bytes in: {text[-400:]}")


OPENMPI = ("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "core", "--map-by", "core")
MPICH = ("mpirun.mpich", "-bind-to", "core")
ALL = [Mpi(module, program, launcher, size) for module, program, launcher in [("openmpi", "NPopenmpi", OPENMPI), ("mpich", "NPmpich2", MPICH)] for size in TIMES]


def ours(mpi):
    from common import pipegauge, trials
    return min(t["seconds"] / t["repeats"] / 2 for t in trials(pipegauge(*mpi.mine())))


def theirs(mpi):
    from common import WORK
    out = os.path.join(WORK, "np.out")
    if os.path.exists(out):
        os.unlink(out)
    ended = subprocess.run(mpi.theirs(out), capture_output=True, text=True, timeout=120, cwd=WORK)
    if not os.path.exists(out):
        raise RuntimeError(f"{mpi.program} wrote no figures: {(ended.stdout + ended.stderr)[-400:]}")
    with open(out) as f:
        return of_netpipe(f.read(), mpi.size)


def bare(mpi, folder, buffers):
    from common import run
    return float(run(mpi.floor(os.path.join(folder, f"mpi_floor.{mpi.module}"), buffers)))


def part_mpi():
    from common import QUICK, ROOT, WORK, run, say, table
    from pairs import FEWEST_PAIRS, interleaved, ratio
    # Each start of an MPI takes most of a second.
    count = 5 if QUICK else FEWEST_PAIRS
    folder = os.path.join(WORK, "modules")
    run([os.path.join(ROOT, "scripts/modules.sh"), folder])
    os.environ["PIPEGAUGE_MODULES"] = folder
    rows, failed = [], (RuntimeError, KeyError, IndexError, OSError, ValueError, subprocess.TimeoutExpired)
    for mpi in ALL:
        if not shutil.which(mpi.program) or not os.path.exists(os.path.join(folder, mpi.module + ".so")):
            say(f"skipped: {mpi.module}, as {mpi.program} or the library is not installed")
            continue
        run([f"mpicc.{mpi.module}", "-O2", "-o", os.path.join(folder, f"mpi_floor.{mpi.module}"), os.path.join(ROOT, "bench/mpi_floor.c")])
        if mpi.size < 1 << 20:
            what, shown = f"{mpi.size} B", lambda t: f"{t * 1e6:.3f} us"
        else:
            what, shown = f"{mpi.size >> 20} MiB", lambda t: f"{t * 1e6:.1f} us ({mpi.size * 8 / t / 1e9:.1f} Gbit/s)"
        mine, peer = (f"pipegauge `{mpi.module}`", lambda: ours(mpi)), (f"`{mpi.program}`", lambda: theirs(mpi))
        loop = lambda buffers, how: (f"bare loop, {how}", lambda: bare(mpi, folder, buffers))
        for first, second in [(mine, peer), (mine, loop(2, "buffers as pipegauge's")), (peer, loop(1, "buffers as NetPIPE's"))]:
            try:
                pairs = interleaved(count, first[1], second[1], failed=failed)
            except failed as e:
                say(f"{first[0]}: {e}")
                continue
            median = lambda i: shown(statistics.median(p[i] for p in pairs))
            rows.append([f"{first[0]}, {what}", second[0], median(1), median(0), ratio(pairs), len(pairs)])
    table("MPI against NetPIPE", ["what", "against", "against (median)", "what (median)", "ratio, paired [95%]", "pairs"], rows,
          "Pairs in turns, each side first in every other one; ranks of both on CPUs 0 and 1, over shared memory as each MPI sets itself up; NetPIPE and the loop call MPI_Send and MPI_Recv, pipegauge MPI_Isend and MPI_Irecv, which it tests until they are done; "
          f"{TRIALS} trials of as many round trips, of which the best mean counts on every side; times are half a round trip. Lower is better; not told apart: the interval has 1 in it. "
          "NetPIPE sends from the buffer that it has just received into, so that the sender's cache has to be read through; pipegauge's near side sends from a buffer of its own. "
          "The bare loop (`bench/mpi_floor.c`) does either. The OSU micro-benchmarks are no peer here: neither Debian nor the package registries that a build may use (PyPI, npm, crates.io, Maven) have them.")
