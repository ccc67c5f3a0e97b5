"""Where the tokens that a server lists stand in the text that it sends."""

from engine.protocol import TokenLogProbs
from engine.remote.places import TokenPlaces, ToldToken


def placed(*pieces: tuple[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Return each placed token with the characters that stand there. pieces: text, and tokens beside it."""
    places, whole, found = TokenPlaces(), "", []
    for text, tokens in pieces:
        whole += text
        listed: list[ToldToken] = [(token, TokenLogProbs(log_prob=-1.0, top=[]), []) for token in tokens]
        committed = places.place(len(whole), text, listed)
        at = committed.start if committed else 0
        for piece in committed.pieces if committed else ():
            found.append((piece, whole[at : at + len(piece)]))
            at += len(piece)
    return found


def same(*tokens: str) -> list[tuple[str, str]]:
    return [(token, token) for token in tokens]


def test_tokens_beside_their_text() -> None:
    assert placed(("ab", ("a", "b")), ("c", ("c",))) == same("a", "b", "c")


def test_text_that_a_server_holds_back_comes_later() -> None:
    assert placed(("a", ("a", "b")), ("", ("c",)), ("bc", ())) == same("a", "b", "c")
    assert placed(("abc", ("a",)), ("", ("b", "c"))) == same("a", "b", "c")


def test_text_without_tokens_has_none() -> None:
    assert placed(("ab", ()), ("c", ("c",)), ("d", ())) == same("c")


def test_tokens_that_are_not_in_the_text_are_given_up_and_no_other_is_misplaced() -> None:
    pieces = (("<think>", ()), ("", ("[think]",)), ("so", ("so",)), ("</think>x", ("x",)), ("y", ("y",)))
    assert placed(*pieces) == same("y")
