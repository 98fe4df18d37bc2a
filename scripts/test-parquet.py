"""Exports a run as Parquet and reads it with DuckDB: what is in it must be what the run file says.

Usage: test-parquet.py PIPEGAUGE, a command built with the feature parquet."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

program = str(Path(sys.argv[1]).resolve())
with tempfile.TemporaryDirectory() as scratch:
    run, table = Path(scratch, "a.run.jsonl"), Path(scratch, "a.parquet")
    subprocess.run(
        [program, "run", "theory", "memcpy", "--sizes", "1,64,4KiB", "--perturb", "0", "--trials", "2", "--repeats", "5",
         "--pin", "none", "--no-html", "--no-history", "--quiet", "-o", run],
        check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "export", run, "--format", "parquet", "-o", table], check=True, stdout=subprocess.DEVNULL)
    events = [json.loads(line) for line in run.read_text().splitlines()]
    trials = [e for e in events if e["event"] == "trial"]
    found = duckdb.sql(f"select * from read_parquet('{table}')")
    assert found.shape[0] == len(trials), f"{found.shape[0]} rows for {len(trials)} trials"
    names = found.columns
    sizes = {row[0] for row in found.select("size_bytes").fetchall()}
    assert sizes == {t["size"] for t in trials}, sizes
    kinds = {row[0] for row in found.select("transport").fetchall()}
    assert kinds == {"theory", "memcpy"}, kinds
    keys = duckdb.sql(f"select key from parquet_kv_metadata('{table}')").fetchall()
    assert any(bytes(k[0]) == b"pipegauge.run" for k in keys), keys
    print(f"{found.shape[0]} rows, {len(names)} columns: {', '.join(names)}")
