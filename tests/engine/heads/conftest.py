import pytest

from tests.engine.models import ours, reference


@pytest.fixture(scope="package")
def target():
    """A target that the heads of `made` fit."""
    return ours(reference("llama", num_hidden_layers=4))
