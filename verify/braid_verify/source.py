"""What there is to verify, whether it came from an export or from a cluster: tables of Parquet files, and what splits claim."""

from dataclasses import dataclass, field

from .refusal import Refused

# A file of Parquet has these columns, with these physical types, and may have others.
COLUMNS = {
    "time_series_id": "BYTE_ARRAY",
    "time_bucket": "INT32",
    "event_bucket": "INT32",
    "event_time": "INT64",
    "event_id": "BYTE_ARRAY",
    "event_item_key": "BYTE_ARRAY",
    "event_item_value": "BYTE_ARRAY",
    "value_metadata": "BYTE_ARRAY",
    "write_time": "INT64",
}


@dataclass(frozen=True)
class File:
    """A file of rows, and how many rows each of its row groups has."""

    path: str
    groups: tuple

    @property
    def rows(self):
        """All of them."""
        return sum(self.groups)


@dataclass(frozen=True)
class Table:
    """A table: its files in order."""

    name: str
    kind: str
    files: tuple

    @property
    def rows(self):
        """Of all files."""
        return sum(file.rows for file in self.files)


@dataclass(frozen=True)
class Source:
    """What there is to verify."""

    name: str
    namespace: str
    incarnation: int
    tables: tuple
    checks: tuple
    left_out: tuple = field(default=())

    def used(self):
        """The tables that some split is about."""
        return self.holding(False, True)

    def holding(self, *layouts):
        """The tables with partitions that are packed (True), or that are not (False); one may have both."""
        names = {table for table, *_, packed in self.partitions() if packed in layouts}
        return [table for table in self.tables if table.name in names and table.files]

    def partitions(self):
        """Every partition of every split, and those beside origins."""
        return partitions(self.checks)


def partitions(checks):
    """Every partition of every split: (table, series, time bucket, event bucket, split, side, newest time, packed).

    The side is 1 for an origin and -1 for a target, so that a sum over both is the surplus of the origin. Of an origin
    only rows before `covered_until` count, of targets all: what lies behind it does not belong there. The side is 0 for partitions
    beside an origin that are not split: they are in no sum, and no row of the origin may lie in them. Where several origins lie
    beside one, it comes with the first.
    """
    taken = {(check.origin_table, check.time_series_id, check.time_bucket, check.event_bucket) for check in checks}
    for split, check in enumerate(checks):
        series, bucket, newest = check.time_series_id, check.time_bucket, check.covered_until - 1
        yield check.origin_table, series, bucket, check.event_bucket, split, 1, newest, False
        for ordinal in range(check.targets):
            target = check.start_event_bucket + ordinal
            yield check.target_table, series, bucket, target, split, -1, 2**63 - 1, check.is_packed
        for beside in range(check.buckets_per_id):
            place = check.origin_table, series, bucket, beside
            if place not in taken:
                taken.add(place)
                yield *place, split, 0, newest, False


def refuse_overlaps(source):
    """A partition belongs to one split; were it in two, its rows would count twice."""
    seen = {}
    for table, series, time_bucket, event_bucket, split, *_ in source.partitions():
        other = seen.setdefault((table, series, time_bucket, event_bucket), split)
        if other != split:
            first, second = source.checks[other].id, source.checks[split].id
            raise Refused(
                f"the splits {first} and {second} both have partition {time_bucket}/{event_bucket} of {table}; "
                "the records are damaged"
            )
