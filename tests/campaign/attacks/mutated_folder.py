"""Folders of safetensors with damaged settings, headers and weights: a named error, or finite numbers."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from tests.campaign.attack import SURVIVED, Outcome, Try
from tests.campaign.models import tiny, use, written
from tests.campaign.mutation import as_json, damaged, distorted
from tests.engine.heads.test_service import write_target
from tests.engine.quantization.test_folders import write

FIXED = 200
LIMIT_S = 60.0  # some tries load the model as the command line does
SETTINGS = ("config.json", "generation_config.json", "tokenizer_config.json")
PACKED = {"hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 2, "num_key_value_heads": 1}


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    tokens = write_target(folder / "tokens")
    sound = [tokens]
    for number, kind in enumerate(("llama_bias", "qwen2_window", "gemma3_text", "phi3", "mixtral")):
        sound.append(folder / f"plain{number}")
        tiny(kind, num_hidden_layers=3, hidden_size=64, intermediate_size=96).save_pretrained(sound[-1])
    for number, options in enumerate(({"method": "gptq"}, {"method": "gptq", "bits": 3}, {"method": "awq"})):
        sound.append(folder / f"packed{number}")
        sound[-1].mkdir()
        write(sound[-1], tiny("llama", **PACKED), size=32, act_order=False, **options)
    for each in sound[1:]:
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(tokens / name, each / name)
        if not (each / "generation_config.json").exists():
            (each / "generation_config.json").write_text('{"eos_token_id": [2], "temperature": 0.7}')
    contents = [{file.name: file.read_bytes() for file in each.iterdir()} for each in sound]

    def once(random: Random) -> Outcome:
        home = folder / "changed"
        home.mkdir(exist_ok=True)
        for file in home.iterdir():
            file.unlink()
        for name, content in changed(random.choice(contents), random).items():
            written(home, name, content)
        use(home, random)
        return SURVIVED

    yield once


def changed(contents: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """Return the files of a model with one or two changes."""
    files = dict(contents)
    for _ in range(random.choice((1, 1, 2))):
        name = random.choice([name for name in SETTINGS if name in files])
        match random.choices(("settings", "bytes", "header", "weights", "missing"), (50, 10, 25, 10, 5))[0]:
            case "settings":
                files[name] = distorted_text(contents[name], random)
            case "bytes":
                files[name] = damaged(files[name], random)
            case "header":
                files["model.safetensors"] = other_header(contents["model.safetensors"], random)
            case "weights":
                files["model.safetensors"] = damaged(files["model.safetensors"], random)
            case _:
                files.pop(random.choice(list(files)))
                return files
    return files


def distorted_text(text: bytes, random: Random) -> bytes:
    document: Any = json.loads(text)
    for _ in range(random.choice((1, 1, 1, 3))):
        document = distorted(document, random)
    return as_json(document)


def other_header(content: bytes, random: Random) -> bytes:
    """Return a safetensors file with a header that is distorted, or damaged and as long as before."""
    end = 8 + int.from_bytes(content[:8], "little")
    if random.random() < 0.3:
        return damaged(content[:end], random) + content[end:]
    text = distorted_text(content[8:end], random)
    return len(text).to_bytes(8, "little") + text + content[end:]
