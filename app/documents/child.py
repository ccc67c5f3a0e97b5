"""Starts the process that reads a file, and limits its memory, time and output.

Blocks, so it runs on a thread of its own.
"""

import os
import subprocess
import threading
import time
from pathlib import Path
from typing import BinaryIO

import msgspec

from app.documents.records import MAX_CHARACTERS, MAX_NBYTES, Document, Fault, Reading, Unreadable
from engine.hub import Stop
from engine.launch import interpreter, limits

READER = "app.documents.reader_process"
TIME_LIMIT_S = 120.0  # a PDF of 300 pages takes some 5 s
MEMORY_LIMIT = 800 << 20  # bytes
OUTPUT_LIMIT = 4 * MAX_CHARACTERS + (4 << 20)  # bytes; in UTF-8, with room for the pages
# Endings of files with weights. A safetensors file is a part of a model, which its folder holds.
MODELS: dict[str, Fault] = {".gguf": "model", ".safetensors": "weights"}
LOOK_S = 0.05  # seconds between two looks at the clock and at the stop
# What an interpreter needs of the environment; keys and tokens stay outside.
_VARIABLES = (
    "PATH",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "TESSDATA_PREFIX",
)


def read_file(path: Path, stop: Stop) -> Document:
    """Return the document in a file. Raises Unreadable, or Stopped after a request to stop."""
    if path.is_dir():
        raise Unreadable("folder")
    if fault := MODELS.get(path.suffix.lower()):
        raise Unreadable(fault)
    if not path.is_file():  # a device or pipe might never end
        raise Unreadable("no_file")
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_NBYTES:
                raise Unreadable("too_large")
            return _read(file, path.suffix.lower()[:16], stop)
    except OSError as error:
        raise Unreadable("denied") from error


def _read(file: BinaryIO, ending: str, stop: Stop) -> Document:
    python = interpreter.python()
    return _document(*output_of([*python, "-m", READER, ending], file, stop))


def output_of(command: list[str], file: BinaryIO, stop: Stop) -> tuple[bytes, int]:
    """Run a program that reads a file, within the limits, and return its output and exit status. Raises
    Unreadable, or Stopped after a request to stop."""
    process = _start(command, file)
    assert process.stdout is not None
    over = threading.Event()
    killed: list[Fault] = []

    def limit_memory() -> None:
        if limits.kill_beyond(process.pid, MEMORY_LIMIT, over):
            killed.append("too_much")

    def limit_time() -> None:
        deadline = time.monotonic() + TIME_LIMIT_S
        while not over.wait(LOOK_S):
            if stop.asked or time.monotonic() > deadline:
                killed.append("too_much")
                process.kill()
                return

    watches = [threading.Thread(target=each, daemon=True) for each in (limit_memory, limit_time)]
    try:
        for watch in watches:
            watch.start()
        output = process.stdout.read(OUTPUT_LIMIT + 1)
        if len(output) > OUTPUT_LIMIT:
            killed.append("too_long")
            process.kill()
        process.wait()
    finally:
        over.set()
        process.kill()
        process.stdout.close()
        process.wait()
        for watch in watches:
            if watch.ident is not None:
                watch.join()
    stop.check()
    if killed:
        raise Unreadable(killed[0])
    return output, process.returncode


def _start(command: list[str], file: BinaryIO) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            command,
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=interpreter.ROOT,
            env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise Unreadable("cannot_start") from error


def _document(output: bytes, exit_code: int) -> Document:
    if exit_code:
        raise Unreadable("damaged")
    try:
        reading = msgspec.msgpack.decode(output, type=Reading)
    except msgspec.MsgspecError as error:
        raise Unreadable("damaged") from error
    if reading.document is None:
        raise Unreadable(reading.fault or "damaged")
    return reading.document
