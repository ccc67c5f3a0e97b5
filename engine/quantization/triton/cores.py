"""What a card multiplies matrices with."""

import re
from functools import cache

import torch


@cache
def multiplies_matrices(device: torch.device) -> bool:
    """Return whether Triton uses a card's cores for matrices: NVIDIA's from Ampere on; AMD's CDNA, RDNA 3 and
    4, for which its AccelerateAMDMatmul.cpp has instructions (MFMA, WMMA)."""
    card = torch.cuda.get_device_properties(device)
    if torch.version.hip:  # its compute capability would be the number of the architecture, such as 10.3
        return re.match(r"gfx(908|90a|94\d|950|1[12]\d\d)\b", card.gcnArchName) is not None
    return (card.major, card.minor) >= (8, 0)
