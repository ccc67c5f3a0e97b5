"""Trained heads as files in their published formats."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from engine.heads.files import Kind


def save_heads(folder: Path, kind: Kind, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Write heads to `folder` in the published format of their kind. tensors: the weights, by the names under
    which `open_heads` returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    file = "medusa_lm_head.safetensors" if kind == "medusa" else "model.safetensors"
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(contiguous, folder / file, metadata={"format": "pt"})
