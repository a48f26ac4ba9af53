"""What a verification costs, of all processes together: seconds, seconds of processors, memory; both engines on the same export.

    dev/verify --measure [--rows 10000000] [--splits 100] [--layout packed] [--engine duckdb] [--memory 2g] [--keep DIR]
Rows are those of the origins; as many lie in the targets. They are sound, and an engine that says otherwise ends it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).parent
sys.path[:0] = [str(HOME), str(HOME / "tests")]
SAMPLE_SECONDS = 0.25
ENGINES = ("duckdb", "spark")


def arguments():
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--layout", choices=("rows", "packed"), default="rows", help="of the targets")
    parser.add_argument("--engine", choices=ENGINES, help="only this one")
    parser.add_argument("--memory", default="2g")
    parser.add_argument("--threads", default=str(os.cpu_count() or 1))
    parser.add_argument("--keep", metavar="DIR", help="where the export goes and stays; one that is there is used")
    return parser.parse_args()


def tree(pid):
    """A process and all that it started."""
    found, waiting = [], [pid]
    while waiting:
        at = waiting.pop()
        found.append(at)
        for task in Path(f"/proc/{at}/task").glob("*/children"):
            waiting += [int(child) for child in read(task).split()]
    return found


def read(path):
    """A file of a process that may be gone by now."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def memory(pid):
    """Bytes that a process and all that it started hold, shared ones counted once."""
    lines = (line for at in tree(pid) for line in read(Path(f"/proc/{at}/smaps_rollup")).splitlines())
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


def worked(pid):
    """Seconds that processors spent on each of them so far."""
    spent = {}
    for at in tree(pid):
        fields = read(Path(f"/proc/{at}/stat")).rpartition(")")[2].split()
        if fields:
            spent[at] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def measure(export, engine, typed):
    """Runs an engine: (seconds, seconds of processors, peak of memory, what it said)."""
    command = [sys.executable, "-m", "braid_verify", export, "--engine", engine]
    command += ["--memory", typed.memory, "--threads", typed.threads]
    start, peak, spent = time.monotonic(), 0, {}
    with subprocess.Popen(command, cwd=HOME, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        while True:
            try:
                printed, said = job.communicate(timeout=SAMPLE_SECONDS)
                break
            except subprocess.TimeoutExpired:
                peak = max(peak, memory(job.pid))
                spent |= worked(job.pid)
        seconds = time.monotonic() - start
    if job.returncode != 0:
        sys.exit(f"{engine} ended with {job.returncode}:\n{said}{printed}")
    return seconds, sum(spent.values()), peak, said


def main():
    """Makes the export, measures, prints a table."""
    from generate import write_export

    typed = arguments()
    with tempfile.TemporaryDirectory(prefix="braid-measure-") as temporary:
        export = Path(typed.keep or temporary).resolve()
        if not (export / "manifest.json").exists():
            print(f"making {typed.rows:,} rows in {typed.splits:,} splits", file=sys.stderr, flush=True)
            write_export(export, typed.rows, typed.splits, group_rows=100_000, layouts=(typed.layout,))
        size = sum(file.stat().st_size for file in export.rglob("*.parquet"))
        print(f"{typed.rows:,} rows in {typed.splits:,} splits, {typed.layout}, {size >> 20:,} MiB of Parquet, {typed.threads} threads")
        for engine in ENGINES:
            if typed.engine in (None, engine):
                seconds, processor, peak, said = measure(export, engine, typed)
                print(f"{engine:<7} {seconds:7.1f} s {processor:7.1f} s of processors {peak >> 20:7,} MiB", flush=True)
                print(said, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
