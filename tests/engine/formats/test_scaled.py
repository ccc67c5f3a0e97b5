"""The FP8 formats say the same numbers as torch's own FP8, and know where each scale holds."""

import numpy as np
import pytest
import torch

from engine.formats.scaled import BLOCK, FORMATS


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@pytest.mark.parametrize("shape", [(BLOCK + 3, 2 * BLOCK + 5), (4, BLOCK)])
def test_numbers_are_those_of_torch_times_their_scale(form, shape):
    rows, columns = shape
    numbers = (torch.randn(rows, columns) * 100).clamp(-448, 448).to(torch.float8_e4m3fn)
    kind = {"": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
    scales = torch.rand(form.scales_shape(shape)).to(
        kind[form.name.partition(form.share.upper())[2].strip("_")]
    )
    expected = numbers.float()
    for row in range(rows):
        for first in range(0, columns, BLOCK):
            at = {"block": (row // BLOCK, first // BLOCK), "row": (row, 0), "matrix": (0, 0)}[form.share]
            expected[row, first : first + BLOCK] *= scales[at].float()
    stored = scales.view(torch.int32 if form.name.endswith(form.share.upper()) else torch.int16).numpy()
    found = form.unpacked((numbers.view(torch.uint8).numpy().ravel(), stored.ravel().view(np.uint8)), shape)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected.numpy())
