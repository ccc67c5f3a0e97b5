"""A tokenizer from a folder in the Hugging Face layout."""

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from engine import reads
from engine.checkpoints.safetensors import read_json
from engine.errors import BadCheckpoint
from engine.tokenizer.parts import TokenizerParts, named_errors

AGAIN = "Download the model again, with tokenizer.json and tokenizer_config.json."
# Limits far above real files (Gemma 3's tokenizer.json: 33 MB, 2.1 million values).
FILE_LIMIT = 64 << 20  # bytes
VALUES_LIMIT = 1 << 22  # strings, numbers, lists and objects
TEMPLATE_LIMIT = 4 << 20  # bytes
GROWTH_LIMIT = 64  # factor by which normalizing or decoding may lengthen a text; for SentencePiece it is 2
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def from_folder(folder: Path) -> TokenizerParts:
    """Build the tokenizer in `folder`. Raises `BadCheckpoint` if its files are missing or not valid."""
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise BadCheckpoint(f"{folder.name} has no tokenizer.json.", AGAIN)
    with named_errors("tokenizer.json is not valid", AGAIN):
        return _parts(folder, Tokenizer.from_buffer(_read(file)))


def _read(file: Path) -> bytes:
    text = reads.content(file, FILE_LIMIT + 1)
    if len(text) > FILE_LIMIT or sum(map(text.count, (b",", b"[", b"{"))) > VALUES_LIMIT:
        raise BadCheckpoint(f"{file.name} is larger than that of any known model.", AGAIN)
    return text


def _growth(part: Any) -> float:
    """Return an upper bound for the factor by which a text becomes longer in this part of a tokenizer.json (a
    normalizer or decoder)."""
    if not isinstance(part, dict):
        return 1.0
    growth = 1.0
    if part.get("type") == "Replace":
        pattern = part["pattern"].get("String", "")
        growth = max(1.0, (1 + len(part["content"])) / max(1, len(pattern)))
    for inner in (*part.get("normalizers", ()), *part.get("decoders", ())):
        growth *= _growth(inner)
    return growth


def _parts(folder: Path, backend: Tokenizer) -> TokenizerParts:
    for part in (backend.normalizer, backend.decoder):
        if part is not None and _growth(json.loads(part.__getstate__())) > GROWTH_LIMIT:
            raise BadCheckpoint("tokenizer.json lengthens texts beyond all limits.", AGAIN)
    # Some files contain the settings of their training run; prompts are never truncated or padded here.
    backend.no_truncation()
    backend.no_padding()
    config = _optional(folder / "tokenizer_config.json")
    tokens = _named_tokens(folder, config)
    known = {name: token for name, token in tokens.items() if backend.token_to_id(token) is not None}
    backend.add_special_tokens(
        [AddedToken(token, normalized=False, special=True) for token in known.values()]
    )
    bos = backend.token_to_id(tokens["bos_token"]) if "bos_token" in known else None
    eos = backend.token_to_id(tokens["eos_token"]) if "eos_token" in known else None
    return TokenizerParts(
        backend=backend,
        chat_template=_chat_template(folder, config),
        bos_id=bos,
        add_bos=config.get("add_bos_token") is not False,
        eos_ids=frozenset() if eos is None else frozenset({eos}),
        template_tokens=tokens,
    )


def _optional(file: Path) -> dict[str, Any]:
    return read_json(file) if file.is_file() else {}


def _named_tokens(folder: Path, config: dict[str, Any]) -> dict[str, str]:
    """Return the texts of bos_token, eos_token, ... The files give each token as a string, or as an object
    with its text as `content`."""
    tokens: dict[str, str] = {}
    for source in (_optional(folder / "special_tokens_map.json"), config):
        for name in NAMED:
            token = source.get(name)
            if isinstance(token, dict):
                token = token.get("content")
            if isinstance(token, str):
                tokens[name] = token
    return tokens


def _chat_template(folder: Path, config: dict[str, Any]) -> str | None:
    """Return the chat template, or None if there is none. Separate files take precedence over
    tokenizer_config.json, as in transformers."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        try:
            with reads.noted():
                if file.stat().st_size > TEMPLATE_LIMIT:
                    raise BadCheckpoint("chat_template.jinja is larger than that of any known model.", AGAIN)
                return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadCheckpoint("chat_template.jinja cannot be read.", AGAIN) from error
    for source in (_optional(folder / "chat_template.json"), config):
        template = source.get("chat_template")
        if isinstance(template, list):  # several templates, by name
            template = next(
                (
                    item.get("template")
                    for item in template
                    if isinstance(item, dict) and item.get("name") == "default"
                ),
                None,
            )
        if isinstance(template, str):
            return template
    return None
