"""A script that runs a program, and kills it when the process that started the script ends.

The script's arguments are the program's command line. Its standard input is the lifeline: a pipe that closes
when the starting process ends in any way. The program itself gets no standard input.
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
    # os._exit, because a normal exit would wait for the watching thread, which is blocked in a read.
    os._exit(main() & 0xFF)
