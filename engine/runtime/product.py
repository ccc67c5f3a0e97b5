"""Multiply two matrices on a device to test a new runtime: python -m engine.runtime.product BACKEND.

Prints one JSON object with torch's version, the device and the seconds taken. On failure, the object is
{"error": ...} and the exit status is 1.
"""

import json
import sys
import time
from typing import Any


def multiply(backend: str) -> dict[str, Any]:
    import torch

    device = "cpu" if backend == "cpu" else "cuda"  # torch calls AMD devices "cuda" too
    started = time.perf_counter()
    ones = torch.ones(64, 64, device=device)
    if (ones @ ones).sum().item() != 64.0**3:
        raise ArithmeticError("the device returns a wrong result")
    return {"torch": str(torch.__version__), "device": device, "seconds": time.perf_counter() - started}


if __name__ == "__main__":
    try:
        print(json.dumps(multiply(sys.argv[1])))
    except Exception as error:  # drivers and libraries raise errors of any type
        print(json.dumps({"error": str(error) or type(error).__name__}))
        sys.exit(1)
