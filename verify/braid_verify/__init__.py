"""Proves splits a second time, from their rows alone.

Nothing here calls Braid or shares code with it: all that this package knows is written in `docs/formats/export.md`,
`chunk.md`, `splits.md`, `catalog.md` and `cassandra.md`. In reading order: `check` (what a split claims), `export` (a directory that
`braid export` wrote), `placement` and `digest` (the published rules), `header` and `chunk` (chunks of packed targets), `cut` (where
these end and how they are compressed), `scan` (one pass over all rows), `differences` (both set differences), `duck` and `spark` (the
two engines), `verdict` (what it all means), `report` (how it is shown).
"""
