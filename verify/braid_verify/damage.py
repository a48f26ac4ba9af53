"""What makes a chunk unfit to be read. It is a finding of the verification and ends nothing: the other chunks are still compared."""


class Damaged(Exception):
    """A chunk that cannot be decoded; the words say why."""


def need(holds, why):
    """Whatever the format asks for."""
    if not holds:
        raise Damaged(why)
