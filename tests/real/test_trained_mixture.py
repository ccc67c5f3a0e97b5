"""What the experiment with a trained mixture replays as known of tokens before a pass."""

import numpy as np

from tests.real.trained_mixture import EXPERTS, LAYERS, last_reads, remembered, turns_of

TOKENS = np.array([3, 4, 3, 3, 4, 5])
# Each token chooses the experts n and n + 1 in its n-th place of the text, in each layer.
ROUTED = [np.arange(6)[:, None] + np.arange(2)] * LAYERS


def test_a_token_was_last_read_by_a_pass_before():
    assert last_reads(TOKENS, 1) == [[], [], [0], [2], [1], []]
    assert last_reads(TOKENS, 2) == [[], [0, 0], [1]]


def test_last_choices_are_known_once_the_turn_before_has_chosen():
    for rows in (1, 2):
        said, turns, reads = (
            remembered(TOKENS, ROUTED, rows),
            turns_of(ROUTED, rows),
            last_reads(TOKENS, rows),
        )
        assert len(said) == len(turns)
        assert said[-1] == []
        for number, turn in enumerate(turns[1:], 1):
            read = reads[number // LAYERS]
            expected = [[turn.mixture * EXPERTS + place + each for each in (0, 1)] for place in read]
            assert said[number - 1] == ([expected] if read else [])


def test_last_choices_may_be_known_of_the_first_layers_only():
    said = remembered(TOKENS, ROUTED, 1, layers=1)
    of_first = [number for number, told in enumerate(said, 1) if told]
    assert of_first == [2 * LAYERS, 3 * LAYERS, 4 * LAYERS]
