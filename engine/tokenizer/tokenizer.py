"""Text to token ids and back, for one model.

Knows chat templates and special tokens; knows nothing of weights or decoding.
"""

import json
import re
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from engine.checkpoints import Checkpoint, GgufVocabulary
from engine.checkpoints.sizes import VOCABULARY_LIMIT
from engine.errors import BadCheckpoint
from engine.tokenizer.alphabet import spelled_bytes
from engine.tokenizer.chat import Guard, render
from engine.tokenizer.folder import from_folder
from engine.tokenizer.gguf import from_vocabulary
from engine.tokenizer.parts import Parts, named_errors
from engine.tokenizer.stream import HALF, TextStream
from engine.tokenizer.templates import templates

# End tokens of the common families. Checkpoints often name only one of theirs.
WELL_KNOWN_ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<|end|>",
    "</s>",
)
DAMAGED = "The file is damaged; download it again or choose another file of this model."
BYTE_TOKEN = re.compile(r"<0x[0-9A-F]{2}>")


def well_formed(text: str) -> str:
    """`text` with halves of UTF-16 pairs, which JSON can bring and UTF-8 cannot hold, paired or U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def load_tokenizer(checkpoint: Checkpoint) -> "Tokenizer":
    """The tokenizer of `checkpoint`. Raises `BadCheckpoint` or `UnsupportedModel`."""
    described = checkpoint.tokenizer
    if isinstance(described, GgufVocabulary):
        parts = from_vocabulary(described)
    else:
        parts = from_folder(described.folder)
    if parts.chat_template is not None:
        templates.start()  # takes half a second, beside the loading of the weights
    return Tokenizer(parts, checkpoint.generation.eos_token_ids)


class Tokenizer:
    """One model's tokenizer. Safe to use from several threads.

    Attributes: `vocabulary_size`, one more than the largest token id (the model's table may be larger: it is
    padded); `eos_ids`, every token that ends an answer; `special_ids`, tokens that are no text; `bos_id`.
    """

    def __init__(self, parts: Parts, eos_ids: Sequence[int] = ()) -> None:
        self.backend = parts.backend
        self.chat_template = parts.chat_template
        self.bos_id = parts.bos_id
        self._add_bos = parts.add_bos
        self._template_tokens = parts.template_tokens
        self._lock = threading.RLock()
        added = self.backend.get_added_tokens_decoder()
        self._added = frozenset(added)
        self._special = {token.content: index for index, token in added.items() if token.special}
        self.special_ids = frozenset(self._special.values())
        vocabulary = self.backend.get_vocab(with_added_tokens=True)
        self.vocabulary_size = max(vocabulary.values(), default=-1) + 1
        if not 1 <= self.vocabulary_size <= VOCABULARY_LIMIT:
            raise BadCheckpoint(f"The tokenizer numbers {self.vocabulary_size:,} tokens.", DAMAGED)
        self._byte_tokens = frozenset(i for token, i in vocabulary.items() if BYTE_TOKEN.fullmatch(token))
        known = {self._special[end] for end in WELL_KNOWN_ENDS if end in self._special}
        self.eos_ids = frozenset(i for i in {*eos_ids, *parts.eos_ids, *known} if i < self.vocabulary_size)
        self._letter = self.encode("a")[-1:]
        self.decode(self._letter)  # what cannot even spell that is refused at once
        self.token_text = lru_cache(maxsize=65536)(self._token_text)

    # -- text to ids -----------------------------------------------------------------------------------------

    def encode(self, text: str) -> list[int]:
        """Ids of `text` as it stands: no BOS is added; special tokens in it are recognised."""
        with self._lock, named_errors("The tokenizer cannot read this text", DAMAGED):
            ids: list[int] = self.backend.encode(well_formed(text), add_special_tokens=False).ids
        return ids

    def encode_plain(self, text: str) -> list[int]:
        """Ids of `text` read as mere text: "<|im_end|>" in it is ten characters, not the end of a message."""
        with self._lock:
            self.backend.encode_special_tokens = True
            try:
                return self.encode(text)
            finally:
                self.backend.encode_special_tokens = False

    def encode_chat(
        self, messages: Sequence[Mapping[str, str]], add_generation_prompt: bool = True, begun: str = ""
    ) -> list[int]:
        """Ids of a conversation, `[{"role", "content"}, ...]`, in the model's chat template, and of the
        beginning of the answer to it.

        A model without one gets its BOS token and the contents one after another. Special tokens spelled out
        inside a message stay text: each is taken out before the template is applied and read as mere text
        afterwards. Raises `BadOption` where the template refuses the conversation.
        """
        guard = Guard(self._special)
        guarded = [{key: guard.take_out(text) for key, text in message.items()} for message in messages]
        if self.chat_template is None:
            ids = [self.bos_id] if self.bos_id is not None and self._add_bos else []
            rendered = "".join(message["content"] for message in guarded)
        else:
            ids = []
            rendered = render(self.chat_template, guarded, add_generation_prompt, self._template_tokens)
        for text, literal in guard.pieces(rendered + guard.take_out(begun)):
            ids += self.encode_plain(text) if literal else self.encode(text)
        return ids

    # -- ids to text -----------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; special tokens are no text. Bytes that are no character are shown as U+FFFD."""
        with named_errors("The tokenizer cannot spell this text", DAMAGED):
            text: str = self.backend.decode(list(ids), skip_special_tokens=True)
        return text

    # -- to a folder -----------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write tokenizer.json and tokenizer_config.json, as `load_tokenizer` and transformers read them."""
        self.backend.save(str(folder / "tokenizer.json"))
        config: dict[str, object] = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "add_bos_token": self._add_bos,
            **self._template_tokens,
        }
        if self.chat_template is not None:
            config["chat_template"] = self.chat_template
        text = json.dumps(config, ensure_ascii=False, indent=2)
        (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")

    def stream(self) -> TextStream:
        """A decoder for ids that arrive one by one; its pieces together are `decode` of all ids."""
        return TextStream(self.backend, self.special_ids, self._byte_tokens)

    def _token_text(self, token: int) -> str:
        """One token as a label: its text with the spaces it has, its name where it is special, its bytes
        (\\xe6) where it is only part of a character."""
        spelled = self.backend.id_to_token(token)
        if spelled is None or token in self._added or token in self._byte_tokens:
            return spelled or f"[{token}]"
        # Beside a letter, because decoders drop a space at the very beginning.
        text: str = self.backend.decode([*self._letter, token])[len(self.backend.decode(self._letter)) :]
        if HALF in text and (raw := spelled_bytes(spelled)) is not None:
            return raw.decode(errors="backslashreplace")
        return text
