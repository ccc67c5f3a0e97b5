"""The formats in which checkpoints store numbers, with their values and bytes per block.

The block formats are ggml's (ggml-common.h; `GGML_QUANT_SIZES` in gguf-py). The plain formats, with one value
per block, have the names that safetensors uses too.
"""

BLOCKS: dict[str, tuple[int, int]] = {  # format: (values per block, bytes per block)
    "F64": (1, 8),
    "F32": (1, 4),
    "F16": (1, 2),
    "BF16": (1, 2),
    "I64": (1, 8),
    "I32": (1, 4),
    "I16": (1, 2),
    "I8": (1, 1),
    "U64": (1, 8),
    "U32": (1, 4),
    "U16": (1, 2),
    "U8": (1, 1),
    "BOOL": (1, 1),
    "F8_E4M3": (1, 1),
    "F8_E5M2": (1, 1),
    "F8_E8M0": (1, 1),
    "Q4_0": (32, 18),
    "Q4_1": (32, 20),
    "Q5_0": (32, 22),
    "Q5_1": (32, 24),
    "Q8_0": (32, 34),
    "Q8_1": (32, 40),
    "Q2_K": (256, 84),
    "Q3_K": (256, 110),
    "Q4_K": (256, 144),
    "Q5_K": (256, 176),
    "Q6_K": (256, 210),
    "Q8_K": (256, 292),
    "IQ2_XXS": (256, 66),
    "IQ2_XS": (256, 74),
    "IQ3_XXS": (256, 98),
    "IQ1_S": (256, 50),
    "IQ4_NL": (32, 18),
    "IQ3_S": (256, 110),
    "IQ2_S": (256, 82),
    "IQ4_XS": (256, 136),
    "IQ1_M": (256, 56),
    "TQ1_0": (256, 54),
    "TQ2_0": (256, 66),
    "MXFP4": (32, 17),
    "NVFP4": (64, 36),
    "Q1_0": (128, 18),
}

GGML_TYPES: dict[int, str] = {  # a format's number in GGUF files (enum ggml_type in ggml.h): its name
    0: "F32",
    1: "F16",
    2: "Q4_0",
    3: "Q4_1",
    6: "Q5_0",
    7: "Q5_1",
    8: "Q8_0",
    9: "Q8_1",
    10: "Q2_K",
    11: "Q3_K",
    12: "Q4_K",
    13: "Q5_K",
    14: "Q6_K",
    15: "Q8_K",
    16: "IQ2_XXS",
    17: "IQ2_XS",
    18: "IQ3_XXS",
    19: "IQ1_S",
    20: "IQ4_NL",
    21: "IQ3_S",
    22: "IQ2_S",
    23: "IQ4_XS",
    24: "I8",
    25: "I16",
    26: "I32",
    27: "I64",
    28: "F64",
    29: "IQ1_M",
    30: "BF16",
    34: "TQ1_0",
    35: "TQ2_0",
    39: "MXFP4",
    40: "NVFP4",
    41: "Q1_0",
}


def stored_nbytes(storage: str, shape: tuple[int, ...]) -> int:
    """Return the bytes that a tensor of `shape` (torch order) takes; 0 if its rows are not whole blocks."""
    values, nbytes = BLOCKS[storage]
    blocks, rest = divmod(shape[-1] if shape else 1, values)
    if rest:
        return 0
    for size in shape[:-1]:
        blocks *= size
    return blocks * nbytes
