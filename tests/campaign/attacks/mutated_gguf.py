"""GGUF files with damaged headers and weights: a named error, or a model that computes finite numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import gguf

from engine.checkpoints import gguf_header
from tests.campaign.attack import SURVIVED, Outcome, Try
from tests.campaign.models import tiny, use, written
from tests.campaign.mutation import Spot, damaged, renumbered
from tests.engine.checkpoints.gguf_converter import convert

FIXED = 250
LIMIT_S = 60.0  # some tries load the model as the command line does
MODELS = (
    *(("llama", "F32"), ("llama_bias", "Q8_0"), ("llama3_rope", "Q4_K"), ("qwen2", "Q6_K")),
    *(("qwen3", "IQ4_XS"), ("gemma2", "Q4_0"), ("gemma3_text", "Q5_K"), ("phi3", "Q2_K")),
    *(("phi3_short", "Q3_K"), ("mixtral", "F32"), ("llama", "IQ2_XXS"), ("qwen2", "IQ3_S")),
    *(("llama", "IQ1_M"), ("llama_bias", "NVFP4"), ("qwen2", "TQ1_0")),
)

CHANGES = {
    "gemma3_text": {"num_hidden_layers": 3},
    "phi3_short": {"num_attention_heads": 32},
    "mixtral": {"hidden_size": 32, "intermediate_size": 48},
}


@contextmanager
def prepared(folder: Path) -> Iterator[Try]:
    files = []
    for number, (kind, storage) in enumerate(MODELS):
        file = convert(tiny(kind, **CHANGES.get(kind, {})), folder / f"{number}.gguf", storage=storage)
        files.append((file.read_bytes(), gguf_header.read_header(file).nbytes, _spots(file)))

    def once(random: Random) -> Outcome:
        content, header, spots = random.choice(files)
        match random.choices(("numbers", "header", "anything", "weights"), (50, 35, 5, 10))[0]:
            case "numbers":
                changed = renumbered(content, spots, random)
            case "header":
                changed = damaged(content[:header], random) + content[header:]
            case "anything":
                changed = damaged(content, random)
            case _:
                changed = content[:header] + damaged(content[header:], random)
        use(written(folder, "changed.gguf", changed), random)
        return SURVIVED

    yield once


def _spots(file: Path) -> list[list[Spot]]:
    """Return the places of the numbers of each entry of metadata, and of each tensor's description."""
    reader = gguf.GGUFReader(file)
    base = reader.data.__array_interface__["data"][0]
    fields = [*reader.fields.values(), *(tensor.field for tensor in reader.tensors)]
    return [
        [
            (part.__array_interface__["data"][0] - base + index * part.itemsize, part.itemsize)
            for part in field.parts
            for index in range(min(len(part), 8))
        ]
        for field in fields
    ]
