"""Passes recorded as CUDA graphs equal launched ones, whatever else the device does at the same time."""

import pytest
import torch

from engine.bench.random_weights import PRESETS, checkpoint
from engine.model.architectures import family_of
from engine.model.interface import no_progress
from engine.model.sequence import Sequence
from engine.streaming import WeightLimits
from engine.torch_model.forward import TorchModel, is_mixture
from engine.torch_model.loader import load_model
from tests.engine.models import CONFIGS, ours, reference
from tests.engine.sessions import Session

RECORDED = [
    kind
    for kind in CONFIGS
    if not (family_of(str(CONFIGS[kind].get("model_type", kind))).recurrent or is_mixture(reference(kind)))
]


def on_device(kind, cuda):
    model = ours(reference(kind))
    return TorchModel(model.module.to(cuda), model.config, model.dtype, cuda)


def assert_recorded(model):
    assert model.graphs.works
    assert any(model.graphs._recordings.values())


@pytest.mark.parametrize("kind", RECORDED)
def test_replayed_passes_equal_launched_ones(kind, cuda):
    plain, replayed = on_device(kind, cuda), on_device(kind, cuda)
    plain.graphs = None
    session = Session(Sequence(plain, 300), Sequence(replayed, 300), seed=1)
    for count in (80, 1, 3, 120, 40):
        session.extend(count)
        session.grow(passes=3, most=14)
    session.check()
    assert_recorded(replayed)


@pytest.mark.parametrize("kind", sorted(CONFIGS.keys() - {*RECORDED}))
def test_mixtures_and_models_with_states_are_not_recorded(kind, cuda):
    assert on_device(kind, cuda).graphs is None


@pytest.mark.parametrize("stored_as", ["Q4_K", "F16"])
def test_packed_weights_are_replayed_while_another_model_streams(stored_as, cuda, tmp_path):
    def load(file, limits=None):
        return load_model(file, torch.float32, cuda, no_progress, 300, packed=True, limits=limits)

    target = load(checkpoint(PRESETS["tiny"].target, stored_as, tmp_path), WeightLimits(1 << 19))
    streamed = Sequence(target, 300)
    draft = checkpoint(PRESETS["tiny"].draft, stored_as, tmp_path)
    plain, replayed = load(draft), load(draft)
    plain.graphs = None
    session = Session(Sequence(plain, 300), Sequence(replayed, 300), seed=2)
    for count in (3, 100, 2, 1):  # 100 tokens need a larger workspace than the passes recorded before
        streamed.extend([1, 2, 3])
        session.extend(count)
        session.grow(passes=2, most=5)
    session.check()
    assert_recorded(replayed)
    target.close()
