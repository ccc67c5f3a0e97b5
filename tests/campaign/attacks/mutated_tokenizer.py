"""Vocabularies in GGUF files and damaged tokenizer.json: a named error, or a tokenizer that works."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, normalizers, pre_tokenizers

from engine.checkpoints import GgufVocabulary, open_checkpoint
from engine.tokenizer.folder import from_folder
from engine.tokenizer.gguf import from_vocabulary
from engine.tokenizer.tokenizer import Tokenizer
from tests.campaign.attack import SURVIVED, Outcome, Try
from tests.campaign.models import written
from tests.campaign.mutation import TEXTS, as_json, damaged, distorted
from tests.engine.checkpoints.files import MERGES, TOKENS, TYPES, write_gguf

FIXED = 800
LIMIT_S = 10.0
TEXT = "Hello abc, <s> world 123\n\U0001f600 a\u0301 " + "ab" * 50
NAMED = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": "{{ messages }}"}


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    vocabularies = [_vocabulary(folder, {})]
    vocabularies.append(
        _vocabulary(
            folder,
            {
                "tokenizer.ggml.model": "llama",
                "tokenizer.ggml.scores": [-1.0 * i for i in range(len(TOKENS))],
            },
        )
    )
    sound = [json.loads(backend.to_str()) for backend in _backends()]
    home = folder / "model"
    home.mkdir()

    def once(random: Random) -> Outcome:
        if random.random() < 0.4:
            try_out(Tokenizer(from_vocabulary(changed(random.choice(vocabularies), random))))
            return SURVIVED
        document, named = random.choice(sound), NAMED
        for _ in range(random.choice((1, 1, 2, 4))):
            document = distorted(document, random)
        if random.random() < 0.3:
            named = distorted(named, random)
        text = as_json(document)
        written(home, "tokenizer.json", damaged(text, random) if random.random() < 0.2 else text)
        written(home, "tokenizer_config.json", as_json(named))
        try_out(Tokenizer(from_folder(home), (2, 10**6)))
        return SURVIVED

    yield once


def try_out(tokenizer: Tokenizer) -> None:
    """Use the tokenizer as an answer does."""
    ids = [*tokenizer.encode(TEXT), *tokenizer.encode_plain(TEXT)]
    tokenizer.decode(ids)
    stream = tokenizer.stream()
    "".join([*map(stream.step, ids), stream.flush(), *map(tokenizer.token_text, ids)])


def changed(vocabulary: GgufVocabulary, random: Random) -> GgufVocabulary:
    """Return a vocabulary in which one or two things are others, of the types that a header may have."""
    values: dict[str, Any] = {each.name: getattr(vocabulary, each.name) for each in fields(vocabulary)}
    count = len(vocabulary.tokens)
    for _ in range(random.choice((1, 1, 2))):
        match random.choice(("tokens", "merges", "scores", "types", "ids", "flags", "names", "template")):
            case "tokens":
                tokens = list(values["tokens"])
                for _ in range(random.choice((1, 3, count))):
                    tokens[random.randrange(count)] = random.choice((*TEXTS, *TOKENS, "\u2581", "Ġ" * 900))
                values["tokens"] = tokens
            case "merges":
                pairs = [f"{random.choice(TOKENS)} {random.choice((*TOKENS, *TEXTS))}" for _ in range(8)]
                values["merges"] = random.choice((None, [], pairs, [random.choice(TEXTS)], MERGES * 3))
            case "scores":
                odd = (np.nan, np.inf, -np.inf, 3e38, 0.0)
                values["scores"] = np.array(random.choices(odd, k=count), np.float32)
            case "types":
                values["types"] = np.array(random.choices(range(-1, 8), k=count), np.int32)
            case "ids":
                name = random.choice(("bos_id", "eos_id", "unknown_id"))
                values[name] = random.choice((None, 0, count - 1))
            case "flags":
                name = random.choice(("add_bos", "add_eos", "add_space_prefix"))
                values[name] = random.choice((None, True, False))
            case "names":
                values[random.choice(("model", "pre"))] = random.choice(("llama", "gpt2", "gpt-2", *TEXTS))
            case _:
                values["chat_template"] = random.choice((None, *TEXTS))
    return replace(vocabulary, **values)


def _vocabulary(folder: Path, metadata: dict[str, Any]) -> GgufVocabulary:
    metadata = {"tokenizer.ggml.token_type": TYPES} | metadata
    found = open_checkpoint(write_gguf(folder / "sound.gguf", metadata=metadata)).tokenizer
    assert isinstance(found, GgufVocabulary)
    return found


def _backends() -> Iterator[Backend]:
    ids = {token: index for index, token in enumerate(TOKENS)}
    merges = [(left, right) for left, right in (merge.split() for merge in MERGES)]
    byte_level = Backend(models.BPE(ids, merges))
    byte_level.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("a+", "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    byte_level.decoder = decoders.ByteLevel()
    byte_level.add_special_tokens(["<s>", "</s>"])
    yield byte_level
    spaces = Backend(models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    spaces.normalizer = normalizers.Sequence([normalizers.Prepend("_"), normalizers.Replace(" ", "\u2581")])
    spaces.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    yield spaces
    pieces = Backend(models.Unigram([(token, -float(index)) for token, index in ids.items()], 0))
    pieces.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    pieces.decoder = decoders.Metaspace()
    yield pieces
    yield Backend(models.WordPiece(ids, unk_token="<unk>"))
