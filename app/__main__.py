"""The entry point of the window: `python -m app`."""

import sys
from collections.abc import Sequence

from app.window import arguments
from engine.errors import refused_by_system

REMEDY = (
    "A library that Qt needs is missing. On Debian and Ubuntu: sudo apt install libegl1 libgl1 libxkbcommon0 "
    "libdbus-1-3 libfontconfig1"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and return the exit status: 1 if it cannot be shown, 2 for wrong usage."""
    parsed = arguments.parse(argv)
    try:
        from app.startup import application
    except (Exception, KeyboardInterrupt) as error:
        if (refused := refused_by_system(error)) is not None:
            print(f"{refused.message} {refused.hint}", file=sys.stderr)
        elif isinstance(error, ImportError):
            print(f"The window cannot be shown: {error}\n{REMEDY}", file=sys.stderr)
        elif not isinstance(error, KeyboardInterrupt):
            raise
        return 1
    if parsed.self_test is not None:
        from app.startup import self_test

        return self_test.run(parsed)
    return application.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
