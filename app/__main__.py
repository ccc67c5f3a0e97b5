"""`python -m app`: the window."""

import sys
from collections.abc import Sequence

from app import arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window; the exit status: 1, with a remedy, where Qt lacks something here, 2 for bad usage."""
    parsed = arguments.parse(argv)
    try:
        from app import startup
    except ImportError as error:
        print(
            f"The window cannot be shown: {error}\n"
            "A library that Qt needs is missing. On Debian and Ubuntu: sudo apt install libegl1 libgl1 "
            "libxkbcommon0 libdbus-1-3 libfontconfig1",
            file=sys.stderr,
        )
        return 1
    if parsed.self_test is not None:
        from app import self_test

        return self_test.run(parsed)
    return startup.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
