"""Why nothing could be verified. The sentence stands alone and says what to do."""


class Refused(Exception):
    """The input is not what it should be: exit 2."""


class Unreachable(Exception):
    """A cluster or an engine did not answer: exit 6, another attempt may work."""
