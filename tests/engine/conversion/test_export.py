"""Models that export refuses rather than writing another one."""

import pytest
import torch

from engine.checkpoints import open_checkpoint
from engine.conversion.export import export
from engine.errors import UnsupportedModel
from engine.model.interface import no_progress
from tests.engine.checkpoints.gguf_converter import convert
from tests.engine.models import reference


@pytest.mark.parametrize("kind", ["qwen3_5_text", "qwen3_next"])
def test_heads_in_the_order_of_gguf_files_are_refused(kind, tmp_path):
    changes = {"mlp_only_layers": []} if kind == "qwen3_next" else {}
    module = reference(kind, num_hidden_layers=4, layer_types=None, **changes)
    file = convert(module, tmp_path / "model.gguf")
    with pytest.raises(UnsupportedModel, match="which is not restored"):
        export(open_checkpoint(file), tmp_path / "out", torch.float32, no_progress)
    assert not (tmp_path / "out").exists()


def test_gate_and_up_that_a_gguf_file_has_apart_are_refused(tmp_path):
    file = convert(reference("granitemoehybrid"), tmp_path / "model.gguf")
    with pytest.raises(UnsupportedModel, match="not joined"):
        export(open_checkpoint(file), tmp_path / "out", torch.float32, no_progress)
    assert not (tmp_path / "out").exists()
