"""A tokenizer from a folder in Hugging Face's layout."""

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from engine.checkpoints.safetensors import read_json
from engine.errors import BadCheckpoint
from engine.tokenizer.parts import Parts, named_errors

AGAIN = "Download the model again, with tokenizer.json and tokenizer_config.json."
# Bounds far above real files (Gemma 3's tokenizer.json: 33 MB, 2.1 million values).
FILE_LIMIT = 64 << 20  # bytes
VALUES_LIMIT = 1 << 22  # texts, numbers, lists and objects
TEMPLATE_LIMIT = 4 << 20  # bytes
GROWTH_LIMIT = 64  # times that normalizing or decoding may lengthen a text; SentencePiece: 2
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


def from_folder(folder: Path) -> Parts:
    """Build the tokenizer in `folder`. Raises `BadCheckpoint`."""
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise BadCheckpoint(f"{folder.name} has no tokenizer.json.", AGAIN)
    with named_errors("tokenizer.json is not valid", AGAIN):
        return _parts(folder, Tokenizer.from_buffer(_read(file)))


def _read(file: Path) -> bytes:
    with file.open("rb") as stream:
        text = stream.read(FILE_LIMIT + 1)
    if len(text) > FILE_LIMIT or sum(map(text.count, (b",", b"[", b"{"))) > VALUES_LIMIT:
        raise BadCheckpoint(f"{file.name} is larger than that of any model.", AGAIN)
    return text


def _growth(part: Any) -> float:
    """How many times longer a text may get in this part of a tokenizer.json, counted generously."""
    if not isinstance(part, dict):
        return 1.0
    growth = 1.0
    if part.get("type") == "Replace":
        pattern = part["pattern"].get("String", "")
        growth = max(1.0, (1 + len(part["content"])) / max(1, len(pattern)))
    for inner in (*part.get("normalizers", ()), *part.get("decoders", ())):
        growth *= _growth(inner)
    return growth


def _parts(folder: Path, backend: Tokenizer) -> Parts:
    for part in (backend.normalizer, backend.decoder):
        if part is not None and _growth(json.loads(part.__getstate__())) > GROWTH_LIMIT:
            raise BadCheckpoint("tokenizer.json makes texts grow beyond bounds.", AGAIN)
    # Some files carry the settings of their training run; prompts are never cut or filled up here.
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
    return Parts(
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
    """bos_token, eos_token, ...; each a string, or an object with its `content`."""
    found: dict[str, str] = {}
    for source in (_optional(folder / "special_tokens_map.json"), config):
        for name in NAMED:
            token = source.get(name)
            if isinstance(token, dict):
                token = token.get("content")
            if isinstance(token, str):
                found[name] = token
    return found


def _chat_template(folder: Path, config: dict[str, Any]) -> str | None:
    """The template; files of its own go before tokenizer_config.json, as in transformers."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        try:
            if file.stat().st_size > TEMPLATE_LIMIT:
                raise BadCheckpoint("chat_template.jinja is larger than that of any model.", AGAIN)
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadCheckpoint("chat_template.jinja cannot be read.", AGAIN) from error
    for source in (_optional(folder / "chat_template.json"), config):
        template = source.get("chat_template")
        if isinstance(template, list):  # several, by name
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
