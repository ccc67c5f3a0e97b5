"""When trees are tried again where none pay, and when an answer may go on without them. Knows nothing of how
a tree's worth is judged."""

# Iterations without a tree before one is grown to learn what it would bring: PROBE, or, if that is more, DEAR
# for each iteration that such a tree costs in vain. Each trial in vain doubles them, RAREST times at most.
PROBE = 12
DEAR = 32
RAREST = 5
LOST = 1.0  # iterations that the trees of an answer may cost in vain before it may go on without them
ENOUGH = 4  # trees of an answer before it may go on without them, whatever they have cost


class Trials:
    """Counts iterations with and without trees. Where no tree pays, there is none, except one now and then,
    ever more rarely, until one pays or the machine's speed changes.

    Attribute: `plain`, the number of iterations without a tree since the last one with a tree.
    """

    def __init__(self) -> None:
        self._rest = PROBE  # iterations without a tree before the next trial
        self._vain = 0  # trials in vain, one after another
        self.begin(with_trees=True)

    def begin(self, with_trees: bool) -> None:
        """Start an answer. What did not pay in the last one may pay in this one, so it begins with trees; if
        the last answer ended without, those may cost a quarter as much in vain."""
        self.plain = 0
        self._trees = 0  # in this answer
        self._spent_s = self._gained = 0.0  # seconds of these trees, and their tokens
        self._may_lose = LOST if with_trees else LOST / 4
        if not with_trees:
            self._vain //= 2

    def start_over(self) -> None:
        """Forget that trials were in vain: the machine's speed has changed."""
        self._vain, self._rest = 0, PROBE

    def note_plain(self) -> None:
        """Count an iteration without a tree."""
        self.plain += 1

    def note_tree(self) -> None:
        """Count an iteration with a tree."""
        self.plain = 0
        self._trees += 1

    def note_cost(self, seconds: float, tokens: int) -> None:
        """Add what an iteration with a tree cost and gave."""
        self._spent_s += seconds
        self._gained += tokens

    @property
    def is_due(self) -> bool:
        """Whether the next iteration should have a tree, to learn what it brings."""
        return self.plain >= self._rest

    def may_end(self, plain_s: float) -> bool:
        """Return whether this answer has shown enough of its trees to go on without them. plain_s: seconds of
        an iteration without a tree."""
        return self._trees >= ENOUGH or self._spent_s / plain_s - self._gained > self._may_lose

    def note_success(self) -> None:
        """Note that the last trial has paid."""
        self._vain = 0

    def note_failure(self, cost: float) -> None:
        """Note that the last trial was in vain, and set when the next one is due. cost: how many plain
        iterations the time of such a tree's iteration would hold, less one."""
        self._rest = int(max(PROBE, DEAR * cost)) << self._vain
        self._vain = min(self._vain + 1, RAREST)
