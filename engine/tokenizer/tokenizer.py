"""Convert text to token ids and back, for one model.

Chat templates and special tokens are handled here; weights and decoding are not.
"""

import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType

from engine.checkpoints import Checkpoint, GgufVocabulary
from engine.checkpoints.limits import VOCABULARY_LIMIT
from engine.errors import BadCheckpoint
from engine.tokenizer.chat import Guard, Plain, render
from engine.tokenizer.decoder import HALF, TextStream, spelled_bytes
from engine.tokenizer.folder import from_folder
from engine.tokenizer.gguf import SPACE, from_vocabulary
from engine.tokenizer.parts import DAMAGED, TokenizerParts, named_errors

# End tokens of common model families. Checkpoints often name only one of them.
WELL_KNOWN_ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<turn|>",
    "<|end|>",
    "</s>",
)
# An answer in channels (gpt-oss) is a sequence of messages. The end of one is no end of the answer, whatever
# the files say; llama.cpp's vocabulary makes the same exception.
CHANNEL_ENDS, MESSAGE_END = ("<|return|>", "<|call|>"), "<|end|>"
BYTE_TOKEN = re.compile(r"<0x[0-9A-F]{2}>")


def well_formed(text: str) -> str:
    """Return `text` without UTF-16 surrogates, which JSON may contain but UTF-8 cannot: a pair becomes one
    character, a lone surrogate U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def load_tokenizer(checkpoint: Checkpoint) -> "Tokenizer":
    """Load the tokenizer of `checkpoint`. Raises `BadCheckpoint` if it is missing or not valid;
    `UnsupportedModel` if its kind is not supported."""
    described = checkpoint.tokenizer
    if isinstance(described, GgufVocabulary):
        parts = from_vocabulary(described)
    else:
        parts = from_folder(described.folder)
    generation = checkpoint.generation
    suppressed = generation.suppress_tokens, generation.begin_suppress_tokens
    return Tokenizer(parts, generation.eos_token_ids, *suppressed)


class Tokenizer:
    """One model's tokenizer. Thread-safe.

    Attributes: `vocabulary_size`, the largest token id plus one (the model's table may be padded to more);
    `eos_ids`, all tokens that end an answer; `suppressed_ids`, those that no answer has, and
    `first_suppressed_ids`, those with which none begins;
    `special_ids`, the special tokens, which have no text, and `special_names`, their ids by name; `bos_id`,
    None if there is no BOS token; `token_text`, a function that returns a token's label;
    `tokens_containing`, a function that returns the ids of the tokens whose text contains a given text.
    """

    def __init__(
        self,
        parts: TokenizerParts,
        eos_ids: Sequence[int] = (),
        suppressed_ids: Sequence[int] = (),
        first_suppressed_ids: Sequence[int] = (),
    ) -> None:
        self.backend = parts.backend
        self.chat_template = parts.chat_template
        self.bos_id = parts.bos_id
        self._add_bos = parts.add_bos
        self._template_tokens = parts.template_tokens
        self._lock = threading.RLock()
        added = self.backend.get_added_tokens_decoder()
        self._added = frozenset(added)
        self.special_names = {token.content: index for index, token in added.items() if token.special}
        self.special_ids = frozenset(self.special_names.values())
        vocabulary = self.backend.get_vocab(with_added_tokens=True)
        self.vocabulary_size = max(vocabulary.values(), default=-1) + 1
        if not 1 <= self.vocabulary_size <= VOCABULARY_LIMIT:
            raise BadCheckpoint(f"The tokenizer has {self.vocabulary_size:,} token ids.", DAMAGED)
        self._byte_tokens = frozenset(i for token, i in vocabulary.items() if BYTE_TOKEN.fullmatch(token))
        known = {self.special_names[end] for end in WELL_KNOWN_ENDS if end in self.special_names}
        ends = {*eos_ids, *parts.eos_ids, *known}
        if self.special_names.keys() >= {*CHANNEL_ENDS, MESSAGE_END}:
            ends |= {self.special_names[end] for end in CHANNEL_ENDS}
            ends.remove(self.special_names[MESSAGE_END])
        self.eos_ids = frozenset(i for i in ends if i < self.vocabulary_size)
        self.suppressed_ids = frozenset(suppressed_ids)
        self.first_suppressed_ids = frozenset(first_suppressed_ids)
        self._letter = self.encode("a")[-1:]
        self.decode(self._letter)  # a tokenizer that cannot decode even this is refused
        self.token_text = lru_cache(maxsize=65536)(self._token_text)
        self.tokens_containing = lru_cache(maxsize=64)(self._tokens_containing)

    # -- text to ids -----------------------------------------------------------------------------------------

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`. Special tokens in it are recognised; no BOS is added."""
        with self._lock, named_errors("The tokenizer cannot encode this text", DAMAGED):
            ids: list[int] = self.backend.encode(well_formed(text), add_special_tokens=False).ids
        return ids

    def encode_prompt(self, text: str) -> list[int]:
        """Return the ids of a text that the model shall continue, with the BOS token if the model wants one.
        Special tokens in it are recognised."""
        return self._start() + self.encode(text)

    def _start(self) -> list[int]:
        return [self.bos_id] if self.bos_id is not None and self._add_bos else []

    def encode_plain(self, text: str) -> list[int]:
        """Return the ids of `text` without recognising special tokens in it: "<|im_end|>" is ten characters,
        not the end of a message."""
        with self._lock:
            self.backend.encode_special_tokens = True
            try:
                return self.encode(text)
            finally:
                self.backend.encode_special_tokens = False

    def encode_chat(
        self,
        messages: Sequence[Mapping[str, Plain]],
        add_generation_prompt: bool = True,
        begun: str = "",
        tools: Sequence[Plain] = (),
        options: Mapping[str, Plain] = MappingProxyType({}),
        shown: Iterable[str] = (),
    ) -> list[int]:
        """Return the ids of a conversation, `[{"role", "content"}, ...]`, rendered by the model's chat
        template, followed by `begun`, the beginning of the answer. tools, options: what else the template
        reads. shown: the special tokens that are recognised in `begun`, because `stream` has spelled them
        out.

        Without a template, the ids are those of the BOS token and of the concatenated contents. Special
        tokens spelled out in a message stay text: they are replaced before the template is applied, and
        encoded as plain text afterwards. Raises `BadOption` if the template refuses the conversation;
        `UnsupportedModel` if the template cannot be used.
        """
        guard = Guard(self.special_names)
        guarded = [{key: guard.take_out_all(part) for key, part in each.items()} for each in messages]
        if self.chat_template is None:
            ids = self._start()
            rendered = "".join(str(message["content"]) for message in guarded)
        else:
            ids = []
            rendered = render(
                self.chat_template,
                guarded,
                add_generation_prompt,
                self._template_tokens,
                [guard.take_out_all(tool) for tool in tools],
                {name: guard.take_out_all(value) for name, value in options.items()},
            )
        for text, literal in guard.pieces(rendered + guard.take_out(begun, frozenset(shown))):
            ids += self.encode_plain(text) if literal else self.encode(text)
        return ids

    # -- ids to text -----------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of `ids` without special tokens. Bytes that form no character become U+FFFD."""
        with named_errors("The tokenizer cannot decode these tokens", DAMAGED):
            text: str = self.backend.decode(list(ids), skip_special_tokens=True)
        return text

    def decode_all(self, ids: Sequence[int]) -> str:
        """Return the text of `ids` with the names of special tokens."""
        with named_errors("The tokenizer cannot decode these tokens", DAMAGED):
            text: str = self.backend.decode(list(ids), skip_special_tokens=False)
        return text

    def token_bytes(self) -> list[bytes]:
        """Return the bytes that each token adds to a text, in order of the ids; of an added token, its
        name."""
        spelled = [self.backend.id_to_token(token) or "" for token in range(self.vocabulary_size)]
        is_sentence_piece = bool(self._byte_tokens) or any(text.startswith(SPACE) for text in spelled)
        return [self._bytes_of(token, text, is_sentence_piece) for token, text in enumerate(spelled)]

    def _bytes_of(self, token: int, spelled: str, is_sentence_piece: bool) -> bytes:
        if token in self._byte_tokens:
            return bytes([int(spelled[3:5], 16)])
        if token in self._added:
            return spelled.encode()
        raw = None if is_sentence_piece else spelled_bytes(spelled)
        return spelled.replace(SPACE, " ").encode() if raw is None else raw

    # -- to a folder -----------------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write tokenizer.json and tokenizer_config.json, readable by `load_tokenizer` and transformers."""
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

    def stream(self, shown: Iterable[str] = ()) -> TextStream:
        """Return a decoder for ids that arrive one by one. Its pieces of text, put together, are the same as
        `decode` of all ids, but for the special tokens that `shown` names, whose text is their name."""
        names = {self.special_names[name]: name for name in shown if name in self.special_names}
        return TextStream(self.backend, self.special_ids, self._byte_tokens, names)

    def _token_text(self, token: int) -> str:
        """Return a token's label: its text including spaces; its name if it is an added token or a byte
        token; its bytes (\\xe6) if it is only part of a character."""
        spelled = self.backend.id_to_token(token)
        if spelled is None or token in self._added or token in self._byte_tokens:
            return spelled or f"[{token}]"
        # Decoded after a letter, because decoders drop a space at the beginning of a text.
        with named_errors("The tokenizer cannot decode this token", DAMAGED):
            before: str = self.backend.decode(self._letter)
            text: str = self.backend.decode([*self._letter, token])[len(before) :]
        if HALF in text and (raw := spelled_bytes(spelled)) is not None:
            return raw.decode(errors="backslashreplace")
        return text

    def _tokens_containing(self, text: str) -> frozenset[int]:
        """Return the tokens whose text contains `text`; if there are none, the last token of `text`."""
        if text in self.special_names:
            return frozenset({self.special_names[text]})
        found = (token for token, label in enumerate(self._texts) if text and text in label)
        return frozenset(found) or frozenset(self.encode_plain(text)[-1:])

    @cached_property
    def _texts(self) -> list[str]:
        """The text of every token; "" for special tokens."""
        with named_errors("The tokenizer cannot decode its tokens", DAMAGED):
            before: str = self.backend.decode(self._letter)
            ids = [[*self._letter, token] for token in range(self.vocabulary_size)]
            texts: list[str] = self.backend.decode_batch(ids)
        return [text[len(before) :] for text in texts]
