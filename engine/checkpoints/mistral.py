"""The layout in which Mistral AI publishes EAGLE heads: params.json and consolidated.safetensors, without a
config.json. `engine.heads.mistral` reads them."""

from pathlib import Path

from engine.checkpoints.safetensors import read_header

PARAMS, WEIGHTS = "params.json", "consolidated.safetensors"
JOIN = "eagle_linear.weight"


def is_mistral_head(folder: Path) -> bool:
    """Return whether `folder` holds a head in this layout. Raises BadCheckpoint if weights are damaged."""
    files = folder / PARAMS, folder / WEIGHTS
    if (folder / "config.json").is_file() or not all(file.is_file() for file in files):
        return False
    return JOIN in read_header(folder / WEIGHTS)
