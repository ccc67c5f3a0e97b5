import pytest

from engine.heads import open_heads
from engine.torch_model.heads import load_heads
from tests.engine.decoding.test_iteration import CAPACITY
from tests.engine.heads import made
from tests.engine.models import ours, reference


@pytest.fixture(scope="package")
def module():
    """transformers' model of a target that the heads of `made` fit."""
    return reference("qwen2", num_hidden_layers=4)


@pytest.fixture(scope="package")
def target(module):
    return ours(module)


@pytest.fixture
def head(tmp_path, target, kind):
    """Heads of the kind that a test is parametrized with, bound to the target."""
    return load_heads(open_heads(made.save(tmp_path, kind, made.random_weights(kind))), target, CAPACITY)
