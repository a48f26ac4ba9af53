"""A directory that `braid export` wrote: its manifest, its files and its split records, or a plain refusal.

Invariant: what comes out of here is complete and unchanged since it was written. Every file has the size, the hash, the rows and
the columns that the manifest and `docs/formats/export.md` say, and there is no file that the manifest does not name.
"""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pyarrow.parquet

from .check import Reader, member, parse
from .refusal import Refused
from .source import COLUMNS, File, Source, Table, refuse_overlaps

KIND = "braid export"
VERSION = 1
MANIFEST = "manifest.json"
# Far above what an export writes; a file with more was not written by one.
MANIFEST_BYTES_MAX = 256 << 20
SPLIT_BYTES_MAX = 4 << 20
READ_BYTES = 1 << 20
AGAIN = "make a new export"


def open_export(directory, threads):
    """Reads and checks all but the rows."""
    root = Path(directory)
    manifest = read_manifest(root)
    refuse_unfit(manifest, root)
    tables = member(manifest, "tables", list, MANIFEST)
    files = [file for table in tables for file in member(table, "files", list, MANIFEST)]
    files.append(member(manifest, "splits", dict, MANIFEST))
    refuse_strays(root, files)
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda file: check_hash(root, file), files):
            pass
        opened = tuple(open_table(root, table, pool) for table in tables)
    checks = tuple(read_splits(root, manifest["splits"]))
    for check in checks:
        refuse_other_shape(check, tables, manifest)
    source = Source(
        name=str(directory),
        namespace=member(manifest, "namespace", str, MANIFEST),
        incarnation=member(manifest, "incarnation", int, MANIFEST),
        tables=opened,
        checks=checks,
        left_out=tuple(manifest.get("left_out") or ()),
    )
    refuse_overlaps(source)
    return source


def read_manifest(root):
    """The manifest as it is."""
    path = root / MANIFEST
    if not root.is_dir():
        raise Refused(f"there is no directory {root}; name one that `braid export --with-splits` wrote")
    if not path.is_file():
        raise Refused(f"{root} has no {MANIFEST}, so it is no export; name the directory given to `braid export`")
    if path.stat().st_size > MANIFEST_BYTES_MAX:
        raise Refused(f"{path} has over {MANIFEST_BYTES_MAX >> 20} MiB, so it is no manifest; {AGAIN}")
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError as error:
        raise Refused(f"{path} is not JSON ({error}); {AGAIN}") from None
    if not isinstance(manifest, dict):
        raise Refused(f"{path} is not a JSON object; {AGAIN}")
    return manifest


def refuse_unfit(manifest, root):
    """Exports of another kind, of another version, unfinished, or without what is needed."""
    if manifest.get("kind") != KIND:
        raise Refused(f"{root / MANIFEST} is of kind {manifest.get('kind')!r}, not {KIND!r}")
    if manifest.get("version") != VERSION:
        raise Refused(
            f"{root / MANIFEST} has version {manifest.get('version')!r}, and this program knows {VERSION}; "
            "take the program that belongs to the Braid that wrote it"
        )
    if manifest.get("format") != "parquet":
        raise Refused(f"the export has the format {manifest.get('format')!r}; export with `--format parquet`")
    if manifest.get("state") != "complete":
        raise Refused(f"the export in {root} is not at its end; run the same `braid export` again, it goes on")
    if manifest.get("consistent") is False:
        raise Refused(f"the export in {root} was made with `--include-open`, so rows may have changed; export without it")
    if not manifest.get("splits"):
        raise Refused(f"the export in {root} has no split records; export with `--with-splits` or `--split ID`")


def inside(root, file):
    """Where a file of the manifest lies; never outside of the export."""
    name = member(file, "path", str, MANIFEST)
    if os.path.isabs(name) or ".." in Path(name).parts:
        raise Refused(f"{MANIFEST} names {name}, which lies outside of the export; {AGAIN}")
    return root / name


def refuse_strays(root, files):
    """Data that the manifest does not name would be read by other tools and not by this one."""
    known = {inside(root, file) for file in files}
    for path in sorted((root / "data").rglob("*.parquet")):
        if not path.name.startswith(".") and path not in known:
            raise Refused(f"{path} is not in {MANIFEST}: somebody put it there; remove it or {AGAIN}")


def check_hash(root, file):
    """Whether a file is the one that was written."""
    path = inside(root, file)
    if not path.is_file():
        raise Refused(f"{path} is missing, though {MANIFEST} names it; {AGAIN}")
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(READ_BYTES):
            digest.update(block)
    if digest.hexdigest() != member(file, "sha256", str, MANIFEST):
        raise Refused(f"{path} has another SHA-256 than {MANIFEST} says: it was changed after the export; {AGAIN}")


def open_table(root, table, pool):
    """A table with its files, each looked at."""
    files = pool.map(lambda file: open_file(inside(root, file), member(file, "rows", int, MANIFEST)), table["files"])
    kind = member(table, "kind", str, MANIFEST)
    if kind not in ("origin", "target"):
        raise Refused(f"{MANIFEST} has a table of kind {kind!r}; known are 'origin' and 'target'")
    return Table(member(table, "name", str, MANIFEST), kind, tuple(files))


def open_file(path, rows):
    """A file of Parquet by its footer."""
    try:
        footer = pyarrow.parquet.read_metadata(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise Refused(f"{path} is not Parquet ({error}); {AGAIN}") from None
    columns = {footer.schema.column(at).path: footer.schema.column(at) for at in range(footer.num_columns)}
    for name, kind in COLUMNS.items():
        found = columns[name].physical_type if name in columns else "missing"
        if found != kind:
            raise Refused(f"{path}: column `{name}` should be {kind} and is {found}; {AGAIN}")
    if footer.num_rows != rows:
        raise Refused(f"{path} has {footer.num_rows} rows, and {MANIFEST} says {rows}; {AGAIN}")
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    for name in COLUMNS:
        refuse_nulls(path, columns[name], name, groups)
    return File(str(path.resolve()), tuple(group.num_rows for group in groups))


def refuse_nulls(path, column, name, groups):
    """No value is ever null; a column that may be has to say in its statistics that it is not."""
    if column.max_definition_level == 0:
        return
    for group in groups:
        parts = (group.column(at) for at in range(group.num_columns))
        statistics = next(part for part in parts if part.path_in_schema == name).statistics
        if statistics is None or statistics.null_count != 0:
            raise Refused(f"{path}: column `{name}` has nulls, or does not say that it has none; {AGAIN}")


def read_splits(root, splits):
    """The lines of `splits.ndjson`, one after the other."""
    path = inside(root, splits)
    count = 0
    with path.open("rb") as lines:
        while line := lines.readline(SPLIT_BYTES_MAX):
            count += 1
            where = f"{path.name} line {count}"
            try:
                fields = json.loads(line)
            except ValueError as error:
                raise Refused(f"{where} is not JSON ({error}); {AGAIN}") from None
            if not isinstance(fields, dict):
                raise Refused(f"{where} is not a JSON object; {AGAIN}")
            yield parse(fields, where)
    if count != member(splits, "count", int, MANIFEST):
        raise Refused(f"{path} has {count} lines, and {MANIFEST} says {splits['count']}; {AGAIN}")


def refuse_other_shape(check, tables, manifest):
    """A split and the manifest have to speak of the same slice, all of it inside of what was exported."""
    by_name = {table["name"]: table for table in tables}
    for name, kind in ((check.origin_table, "origin"), (check.target_table, "target")):
        table = by_name.get(name)
        if table is None or table.get("kind") != kind:
            raise Refused(f"split {check.id} needs the {kind} table {name}, which is not in the export; {AGAIN}")
        if table.get("state") != "done":
            raise Refused(f"table {name} of split {check.id} is {table.get('state')!r}, not 'done'; {AGAIN}")
        shape = Reader(table, f"{MANIFEST}, table {name}")
        for part in ("slice_start", "seconds_per_bucket", "buckets_per_id", "split_stride"):
            if shape.number(part) != getattr(check, part):
                raise Refused(f"split {check.id} and {MANIFEST} differ in `{part}` of {name}; {AGAIN}")
    bounds = Reader(manifest, MANIFEST)
    if check.bucket_start < bounds.number("start") or check.bucket_end > bounds.number("end"):
        raise Refused(f"the time bucket of split {check.id} is not whole in the export; {AGAIN}")
