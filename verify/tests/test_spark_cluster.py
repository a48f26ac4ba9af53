"""Spark with executors of its own: a master and a worker on this machine, to which the job is sent, give the report that DuckDB gives."""

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyspark
from generate import write_export
from tamper import alter
from test_spark import verify

HOST = "127.0.0.1"
# Of what somebody set for a Spark of theirs, and where this package lies, nothing is handed on: a worker gets it from the job.
OURS = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYTHON", "PYSPARK_"))}


@contextlib.contextmanager
def daemon(kind, work, ready, *words):
    """A daemon of Spark, once it has said that it is ready: the last word of that line."""
    home = Path(pyspark.__file__).parent
    command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", "--host", HOST, "--port", "0", "--webui-port", "0"]
    environment = OURS | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "SPARK_DAEMON_MEMORY": "256m"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([*command, *words], cwd=work, env=environment, **pipes) as process:
        said = []
        try:
            for line in process.stdout:
                said.append(line)
                if ready in line:
                    break
            else:
                raise AssertionError(f"{kind} ended before it was ready: {''.join(said)}")
            # What it says later is of no use here, but has to go somewhere.
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            yield said[-1].split()[-1]
        finally:
            process.terminate()
            process.wait()
        reader.join()


def test_executors_elsewhere_give_the_same_report(tmp_path, monkeypatch):
    export = tmp_path / "export"
    spoil = {1: "target", 2: "origin"}
    layouts = ["rows", "packed"]
    write_export(export, 2_400, 4, lambda split: split.number in spoil and alter(split, spoil[split.number]), layouts=layouts, chunk_bytes=1500)
    by_duckdb = verify(export, "duckdb")
    monkeypatch.setenv("SPARK_LOCAL_IP", HOST)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    size = ("--cores", "2", "--memory", "1g", "--work-dir", str(tmp_path / "worker"))
    with daemon("master.Master", tmp_path, "Starting Spark master at spark://") as master:
        with daemon("worker.Worker", tmp_path, "Successfully registered with master", *size, master):
            by_spark = verify(export, "spark", "--master", master)
    assert by_spark[0] == 8
    assert by_spark == by_duckdb
    # Executors ran there, not in the program.
    assert list((tmp_path / "worker").glob("app-*/0/stderr"))
