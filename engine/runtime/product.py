"""python -m engine.runtime.product BACKEND: one product on its device, in the runtime that is tried.

Prints one JSON object: torch's version, the device, the seconds; or {"error"} and status 1.
"""

import json
import sys
import time
from typing import Any


def multiply(backend: str) -> dict[str, Any]:
    import torch

    device = "cpu" if backend == "cpu" else "cuda"  # torch calls AMD's "cuda" too
    started = time.perf_counter()
    ones = torch.ones(64, 64, device=device)
    if (ones @ ones).sum().item() != 64.0**3:
        raise ArithmeticError("the device multiplies wrongly")
    return {"torch": str(torch.__version__), "device": device, "seconds": time.perf_counter() - started}


if __name__ == "__main__":
    try:
        print(json.dumps(multiply(sys.argv[1])))
    except Exception as error:  # whatever a driver or a library says
        print(json.dumps({"error": str(error) or type(error).__name__}))
        sys.exit(1)
