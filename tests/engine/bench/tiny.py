"""A tiny pair behind a session, and a tokenizer of letters, for benches."""

from engine.pair import Pair
from engine.sequence import Sequence
from engine.session import Session
from tests.engine.models import VOCABULARY, disturbed, ours, reference

CONTEXT = 160


class Letters:
    """Token 3 + n is the n-th printable character; what it does not have is left out."""

    vocabulary_size = VOCABULARY
    eos_ids = frozenset({2})
    special_ids = frozenset({0, 1, 2})

    def encode_chat(self, messages, begun=""):
        text = "".join(message["content"] for message in messages)
        return [1, *(3 + (ord(letter) - 65) for letter in text if 0 <= ord(letter) - 65 < VOCABULARY - 3)]

    def token_text(self, token):
        return chr(65 + token - 3) if token > 2 else f"<{token}>"

    def stream(self):
        return self

    def step(self, token):
        return self.token_text(token)

    def flush(self):
        return ""


def tiny_session():
    module = reference("llama")
    target, draft = ours(module, CONTEXT), ours(disturbed(module, 0.05), CONTEXT)
    return Session(Pair(Sequence(target, CONTEXT), Sequence(draft, CONTEXT), Letters()))
