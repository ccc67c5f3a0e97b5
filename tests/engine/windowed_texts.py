"""What a sequence whose layers with a window keep few rows does with texts, whatever runs the model."""

from engine.checkpoints.windows import REWIND
from engine.model.savepoints import MARGIN
from engine.prompt_cache import KnownRows, PromptCache


def check_rewinds(sequence, slots, text_of, assert_next, piece):
    """A short rewind keeps all, a long one goes back to the end of a prompt. slots: those of layers with a
    window. text_of: makes a text. assert_next: checks the logits behind tokens. piece: tokens of a pass."""
    prompt = text_of(180)
    sequence.align(prompt[:-1])
    sequence.extend(prompt)
    answered = [*prompt, *text_of(slots, seed=1)]
    for place in range(180, len(answered), piece):
        sequence.extend(answered[place : place + piece])
    assert sequence.cache.dropped > 180, "the prompt's end has left the window"
    shorter = answered[: len(answered) - REWIND // 2]
    assert sequence.align(shorter) == len(shorter), "there are rows for it"
    assert_next(sequence.extend([7]), [*shorter, 7])
    # Another answer
    assert sequence.align(prompt[:-1]) == 180 - MARGIN
    assert_next(sequence.extend(prompt[180 - MARGIN :]), prompt)


def check_turns(sequence, text_of, assert_next, turns):
    """Conversations that take turns are taken up where they ended; one is shorter than the window."""
    sequence.known = KnownRows(PromptCache(1 << 26), b"model")
    talks = [text_of(5), text_of(200, seed=1)]
    for turn in range(turns):
        for number, talk in enumerate(talks):
            sequence.known.owner = str(number)
            known = len(talk) if turn else 0
            talk += text_of([3, 120][number], seed=10 * turn + number)
            assert sequence.align(talk[:-1]) == known
            assert_next(sequence.extend(talk[known:]), talk)
