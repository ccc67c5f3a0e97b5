"""A stand-in for `specexec serve`: says what its first argument asks for, and ends with its input."""

import json
import os
import sys
from pathlib import Path


def main(behaviour: str) -> int:
    if behaviour == "taken":
        error = {"kind": "address_taken", "message": "Another program listens.", "hint": "Choose another."}
        print(json.dumps({"error": error}), flush=True)
        return 1
    if behaviour == "tells":  # what other programs of the machine can read, then what only this one is told
        print("arguments:", *sys.argv, file=sys.stderr, flush=True)
        Path(sys.argv[2]).write_text(os.environ.get("SPECEXEC_KEY", ""))
    print(json.dumps({"address": "http://127.0.0.1:8484", "model": "Tiny"}), flush=True)
    if behaviour == "dies":
        return 3
    while os.read(0, 4096) or behaviour == "deaf":
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
