"""What a measured answer is made with."""

from pathlib import Path

import msgspec

from engine import protocol
from engine.tokenizer import Tokenizer


class Models(msgspec.Struct, frozen=True):
    """What is loaded, and where. Models are the names of their files or folders; limits are in GiB."""

    target: str
    draft: str | None
    dtype: str
    device: str
    vram_limit: float | None
    ram_limit: float | None

    @staticmethod
    def of(loaded: protocol.Loaded, load: protocol.Load) -> "Models":
        draft = Path(loaded.draft.path).name if loaded.draft else None
        target = Path(loaded.target.path).name
        return Models(target, draft, loaded.dtype, loaded.device, load.vram_limit, load.ram_limit)


class Sampling(msgspec.Struct, frozen=True):
    """What the answer of an exact drafter depends on, beside target and prompt. penalty: subtracted from the
    logit of each token whose text has `letter`, large or small."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int = 0
    letter: str = ""
    penalty: float = 0.0

    def plain(self) -> "Sampling":
        """The same without what has no effect, so that equal answers have equal settings."""
        plain = self if self.penalty else msgspec.structs.replace(self, letter="")
        return plain if self.temperature else Sampling(letter=plain.letter, penalty=plain.penalty)

    def repeated(self, repeat: int) -> "Sampling":
        """With another seed for each repeat. Greedy has none."""
        return msgspec.structs.replace(self, seed=self.seed + repeat) if self.temperature else self


def options_of(sampling: Sampling, tokenizer: Tokenizer) -> protocol.Options:
    tokens = tokens_with(sampling.letter, tokenizer) if sampling.penalty else []
    return protocol.Options(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        seed=sampling.seed,
        logit_bias=dict.fromkeys(tokens, -sampling.penalty),
    )


def tokens_with(letter: str, tokenizer: Tokenizer) -> list[int]:
    """Ids of all tokens whose text has `letter`, large or small; special tokens are no text."""
    ids = set(range(tokenizer.vocabulary_size)) - tokenizer.special_ids
    return sorted(each for each in ids if letter.lower() in tokenizer.token_text(each).lower())
