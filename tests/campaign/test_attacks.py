"""A fixed number of tries of each attack: none is raw, nothing is lost.

More tries: `python -m tests.campaign --minutes 60`.
"""

import pytest

from tests.campaign.attack import load, names
from tests.campaign.runner import run


@pytest.mark.parametrize("name", names())
def test_nothing_is_lost_and_no_error_is_raw(name: str) -> None:
    attack = load(name)
    tally = run(attack, "fixed", tries=attack.fixed)
    if tally.unavailable:
        pytest.skip(tally.unavailable)
    assert not tally.harmful
    assert tally.tries == attack.fixed
