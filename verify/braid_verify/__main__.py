"""`python -m braid_verify`: what was typed, and what becomes of it. Exit 0: all equal; 8: something differs; 2: bad input; 6: no answer."""

import argparse
import os
import sys
import time

from . import report
from .refusal import Refused, Unreachable
from .verdict import judge

EQUAL, BAD_INPUT, NO_ANSWER, DIFFERENT = 0, 2, 6, 8
SUFFIXES = {"k": 10, "m": 20, "g": 30, "t": 40}
MEMORY_LEAST = 256 << 20
KEPT_MOST = 10_000
# Splits that are left out and told, where there are more.
LEFT_OUT_NAMED = 20


def size(text):
    """`2g`, `512m`, `2GiB` as bytes."""
    plain = text.lower().removesuffix("ib")
    digits, suffix = (plain[:-1], plain[-1]) if plain[-1:] in SUFFIXES else (plain, "")
    if not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 2g or 512m")
    value = int(digits) << SUFFIXES.get(suffix, 0)
    if value < MEMORY_LEAST:
        raise argparse.ArgumentTypeError(f"{text} is too little; the engines need {MEMORY_LEAST >> 20}m at least")
    return value


def number(least, most):
    """A whole number between two others."""

    def parse(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} to {most}")
        return int(text)

    return parse


def arguments():
    """What can be typed."""
    parser = argparse.ArgumentParser(
        prog="python -m braid_verify",
        description="Proves completed splits from their rows: both set differences, placement, order, digests.",
        epilog="Exit: 0 all splits are equal, 8 one is not, 2 the input is not fit, 6 a cluster or an engine did not answer.",
    )
    parser.add_argument("export", nargs="?", metavar="EXPORT", help="directory that `braid export --with-splits` wrote")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--master", help="master URL of Spark (default: this machine)")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    parser.add_argument("--threads", type=number(1, 1024), default=os.cpu_count() or 1, help="on this machine")
    parser.add_argument("--memory", type=size, default=size("2g"), help="of the engine on this machine (2g); more goes to disk")
    parser.add_argument("--spill", metavar="DIR", help="where that goes, and what is read from a cluster")
    parser.add_argument("--examples", dest="keep", type=number(1, KEPT_MOST), default=20, help="rows named per split and kind")
    parser.add_argument("--allow-empty", action="store_true", help="no split at all is fine")
    parser.add_argument("--complete", action="store_true", help="refuse what leaves out a split (exit 2)")
    cluster = parser.add_argument_group("straight from a Cassandra cluster, instead of an EXPORT")
    cluster.add_argument("--cassandra", metavar="HOST[,HOST]", help="contact points")
    cluster.add_argument("--keyspace", help="of the namespace: <prefix>_<namespace>_<incarnation>")
    cluster.add_argument("--port", type=number(1, 65535), default=9042)
    cluster.add_argument("--slice", action="append", default=[], help="table of a slice; again for more (default: all)")
    cluster.add_argument("--consistency", default="QUORUM", choices=("ONE", "QUORUM", "LOCAL_QUORUM", "ALL"))
    cluster.add_argument("--user")
    cluster.add_argument("--password-file", metavar="FILE")
    cluster.add_argument("--tls-ca", metavar="FILE", help="use TLS, and trust what this certificate signed")
    return parser


def parse(argv):
    """What was typed, as far as it makes sense together."""
    parser = arguments()
    options = parser.parse_args(argv)
    if (options.export is None) == (options.cassandra is None):
        parser.error("name an EXPORT, or a cluster with --cassandra")
    if options.cassandra and not options.keyspace:
        parser.error("--cassandra needs --keyspace <prefix>_<namespace>_<incarnation>")
    if options.spill and not os.path.isdir(options.spill):
        parser.error(f"--spill {options.spill}: there is no such directory")
    if options.master and options.engine != "spark":
        parser.error("--master belongs to --engine spark")
    return options


def verify(options, say):
    """The report, and which engine made it."""
    if options.engine == "spark":
        from . import spark as engine
    else:
        from . import duck as engine
    if options.cassandra:
        from .cassandra import read_cluster

        with read_cluster(options, say) as source:
            return judge_with(engine, source, options, say)
    from .export import open_export

    say(f"checking the files of {options.export}")
    return judge_with(engine, open_export(options.export, options.threads), options, say)


def judge_with(engine, source, options, say):
    """The report by one engine."""
    if options.complete:
        refuse_left_out(source)
    if not source.checks and not options.allow_empty:
        raise Refused(f"{source.name} has no completed split: nothing would be proven; if that is fine, say --allow-empty")
    rows = sum(table.rows for table in source.used())
    say(f"{len(source.checks):,} splits, {rows:,} rows in their tables, {engine.version()}")
    return judge(source, *engine.verify(source, options, say))


def refuse_left_out(source):
    """Splits that were asked for and are not there: what is there may be equal, and says nothing of them."""
    left_out = [left for left in source.left_out if left.get("what") == "split"]
    if left_out:
        named = "; ".join(f"{left.get('name')}: {left.get('reason')}" for left in left_out[:LEFT_OUT_NAMED])
        more = f"; and {len(left_out) - LEFT_OUT_NAMED:,} more" if len(left_out) > LEFT_OUT_NAMED else ""
        raise Refused(f"{source.name} leaves out {len(left_out):,} splits ({named}{more}); take what has them, or leave --complete away")


def main(argv=None):
    """Runs, shows, and says how it went."""
    options = parse(argv)
    start = time.monotonic()

    def say(text):
        print(f"{time.monotonic() - start:7.1f} s  {text}", file=sys.stderr, flush=True)

    try:
        found = verify(options, say)
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        print(f"error: {error}; mend that and try again", file=sys.stderr)
        return BAD_INPUT
    except Unreachable as unreachable:
        print(f"error: {unreachable}", file=sys.stderr)
        return NO_ANSWER
    print(report.as_json(found) if options.output == "json" else report.as_table(found), flush=True)
    say("done" if options.output == "table" else report.summary(found))
    return EQUAL if found["result"] == "equal" else DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
