"""What the tests share: a small export, and the program as somebody would call it."""

import json
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from braid_verify.__main__ import main  # noqa: E402
from generate import write_export  # noqa: E402


@pytest.fixture
def run(capsys):
    """Calls the program: (exit code, what it printed, what it said)."""

    def call(*typed):
        try:
            code = main([str(word) for word in typed])
        except SystemExit as left:
            code = left.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def verified(run):
    """Verifies an export: (exit code, report)."""

    def call(export, *typed):
        # One thread unless somebody asks for more: processes of their own cost more than so few rows.
        code, out, err = run(export, "-o", "json", "--threads", 1, *typed)
        assert code in (0, 8), err
        return code, json.loads(out)

    return call


@pytest.fixture
def export(tmp_path):
    """A sound export of its own for each test that spoils one."""
    write_export(tmp_path / "export", 1200, 4)
    return tmp_path / "export"
