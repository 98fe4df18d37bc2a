#!/usr/bin/env python3
"""Builds every Rust test of the workspace once and runs the test programs, some at a time.

`cargo test` runs one program after the other: while the last test of one goes on, and while a test waits for time to pass, a CPU is idle.
Of this repository's programs that is a good part. cargo-nextest does the same for single tests; building it takes longer than it saves.

Their output is that of libtest, program by program in the order of cargo, so that scripts/count.sh reads it as before. A program that
runs longer than LIMIT is ended and counts as failed.

    scripts/test-rust.py [CARGO'S FLAGS...]      such as --locked --features pipegauge/full
"""

import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

# Seconds that a program may take: the longest needed 1,582 s beside two busy loops.
LIMIT = 2700
# Test programs that run at once: three, as those of real processes mostly wait.
AT_ONCE = 3
# Modules of the end-to-end tests whose tests follow each other (`alone` in support.rs): they run beside the rest, since one that waits for
# its turn would keep another test from a thread. One that is missing here costs time only.
ALONE = ["collectives::", "corosync::", "fabrics::", "jgroups::", "mpi::", "ranks_apart::"]
# Programs that take longest begin first, so that none of them goes on alone at the end.
LONGEST = ["e2e", "known_truth", "truth", "repeats", "shapes", "scale", "between", "breaks"]


def build(flags):
    """The test programs as (name, path, folder to run in), in cargo's order; exits where they can't be built."""
    command = ["cargo", "test", "--workspace", *flags, "--no-run", "--quiet", "--message-format=json-render-diagnostics"]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    programs = []
    for line in told.stdout.splitlines():
        if not line.startswith("{"):
            continue
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message.get("executable"):
            folder = os.path.dirname(message["manifest_path"])
            programs.append((message["target"]["name"], message["executable"], folder))
    if told.returncode != 0 or not programs:
        print("the tests can't be built" if told.returncode != 0 else "cargo built no test program")
        sys.exit(told.returncode or 1)
    return programs


def parts(program):
    """A program as the parts that run by themselves: (name, path, folder, its arguments, threads or none for one a CPU)."""
    if program[0] != "e2e":
        return [(*program, (), None)]
    name, path, folder = program
    turns = (f"{name}, one at a time", path, folder, tuple(ALONE), 1)
    return [turns, (f"{name}, the rest", path, folder, tuple(f"--skip={module}" for module in ALONE), None)]


def run(part):
    """What a part printed, its exit code, and how many seconds it took."""
    name, path, folder, args, threads = part
    began = time.monotonic()
    # What cargo sets for the programs that it starts.
    env = dict(os.environ, CARGO_MANIFEST_DIR=folder)
    first = []
    if threads:
        env.setdefault("RUST_TEST_THREADS", str(threads))
        # Its tests follow each other, so that they end last; and ranks that spin beside others spend the others' time, too.
        if os.geteuid() == 0 and shutil.which("nice"):
            first = ["nice", "-n", "-10"]
    try:
        ended = subprocess.run(
            [*first, path, "--quiet", "--show-output", *args], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=LIMIT,
        )
        output, code = ended.stdout, ended.returncode
    except subprocess.TimeoutExpired as late:
        output, code = (late.stdout or b"") + f"\n{name} was ended after {LIMIT} s\n".encode(), 124
    return output.decode(errors="replace"), code, time.monotonic() - began


def main():
    flags = sys.argv[1:]
    programs = build(flags)
    order = {name: at for at, name in enumerate(LONGEST)}
    queue = sorted(programs, key=lambda p: order.get(p[0], len(LONGEST)))
    failed = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        told = {part: pool.submit(run, part) for program in queue for part in parts(program)}
        for part in (part for program in programs for part in parts(program)):
            output, code, seconds = told[part].result()
            print(f"---- {os.path.basename(part[2])}: {part[0]} ({seconds:.1f} s)\n{output}", flush=True)
            # A program that broke off has no closing line, and would not be counted at all.
            if code != 0 and "test result: " not in output:
                print(f"test result: FAILED. 0 passed; 1 failed; {part[0]} ended with {code}", flush=True)
            if code != 0:
                failed.append(part[0])
    docs = subprocess.run(["cargo", "test", "--workspace", *flags, "--doc", "--quiet", "--", "--show-output"])
    if failed:
        print("failed: " + ", ".join(failed))
    sys.exit(1 if failed or docs.returncode != 0 else 0)


main()
