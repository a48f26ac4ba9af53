"""Both set differences: rows that the origin has more often than the targets are missing, the others are phantom.

An engine computes them as one sum over all rows of both sides, grouped by every column, so a row that is there twice is not the same as
one that is there once. What comes out is counted here, and the newest rows of each kind are kept by name.
"""

import blake3
import numpy

from .placement import hashes, targets
from .scan import example

# The same words for both engines. Series and time bucket are those of the split; the event bucket is what a split changes,
# and `scan` checks it. `side` is 1 in an origin and -1 in a target.
QUERY = """
SELECT split, event_time, event_id, event_item_key, event_item_value, value_metadata, write_time,
       CAST(sum(side) AS BIGINT) AS surplus,
       CAST(coalesce(min(CASE WHEN side < 0 THEN event_bucket END), -1) AS INT) AS target
FROM chosen
GROUP BY split, event_time, event_id, event_item_key, event_item_value, value_metadata, write_time
HAVING sum(side) <> 0
"""
KINDS = (("missing", 1), ("phantom", -1))


class Differences:
    """What was found so far."""

    def __init__(self, checks, keep):
        self.checks = checks
        self.keep = keep
        self.counts = {}
        self.examples = {}

    def add(self, batch):
        """Takes rows that `QUERY` gave."""
        splits = batch.column("split").to_numpy()
        surplus = batch.column("surplus").to_numpy()
        times = batch.column("event_time").to_numpy()
        for split in numpy.unique(splits).tolist():
            for kind, sign in KINDS:
                rows = numpy.flatnonzero((splits == split) & (surplus * sign > 0))
                if rows.size:
                    self.count(split, kind, int((surplus[rows] * sign).sum()))
                    self.keep_newest(split, kind, [self.named(batch, at, kind) for at in newest(times, rows, self.keep)])

    def count(self, split, kind, rows):
        """Counts rows."""
        self.counts[split, kind] = self.counts.get((split, kind), 0) + rows

    def keep_newest(self, split, kind, examples):
        """Keeps the newest, whoever found them first."""
        kept = self.examples.get((split, kind), []) + examples
        kept.sort(key=lambda row: tuple(row[name] for name in ORDER), reverse=True)
        self.examples[split, kind] = kept[: self.keep]

    def named(self, batch, at, kind):
        """One row, as the report names it."""
        row = {name: batch.column(name)[at].as_py() for name in batch.schema.names}
        check = self.checks[row["split"]]
        time = numpy.array([row["event_time"]])
        belongs = int(targets(check, time, hashes([row["event_id"].encode()]))[0])
        bucket = row["target"] if kind == "phantom" else belongs
        return example(
            kind,
            bucket,
            (row["event_time"], row["event_id"], row["event_item_key"]),
            times=abs(row["surplus"]),
            write_time=row["write_time"],
            value_bytes=len(row["event_item_value"]),
            value_blake3=short(row["event_item_value"]),
            metadata_blake3=short(row["value_metadata"]),
        )

    def plain(self):
        """As data that can be handed on as text."""
        return [[split, kind, rows, self.examples[split, kind]] for (split, kind), rows in self.counts.items()]

    def add_plain(self, found):
        """The other way round."""
        for split, kind, rows, examples in found:
            self.count(split, kind, rows)
            self.keep_newest(split, kind, examples)


ORDER = ("event_time", "event_id", "event_item_key", "value_blake3", "metadata_blake3", "write_time")


def short(value):
    """Tells values apart without showing them."""
    return blake3.blake3(value).hexdigest()[:16]


def newest(times, rows, keep):
    """The rows among which the newest must be: a bounded number, but for those of one and the same time."""
    if rows.size <= keep:
        return rows.tolist()
    least = numpy.partition(times[rows], rows.size - keep)[rows.size - keep]
    return rows[times[rows] >= least].tolist()
