"""Packed targets in Parquet files, for an engine that cannot open chunks: their runs, and their rows in files of their own.

Memory is bounded by a row group of the file that is read and a group of rows that are written, whatever chunks there are.
"""

import pyarrow
import pyarrow.parquet

from .packed import ROWS, Opener, as_rows, open_row, stored_rows

# Stored rows that are taken at a time, and that one task has before the next begins.
BATCH_ROWS = 64
TASK_ROWS = 1_000
# Rows that wait to be written: the smaller of both.
GROUP_ROWS = 50_000
GROUP_BYTES = 32 << 20
PLACE = ("time_series_id", "time_bucket", "event_bucket")


def portions(source):
    """Work for one process: (number of the file in its table, path, table, first row group, row groups, first row)."""
    for table in source.holding(True):
        for number, file in enumerate(table.files):
            first, begin, row = 0, 0, 0
            for at, rows in enumerate(file.groups):
                row += rows
                if row - begin >= TASK_ROWS or at + 1 == len(file.groups):
                    yield number, file.path, table.name, first, at + 1 - first, begin
                    first, begin = at + 1, row


class Unpacker:
    """Opens the chunks of portions."""

    def __init__(self, source, keep):
        self.splits = {(*place,): split for *place, split, _, _, packed in source.partitions() if packed}
        self.opener = Opener(source.checks, keep)

    def runs(self, portion, out):
        """The runs of a portion, in order. Rows go to the file `out`, which is there only if there are any."""
        with Rows(out) as rows:
            for stored in self.stored(*portion):
                chunk, wrong = open_row(stored)
                if chunk is not None:
                    rows.add(as_rows(stored, chunk))
                yield self.opener.run(stored, chunk, wrong)

    def stored(self, number, path, table, first, groups, row):
        """Stored rows of packed targets, with the split that they are of."""
        with pyarrow.parquet.ParquetFile(path) as file:
            for group in range(first, first + groups):
                for batch in file.iter_batches(BATCH_ROWS, [group]):
                    places = zip(*(batch.column(name).to_pylist() for name in PLACE))
                    splits = [self.splits.get((table, *place)) for place in places]
                    named = batch.append_column("split", pyarrow.array(splits, pyarrow.int32()))
                    named = named.append_column("row", pyarrow.array(range(row, row + batch.num_rows)))
                    for found in stored_rows(named.filter(named.column("split").is_valid())):
                        yield found | {"file": number}
                    row += batch.num_rows


class Rows:
    """Rows into one file of Parquet, a group at a time."""

    def __init__(self, path):
        self.path, self.file = path, None
        self.waiting, self.rows, self.bytes = [], 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.flush()
        if self.file:
            self.file.close()

    def add(self, batch):
        """Takes the rows of a chunk."""
        self.waiting.append(batch)
        self.rows, self.bytes = self.rows + batch.num_rows, self.bytes + batch.nbytes
        if self.rows >= GROUP_ROWS or self.bytes >= GROUP_BYTES:
            self.flush()

    def flush(self):
        """Writes what waits as a group of its own."""
        if self.waiting:
            self.file = self.file or pyarrow.parquet.ParquetWriter(
                self.path, ROWS, compression="lz4", use_dictionary=False, write_statistics=False
            )
            self.file.write_table(pyarrow.Table.from_batches(self.waiting, ROWS), row_group_size=self.rows)
        self.waiting, self.rows, self.bytes = [], 0, 0
