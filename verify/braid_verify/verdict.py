"""What the two passes mean, split by split. Pure: the same findings give the same words, whichever engine found them."""

from .check import Digest
from .placement import first_target
from .scan import first_examples

ROW_COUNTS = ("matching", "missing", "phantom", "misplaced", "unordered")
CHUNK_COUNTS = ("damaged", "miscut", "miscoded")
COUNTS = (*ROW_COUNTS, *CHUNK_COUNTS)
VERSION = 1


def judge(source, runs, differences):
    """The whole report as plain data."""
    by_split = {}
    for run in runs:
        by_split.setdefault(run.split, []).append(run)
    splits = [
        judge_split(check, by_split.get(split, []), differences, split) for split, check in enumerate(source.checks)
    ]
    in_targets = sum(run.stored for run in runs if run.side < 0)
    stored = sum(table.rows for table in source.tables if table.kind == "target")
    different = sum(split["result"] != "equal" for split in splits)
    return {
        "kind": "braid verification",
        "version": VERSION,
        "source": source.name,
        "namespace": source.namespace,
        "incarnation": source.incarnation,
        "result": "different" if different else "equal",
        "splits": len(splits),
        "equal": len(splits) - different,
        "different": different,
        **{name: sum(split[name] for split in splits) for name in COUNTS},
        "rows_of_no_split": stored - in_targets,
        "left_out": list(source.left_out),
        "details": splits,
    }


def judge_split(check, runs, differences, split):
    """One split."""
    origin, targets = side_digest(runs, 1), side_digest(runs, -1)
    missing = differences.counts.get((split, "missing"), 0)
    phantom = differences.counts.get((split, "phantom"), 0)
    counts = {"matching": origin.rows - missing, "missing": missing, "phantom": phantom}
    counts |= {name: sum(getattr(run, name) for run in runs) for name in COUNTS[len(counts) :]}
    notes = list(contradictions(check, runs, origin, targets))
    rows = [dict(row) for kind in ("missing", "phantom") for row in differences.examples.get((split, kind), [])]
    pair_altered(rows)
    rows += first_examples([row for run in runs for row in run.examples], differences.keep)
    return {
        "id": check.id,
        "attempt": check.attempt,
        "strategy": check.strategy,
        "layout": check.layout,
        "targets": check.targets,
        "covered_until": check.covered_until,
        "result": "different" if any(counts[name] for name in COUNTS[1:]) or notes else "equal",
        **counts,
        "digests": {
            "recorded": check.digest.shown(),
            "origin": origin.shown(),
            "targets": targets.shown(),
        },
        "notes": notes,
        "rows": rows,
    }


def side_digest(runs, side):
    """The digest of the origin, or of all targets together."""
    total = Digest()
    for run in runs:
        if run.side == side:
            total = total.plus(run.digest)
    return total


def contradictions(check, runs, origin, targets):
    """What the record says of the split and the rows do not."""
    for name, found in (("origin adds", origin), ("targets add", targets)):
        if found != check.digest:
            yield f"the {name} up to {words(found)}; the record says {words(check.digest)}"
    begin = first_target(check)
    if check.start_event_bucket != begin:
        yield (
            f"its targets begin at event bucket {check.start_event_bucket}; "
            f"attempt {check.attempt} of event bucket {check.event_bucket} begins at {begin}"
        )
    # Rows that came late are in the digest and not in these counts.
    if check.stragglers:
        return
    held = {run.event_bucket: run for run in runs if run.side < 0}
    for event_bucket, rows, size, stored, stored_size in check.partitions:
        run = held.get(event_bucket)
        found = run.digest if run else Digest()
        if (found.rows, found.bytes) != (rows, size):
            yield (
                f"target {event_bucket} holds {found.rows} rows of {found.bytes} bytes; "
                f"{rows} of {size} were read back when it was made"
            )
        chunks = (run.stored, run.stored_bytes) if run else (0, 0)
        if check.is_packed and chunks != (stored, stored_size):
            yield (
                f"target {event_bucket} holds {chunks[0]} chunks of {chunks[1]} bytes; "
                f"{stored} of {stored_size} were read back when it was made"
            )


def words(digest):
    """A digest in one line."""
    shown = digest.shown()
    return f"{shown['rows']} rows, {shown['bytes']} bytes, {shown['checksum']}"


def pair_altered(rows):
    """A row that is missing and phantom under one key was altered; says in which columns."""
    columns = {
        "event_item_value": ("value_blake3", "value_bytes"),
        "value_metadata": ("metadata_blake3",),
        "write_time": ("write_time",),
    }
    by_key = {}
    for row in rows:
        key = (row["event_time"], row["event_id"], row["event_item_key"])
        by_key.setdefault(key, {}).setdefault(row["kind"], []).append(row)
    for kinds in by_key.values():
        if len(kinds.get("missing", [])) == 1 == len(kinds.get("phantom", [])):
            (missing,), (phantom,) = kinds["missing"], kinds["phantom"]
            changed = [
                column for column, parts in columns.items() if any(missing[part] != phantom[part] for part in parts)
            ]
            missing["altered"] = phantom["altered"] = changed
