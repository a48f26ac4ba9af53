"""How a report is shown: as JSON for programs, as a table for people."""

import json
from datetime import datetime, timedelta, timezone

from .verdict import CHUNK_COUNTS, COUNTS, ROW_COUNTS

HEAD = ("SPLIT", "STRATEGY", "LAYOUT", "TARGETS", *(name.upper() for name in COUNTS), "DIGEST", "RESULT")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
NANOS = 1_000_000_000


def as_json(report):
    """One object."""
    return json.dumps(report, indent=2, ensure_ascii=False)


def as_table(report):
    """A line a split, then what is wrong, then one line about all."""
    lines = table([HEAD, *(row(split) for split in report["details"])])
    for split in report["details"]:
        if split["result"] != "equal":
            lines += ["", f"{split['id']}:"]
            lines += ["  " + note for note in split["notes"]]
            lines += ["  " + told(found) for found in split["rows"]]
            lines += left_off(split)
    for left in report["left_out"]:
        lines += [f"not in the export: {left.get('what')} {left.get('name')}: {left.get('reason')}"]
    if report["rows_of_no_split"]:
        lines.append(f"{report['rows_of_no_split']:,} rows of target tables are of no split here, and were not compared")
    return "\n".join([*lines, "", summary(report)])


def summary(report):
    """The verdict in one line."""
    rows, chunks = (", ".join(f"{report[name]:,} {name}" for name in names) for names in (ROW_COUNTS, CHUNK_COUNTS))
    verdict = "EQUAL" if report["result"] == "equal" else f"{report['different']:,} DIFFERENT"
    return f"{verdict}: {report['splits']:,} splits, rows: {rows}, chunks: {chunks}"


def row(split):
    """A split as cells."""
    digests = split["digests"]
    agree = digests["origin"] == digests["targets"] == digests["recorded"]
    return (
        split["id"],
        split["strategy"],
        split["layout"],
        str(split["targets"]),
        *(f"{split[name]:,}" for name in COUNTS),
        "equal" if agree else "DIFFERENT",
        split["result"] if split["result"] == "equal" else "DIFFERENT",
    )


def table(rows):
    """Columns as wide as they need to be; numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    numbers = range(3, 4 + len(COUNTS))
    return [
        "  ".join(
            cell.rjust(width) if at in numbers else cell.ljust(width) for at, (cell, width) in enumerate(zip(cells, widths))
        ).rstrip()
        for cells in rows
    ]


def told(found):
    """One row that is wrong, in words."""
    kind, bucket = found["kind"], found["event_bucket"]
    if kind in CHUNK_COUNTS:
        return f"{kind:<9}  chunk of event {found['event_id']!r} at {when(found['event_time'])} in event bucket {bucket}: {found['reason']}"
    name = f"item {found['event_item_key']!r} of event {found['event_id']!r} at {when(found['event_time'])}"
    if kind == "missing":
        place = f"should be in event bucket {bucket} of the targets"
    elif kind == "phantom":
        place = f"is in event bucket {bucket} of the targets and not in the origin"
    elif kind == "misplaced":
        place = f"is in event bucket {bucket} of the {found['side']} and belongs to {found['belongs']}"
    else:
        place = f"is not older than the row before it in event bucket {bucket} of the {found['side']}"
    more = f", {found['times']} times" if found.get("times", 1) > 1 else ""
    if found.get("altered"):
        more += f"; altered: {', '.join(found['altered'])}"
    return f"{kind:<9}  {name} {place}{more}"


def left_off(split):
    """How many rows are not named."""
    named = {}
    for found in split["rows"]:
        named[found["kind"]] = named.get(found["kind"], 0) + found.get("times", 1)
    return [
        f"  and {split[kind] - named.get(kind, 0):,} more {'chunks' if kind in CHUNK_COUNTS else 'rows'} that are {kind}"
        for kind in COUNTS[1:]
        if split[kind] > named.get(kind, 0)
    ]


def when(nanos):
    """A time with nine digits behind the second, and as the number that it is."""
    seconds, rest = divmod(nanos, NANOS)
    try:
        return f"{EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{rest:09}Z ({nanos} ns)"
    except OverflowError:
        return f"{nanos} ns"
