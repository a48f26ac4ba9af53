"""Reads what `braid export` wrote with tools that share nothing with this project, and prints it.

    cargo xtask read-export DIR

Checks every file against the manifest (rows, size, SHA-256), that pyarrow and DuckDB see the same rows with the published types and
that the manifest names all there is. Prints the rows as lines of JSON, with the table first and bytes in hexadecimal.
"""

import glob
import hashlib
import json
import os
import sys

import duckdb
import pyarrow.parquet

TYPES = {
    "time_series_id": "string",
    "time_bucket": "int32",
    "event_bucket": "int32",
    "event_time": "int64",
    "event_id": "string",
    "event_item_key": "string",
    "event_item_value": "binary",
    "value_metadata": "binary",
    "write_time": "int64",
}


def shown(values):
    return [value.hex() if isinstance(value, (bytes, bytearray)) else value for value in values]


def read(directory, table, entry):
    """The rows of one file, as pyarrow sees them."""
    path = os.path.join(directory, entry["path"])
    with open(path, "rb") as file:
        content = file.read()
    assert len(content) == entry["bytes"], path
    assert hashlib.sha256(content).hexdigest() == entry["sha256"], path
    file = pyarrow.parquet.ParquetFile(path)
    found = {field.name: str(field.type) for field in file.schema_arrow}
    assert found == TYPES, found
    assert not any(field.nullable for field in file.schema_arrow), "no column is ever null"
    rows = file.read().to_pylist()
    assert len(rows) == entry["rows"], path
    return [[table] + shown(row[name] for name in TYPES) for row in rows]


def main(directory):
    with open(os.path.join(directory, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    assert manifest["state"] == "complete", manifest["state"]
    named = {entry["path"] for table in manifest["tables"] for entry in table["files"]}
    there = {os.path.relpath(path, directory) for path in glob.glob(f"{directory}/data/*/*", include_hidden=True)}
    assert there == named, there ^ named
    rows = []
    for table in manifest["tables"]:
        for entry in table["files"]:
            rows.extend(read(directory, table["name"], entry))
    assert len(rows) == manifest["rows"]
    columns = ", ".join(["\"table\"", *TYPES])
    query = f"select {columns} from read_parquet('{directory}/data/*/*.parquet', hive_partitioning = true)"
    by_duckdb = [shown(row) for row in duckdb.sql(query).fetchall()] if rows else []
    assert sorted(by_duckdb) == sorted(rows), "DuckDB and pyarrow differ"
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main(sys.argv[1])
