"""Recognises an answer that repeats itself over and over, as small models do until the context is full.

A loop is recognised when the last tokens equal those one period earlier, token by token, for at least
`LOOPED` tokens and for three periods: the same words then stand there four times or more. Text that people
ask for stays below: rows of a table and items of a list differ from each other, a refrain comes back after
other lines, and a line of dashes is a few tokens long. Only an array of equal numbers is long, so a period
of a few tokens has to last longer.
"""

LOOPED = 256  # tokens; a false alarm costs the reader a click, a late one a minute of waiting
LOOPED_SHORT = 512  # the same for a period shorter than SEED
PERIODS = 3
SEED = 8  # tokens that have to occur again before a period is assumed


class LoopDetector:
    """Watches the tokens of one answer. Each token takes the same short time, however long the answer is.

    Attribute: `found`, whether the answer goes round in a loop. It depends on the tokens alone.
    """

    def __init__(self) -> None:
        self.found = False
        self._tokens: list[int] = []
        self._last: dict[tuple[int, ...], int] = {}  # the last SEED tokens -> the number of tokens up to them
        self._period = 0  # 0: none assumed
        self._looped = 0  # number of tokens that equal those one period earlier

    def add(self, token: int) -> None:
        """Add the next token of the answer."""
        tokens = self._tokens
        tokens.append(token)
        if self._period and token == tokens[-1 - self._period]:
            self._looped += 1
        else:
            self._period = self._looped = 0
        if len(tokens) < SEED:
            return
        seed = tuple(tokens[-SEED:])
        before = self._last.get(seed)
        if before is not None and not self._period:
            self._period, self._looped = len(tokens) - before, SEED
        self._last[seed] = len(tokens)
        least = LOOPED if self._period >= SEED else LOOPED_SHORT
        self.found |= self._looped >= max(least, PERIODS * self._period)
