"""Readers that a hostile file has taken over, named by the end of the file's name."""

import os
import sys
import time

match sys.argv[1]:
    case ".hang":
        time.sleep(600)
    case ".eat":
        eaten = []
        while True:
            eaten.append(bytearray(10 << 20))
    case ".talk":
        while True:
            sys.stdout.buffer.write(bytes(1 << 20))
    case ".crash":
        os.abort()
    case ".lie":
        sys.stdout.buffer.write(b"\x93\x01\x02\x03")
    case ".environment":
        print(sorted(os.environ), file=sys.stderr)
        sys.exit("A_SECRET" in os.environ)
