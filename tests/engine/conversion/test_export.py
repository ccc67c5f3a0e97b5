"""Models that export refuses rather than writing another one."""

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.conversion.export import export
from engine.errors import UnsupportedModel
from engine.model.interface import no_progress
from tests.engine.checkpoints.files import convert
from tests.engine.models import reference


def test_heads_in_the_order_of_gguf_files_are_refused(tmp_path):
    file = convert(reference("qwen3_5_text", num_hidden_layers=4, layer_types=None), tmp_path / "model.gguf")
    with pytest.raises(UnsupportedModel, match="which is not restored"):
        export(open_checkpoint(file), tmp_path / "out", torch.float32, no_progress)
    assert not (tmp_path / "out").exists()
