#!/usr/bin/env python3
"""Fast Sockets' table 3 with figure 7, and figure 9, by unmodified programs of today: nuttcp (a descendant of ttcp), iperf3 (in netperf's place,
which is no free software) and vsftpd with curl, over kernel TCP and under the library, in turns.

  scripts/sockets.py FASTSOCK FOLDER [--budget TIME]     FASTSOCK: the command, beside libfastsock.so; TIME: of each curve, 12s if not said

Programs that are not installed are told, and left out. Exit: 0 done, 1 something failed or a file came out changed, 2 wrong words."""
import argparse
import contextlib
import filecmp
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bench")]
from curves import bandwidth_curve, bytes_in_words, picture  # noqa: E402
from pairs import bootstrap  # noqa: E402

WRITES = [1 << n for n in range(6, 17)]
FILES = [1, *(1 << n for n in range(6, 27, 2))]
# FTP connects for each file: the second time the library takes a connection after 8 calls, not after 1024.
LAYERS = {"kernel TCP": None, "fast": {}}
AT_ONCE = "fast after 8 calls"
FTP_LAYERS = {**LAYERS, AT_ONCE: {"FASTSOCK_AFTER": "8"}}
# No run of a program lasts longer.
PATIENCE = 60
SERVER_CPU, CLIENT_CPU = "0", "1"


def seconds(text):
    """A time as the command's --budget has it: 12s, 300ms, 2m."""
    units = {"ms": 1e-3, "s": 1.0, "m": 60.0}
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", text)
    if not found or float(found[1]) <= 0:
        raise argparse.ArgumentTypeError(f"a time such as 12s or 300ms was expected, not '{text}'")
    return float(found[1]) * units[found[2]]


def rounds_of(budget):
    """How often everything is measured: an interval needs a few; more than seven tell little more."""
    return max(2, min(7, int(budget / 2)))


def sizes_of(all_of_them, budget):
    """All sizes, or every second where there is hardly time."""
    return all_of_them if budget >= 2 else all_of_them[::2]


def writes_of(size, share):
    """How many writes take about `share` seconds over the kernel; never so few that most go before a connection can be fast."""
    return max(2048, int(share / (0.6e-6 + size * 0.25e-9)))


def files_of(size, share):
    """How many files take about `share` seconds; two at least, as the first pays for the login."""
    return max(3, min(200, int(share / (0.7e-3 + size * 0.5e-9))))


def of_nuttcp(text):
    return float(re.search(r"rate_Mbps=\s*([\d.]+)", text)[1]) * 1e6 / 8


def of_iperf3(text):
    return json.loads(text[text.index("{"):])["end"]["sum_received"]["bits_per_second"] / 8


# Neither sets TCP_NODELAY, as ttcp and netperf did not: small writes may be collected.
TOOLS = {
    "nuttcp": (lambda port: ["nuttcp", "-S", "--nofork", "-P", port],
               lambda port, size, count: ["nuttcp", "-t", "-P", port, "-p", str(free_port()), f"-l{size}", f"-n{count}", "-fparse", "127.0.0.1"], of_nuttcp),
    "iperf3": (lambda port: ["iperf3", "-s", "-1", "-B", "127.0.0.1", "-p", port],
               lambda port, size, count: ["iperf3", "-c", "127.0.0.1", "-p", port, "-l", str(size), "-k", str(count), "-J"], of_iperf3),
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Ended(RuntimeError):
    """A server ended before it listened: somebody else may have taken the port meanwhile."""


def listens(port, server):
    """Waits until somebody listens at the port, without connecting: a server for one connection would take that for it."""
    until, wanted = time.monotonic() + PATIENCE, f":{port:04X} "
    while time.monotonic() < until:
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with contextlib.suppress(OSError):
                if any(wanted in line.split(" rem")[0][:50] and " 0A " in line for line in Path(table).read_text().splitlines()):
                    return
        if server.poll() is not None:
            raise Ended(f"{server.args} ended with {server.returncode} before it listened at port {port}")
        time.sleep(0.005)
    raise RuntimeError(f"{server.args} does not listen at port {port} after {PATIENCE} s")


def under(fastsock, layer, command, cpu):
    """The command pinned, and under the library where the layer has it."""
    return ["taskset", "-c", cpu, *([] if layer is None else [fastsock, "run"]), *command]


def environment(layer):
    return {**os.environ, **(layer or {}), "LC_ALL": "C"}


@contextlib.contextmanager
def serving(fastsock, layer, command, port):
    server = subprocess.Popen(under(fastsock, layer, command, SERVER_CPU), env=environment(layer), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        listens(port, server)
        yield
    finally:
        server.kill()
        server.wait()


def ask(fastsock, layer, command, **more):
    ran = subprocess.run(under(fastsock, layer, command, CLIENT_CPU), env=environment(layer), capture_output=True, text=True, timeout=PATIENCE, **more)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-300:]}")
    return ran.stdout


def bandwidth(fastsock, tool, layer, size, share):
    """Bytes a second that the tool tells of one run."""
    server, client, read = TOOLS[tool]
    for attempt in range(3):
        port = free_port()
        try:
            with serving(fastsock, layer, server(str(port)), port):
                return read(ask(fastsock, layer, client(str(port), size, writes_of(size, share))))
        except Ended:
            if attempt == 2:
                raise


def transfers(fastsock, layer, port, folder, size, share):
    """Bytes a second of the median file that curl fetches one after the other over one control connection, each into its file in memory."""
    source, there = folder / "files" / str(size), folder / "got"
    count = files_of(size, share)
    command = ["curl", "--silent", "--show-error", "--fail", "--noproxy", "*", "--write-out", "%{time_total} %{size_download}\n"]
    for _ in range(count):
        command += ["--output", str(there), f"ftp://127.0.0.1:{port}/{size}"]
    rows = [line.split() for line in ask(fastsock, layer, command).splitlines()]
    if len(rows) != count or any(int(got) != size for _, got in rows) or not filecmp.cmp(source, there, shallow=False):
        raise RuntimeError(f"a file of {size} bytes came out changed")
    # The first has the login and the change of folder in it.
    return size / statistics.median(float(took) for took, _ in rows[1:])


def vsftpd(folder, port):
    """Its settings: files by read and write (`sendfile` is the kernel's), children made by `fork` (by a raw `clone`, `isolate`, the library does not see them
    begin), and no user to become."""
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "conf").write_text(
        f"listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\nanonymous_enable=YES\nno_anon_password=YES\nanon_root={folder / 'files'}\n"
        f"run_as_launching_user=YES\nseccomp_sandbox=NO\nuse_sendfile=NO\nisolate=NO\nisolate_network=NO\nsecure_chroot_dir={folder / 'empty'}\nconnect_from_port_20=NO\nxferlog_enable=NO\n")
    program = shutil.which("vsftpd", path=os.environ.get("PATH", "") + ":/usr/sbin")
    return [program, str(folder / "conf")]


def in_turns(layers, sizes, rounds, once):
    """layer -> size -> a figure for each round: layers beside each other in turns, sizes in a new order each round."""
    found, order = {layer: {size: [] for size in sizes} for layer in layers}, random.Random(1)
    for turn in range(rounds):
        for size in order.sample(sizes, len(sizes)):
            names = list(layers)
            for name in names if turn % 2 == 0 else reversed(names):
                found[name][size].append(once(name, size))
    return found


def lines_of(found):
    """What the picture shows of each layer: least, median and most of its rounds."""
    return {name: [(size, min(rates), statistics.median(rates), max(rates)) for size, rates in by.items()] for name, by in found.items()}


def in_mb(found):
    return {name: {size: [rate / 1e6 for rate in rates] for size, rates in by.items()} for name, by in found.items()}


def rates_in_words(found):
    """A row for each size: MB/s of each layer, and how many times the kernel's the others are, with the least and the most of the rounds."""
    names = list(found)
    rows = [["size", *(f"{name}, MB/s" for name in names), *(f"{name} / {names[0]} [rounds]" for name in names[1:])]]
    for size in found[names[0]]:
        ratios = [[a / b for a, b in zip(found[name][size], found[names[0]][size])] for name in names[1:]]
        rows.append([bytes_in_words(size), *(f"{statistics.median(found[name][size]):.4g}" for name in names),
                     *(f"{statistics.median(r):.2f} [{min(r):.2f}, {max(r):.2f}]" for r in ratios)])
    return rows


def fits_in_words(tool, found):
    """Rmax and half-power point of each layer, with the 95% interval over rounds."""
    rows = []
    for name, by in found.items():
        sizes, rounds = list(by), list(zip(*by.values()))
        fits = [fit for fit in (bandwidth_curve(sizes, rates) for rates in rounds) if fit]
        if len(fits) < 2:
            rows.append([tool, name, "-", "-"])
            continue
        peak, half = (bootstrap([fit[at] for fit in fits]) for at in (0, 1))
        rows.append([tool, name, "{:.0f} [{:.0f}, {:.0f}]".format(*peak), "{:.0f} [{:.0f}, {:.0f}]".format(*half)])
    return rows


def aligned(rows):
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) if at == 0 else cell.rjust(w) for at, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows) + "\n"


def of_tools(fastsock, to, budget):
    """Table 3 and figure 7."""
    lines, fits, text, rounds = {}, [["tool", "layer", "Rmax, MB/s [95%]", "N(0.5), B [95%]"]], "", rounds_of(budget)
    sizes = sizes_of(WRITES, budget)
    share = budget / rounds / len(sizes)
    for tool in TOOLS:
        if not shutil.which(tool):
            print(f"skipped: {tool} of table 3: it is not installed")
            continue
        found = in_mb(in_turns(LAYERS, sizes, rounds, lambda name, size: bandwidth(fastsock, tool, LAYERS[name], size, share)))
        lines.update({f"{tool}, {name}": line for name, line in lines_of(found).items()})
        fits += fits_in_words(tool, found)
        text += f"\n{tool} by size of its writes, medians of {rounds} rounds in turns\n" + aligned(rates_in_words(found))
    if lines:
        (to / "fast-sockets-7-tools.svg").write_text(picture(
            "Bandwidth by size of writes, of unmodified programs", f"median of {rounds} rounds in turns, and what they lie between; both sides pinned", "MB/s", lines))
        (to / "fast-sockets-table-3.txt").write_text(
            "Bandwidth curve y = Rmax x / (N(0.5) + x): least squares of relative errors, of each round\n" + aligned(fits) + text)


def of_ftp(fastsock, to, budget):
    """Figure 9."""
    missing = [name for name in ("vsftpd", "curl") if not shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")]
    if missing:
        print(f"skipped: figure 9: {' and '.join(missing)} not installed")
        return
    rounds = rounds_of(budget)
    sizes = sizes_of(FILES, budget)
    share = budget / rounds / len(sizes)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="pipegauge-ftp-", dir=memory))
    try:
        (folder / "files").mkdir()
        folder.chmod(0o755)
        for size in sizes:
            (folder / "files" / str(size)).write_bytes(random.Random(size).randbytes(size))
        with contextlib.ExitStack() as servers:
            ports = {}
            for name, layer in FTP_LAYERS.items():
                ports[name] = free_port()
                servers.enter_context(serving(fastsock, layer, vsftpd(folder, ports[name]), ports[name]))
            found = in_mb(in_turns(FTP_LAYERS, sizes, rounds, lambda name, size: transfers(fastsock, FTP_LAYERS[name], ports[name], folder, size, share)))
    finally:
        shutil.rmtree(folder)
    (to / "fast-sockets-9.svg").write_text(picture(
        "FTP throughput by size of file", f"vsftpd and curl, files {'in memory' if memory else 'on disk'}; median of {rounds} rounds in turns, and what they lie between; both sides pinned",
        "MB/s", lines_of(found)))
    (to / "fast-sockets-9.txt").write_text(f"FTP by size of file, vsftpd and curl, medians of {rounds} rounds in turns\n" + aligned(rates_in_words(found)))


def main(words):
    flags = argparse.ArgumentParser(prog="sockets.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("fastsock")
    flags.add_argument("folder", type=Path)
    flags.add_argument("--budget", type=seconds, default=12.0)
    # What else is said is for the command's own runs.
    said, _ = flags.parse_known_args(words)
    failed = 0
    for part in (of_tools, of_ftp):
        try:
            part(os.path.abspath(said.fastsock), said.folder, said.budget)
        except (RuntimeError, OSError, subprocess.TimeoutExpired, TypeError, KeyError, ValueError) as what:
            print(f"sockets.py: {what}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
