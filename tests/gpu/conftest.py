import pytest
import torch


@pytest.fixture(scope="session")
def cuda() -> str:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    return "cuda"
