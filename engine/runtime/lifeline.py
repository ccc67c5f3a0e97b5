"""Run as a script: runs its arguments as a program that ends when whoever started it is gone.

Standard input is the lifeline: it closes when the other end dies in any way. The program gets none.
"""

import os
import subprocess
import sys
import threading


def main() -> int:
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def watch() -> None:
        while os.read(0, 1):
            pass
        process.kill()

    threading.Thread(target=watch, daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    # A watching thread sits in a read: the interpreter's own end would wait for it.
    os._exit(main() & 0xFF)
