"""A session with a tiny pair and a tokenizer of letters, for benchmarks."""

from engine.model.sequence import Sequence
from engine.serving.pair import LoadedPair
from engine.serving.session import Session
from tests.engine.models import VOCABULARY, disturbed, ours, reference

CONTEXT = 160


class Letters:
    """A tokenizer whose token 3 + n is the n-th character from “A” on; other characters are dropped."""

    vocabulary_size = VOCABULARY
    eos_ids = frozenset({2})
    suppressed_ids = first_suppressed_ids = frozenset[int]()
    special_ids = frozenset({0, 1, 2})

    def encode_chat(self, messages, begun="", tools=(), options=None, shown=()):
        text = "".join(message["content"] for message in messages)
        return [1, *(3 + (ord(letter) - 65) for letter in text if 0 <= ord(letter) - 65 < VOCABULARY - 3)]

    def decode_all(self, ids):
        return "".join(map(self.token_text, ids))

    def token_text(self, token):
        return chr(65 + token - 3) if token > 2 else f"<{token}>"

    def stream(self, shown=()):
        return self

    def step(self, token):
        return self.token_text(token)

    def flush(self):
        return ""


def tiny_session():
    module = reference("llama")
    target, draft = ours(module, CONTEXT), ours(disturbed(module, 0.05), CONTEXT)
    return Session(LoadedPair(Sequence(target, CONTEXT), Sequence(draft, CONTEXT), Letters()))
