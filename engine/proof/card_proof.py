"""The proof of the card that this process computes on: tried, kept, and taken back by one step if the card
stops later."""

from collections.abc import Callable, Sequence

from engine import machine, ways
from engine.proof import ladder, record
from engine.proof.speeds import speed_of
from engine.proof.trial import Tester, TriedWay
from engine.proof.trial_process import TrialProcess
from engine.protocol import SaferWay


class CardProof:
    """The ways of computing that were tried on a card, for the kernels that the loaded models need.

    Attributes: `kernels`: their names; `tried`: the results of all ways that were tried, for other models,
    too.
    """

    def __init__(self, gpu: machine.Gpu, make_tester: Callable[[], Tester] = TrialProcess) -> None:
        self.kernels: Sequence[str] = ()
        self._gpu = gpu
        self._identity = record.identity_of(gpu)
        self._make_tester = make_tester
        self.tried: list[TriedWay] = record.read(self._identity)

    def prove(
        self, kernels: Sequence[str], progress: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        """Try the kernels that were not tried before, keep the results if the card was reached, and take the
        ways that are right. progress: as for `ladder.prove`."""
        self.kernels = kernels
        tester = self._make_tester()
        known = len(self.tried)
        try:
            self.tried = ladder.prove(kernels, self.tried, tester, progress)
        finally:
            tester.close()
        if any(each.outcome != "unreachable" for each in self.tried[known:]):
            self._keep()
        ways.take(ladder.choices(kernels, self.tried))

    def _keep(self) -> None:
        """Store what was tried, and the speeds for plans."""
        self._write()
        speed, link = speed_of(self.tried)
        if speed is not None:
            machine.remember_card(self._gpu.uuid, speed)
        if link is not None:
            machine.remember_link(self._gpu.uuid, link)

    def _write(self) -> None:
        """Store what was tried, except that the card could not be reached, which may pass."""
        record.write(self._identity, [each for each in self.tried if each.outcome != "unreachable"])

    def renew(self) -> None:
        """Forget what was tried, so that everything is tried again."""
        self.tried = []

    @property
    def refused(self) -> TriedWay | None:
        """The result because of which the card cannot be used at all, or None."""
        return ladder.refused(self.kernels, self.tried)

    @property
    def remarks(self) -> list[SaferWay]:
        """What there is to remark about the kernels that take a safer way; empty if all take the fastest."""
        return ladder.safer_ways(self.kernels, self.tried)

    def step_down(self, kernels: Sequence[str], problem: str) -> bool:
        """Let one of `kernels`, which this process runs together and which have failed, take its next safer
        way, now and at every start. Return whether one has such a way."""
        tried = ladder.step_back(kernels, self.tried, problem, "failed")
        if tried == self.tried:
            return False
        self.tried = tried
        self._write()
        ways.take(ladder.choices(self.kernels, tried))
        return True

    def step_back(self, problem: str) -> None:
        """Keep for the next start that the card has stopped: one kernel then takes its next safer way. This
        process cannot use the card any more."""
        self.tried = ladder.step_back(self.kernels, self.tried, problem)
        self._write()


def first_card() -> machine.Gpu | None:
    """Return the card that the engine computes on, as the driver describes it; None if it describes none."""
    gpus, torch = machine.cards_here(), machine.installed_torch()
    if torch and torch.vendor:
        gpus = list(torch.cards(gpus))
    return next((gpu for gpu in gpus if gpu.total_nbytes), None)
