"""What people see."""

from generate import write_export
from tamper import misplace, remove


def test_a_table(tmp_path, run):
    ways = {0: remove, 1: misplace}
    spoiled = {}
    write_export(tmp_path, 200, 2, lambda split: spoiled.update({split.number: ways[split.number](split, "target")}))
    code, out, err = run(tmp_path, "--threads", 1)
    assert code == 8
    lines = out.splitlines()
    head = lines[0].split()
    counted = "MATCHING MISSING PHANTOM MISPLACED UNORDERED DAMAGED MISCUT MISCODED"
    assert " ".join(head) == f"SPLIT STRATEGY LAYOUT TARGETS {counted} DIGEST RESULT"
    assert lines[1].split()[-9:] == ["1", "0", "0", "0", "0", "0", "0", "DIFFERENT", "DIFFERENT"]
    # Every row is there and none was altered, so digests cannot tell: only placement can.
    assert lines[2].split()[-9:] == ["0", "0", "1", "0", "0", "0", "0", "equal", "DIFFERENT"]
    assert len({line.rindex(word) for line, word in zip(lines[1:3], ("DIFFERENT", "DIFFERENT"))}) == 1
    missing, misplaced = spoiled[0][0], spoiled[1][0]
    assert f"missing    item {missing[2]!r} of event {missing[1]!r} at 2026-03-28T03:" in out
    assert f"({missing[0]} ns) should be in event bucket" in out
    assert f"misplaced  item {misplaced[2]!r} of event {misplaced[1]!r} at 2026-03-28T04:" in out
    assert "of the targets and belongs to event bucket" in out
    assert lines[-1].startswith("2 DIFFERENT: 2 splits, rows: ")
    assert "2 DIFFERENT" not in err
    assert "2 DIFFERENT: 2 splits" in run(tmp_path, "--threads", 1, "-o", "json")[2]
