"""The code book of IQ4_NL and IQ4_XS: the number that each 4-bit quant stands for, before scaling.

Source: kvalues_iq4nl of ggml (ggml-common.h).
"""

import numpy as np
import torch
from torch import Tensor

LEVELS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)


def levels(quants: Tensor) -> Tensor:
    """Look up quants, uint8 [...] -> float32 [...]."""
    return torch.from_numpy(LEVELS).to(quants.device)[quants.int()]
