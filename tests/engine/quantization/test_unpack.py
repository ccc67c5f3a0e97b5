import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize

from engine.errors import UnsupportedModel
from engine.quantization import unpack


@pytest.mark.parametrize("storage", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
@pytest.mark.parametrize("shape", [(1, 32), (7, 96), (5000, 64)])
def test_unpacked_blocks_equal_the_reference(storage, shape):
    kind = GGMLQuantizationType[storage]
    packed = quantize(np.random.default_rng(0).normal(size=shape).astype(np.float32), kind)
    found = unpack(packed.reshape(-1).copy(), shape, storage, torch.float32)
    assert torch.equal(found, torch.from_numpy(dequantize(packed, kind)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_plain_weights_are_taken_as_they_are(dtype):
    weight = torch.randn(3, 5).to(dtype)
    data = weight.view(torch.uint8).flatten().numpy().copy()
    name = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}[dtype]
    assert torch.equal(unpack(data, (3, 5), name, dtype), weight)


@pytest.mark.parametrize("storage", ["I8", "NEW_FORMAT"])
def test_a_format_without_an_unpacker_is_refused_by_name(storage):
    with pytest.raises(UnsupportedModel, match=storage):
        unpack(np.zeros(64, np.uint8), (2, 32), storage, torch.float32)
