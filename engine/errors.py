"""The errors shown to the user. Each has a kind for programs, a one-sentence message, and a hint.

Independent of torch, Qt and the protocol. A new kind of error takes one new class.
"""

import _thread
import errno
import re
from collections.abc import Iterator
from typing import Literal


class SpecExecError(Exception):
    """Base class of all errors shown to the user.

    Attributes: `kind`, a stable identifier for programs, in snake_case; `message`, one sentence that says
    what happened; `hint`, what the user can do next.
    """

    kind = "internal"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_dict(self) -> dict[str, str]:
        return {"kind": self.kind, "message": self.message, "hint": self.hint}


class BadOption(SpecExecError):
    """A setting outside its range, or two settings that exclude each other."""

    kind = "bad_option"


class AddressTaken(SpecExecError):
    """A port at which another program listens already."""

    kind = "address_taken"


class EmptyPrompt(SpecExecError):
    """A prompt without any text."""

    kind = "empty_prompt"


class PromptTooLong(SpecExecError):
    """A prompt that leaves no space for an answer in the context."""

    kind = "prompt_too_long"


class ModelNotFound(SpecExecError):
    """A path or id that matches no model."""

    kind = "model_not_found"


class BadCheckpoint(SpecExecError):
    """A model file that is truncated, damaged, contradictory or unsafe."""

    kind = "bad_checkpoint"


class UnsupportedModel(SpecExecError):
    """A valid model file with an unsupported architecture, tokenizer or weight format."""

    kind = "unsupported_model"


class VocabularyMismatch(SpecExecError):
    """A draft and a target with different vocabularies."""

    kind = "vocabulary_mismatch"


class OutOfMemory(SpecExecError):
    """Too little memory on the compute device or in the machine."""

    kind = "out_of_memory"


class SystemLimit(SpecExecError):
    """A limit that the system sets for this user or process: on threads, processes or open files."""

    kind = "system_limit"


class DeviceUnavailable(SpecExecError):
    """A requested compute device that is missing or unusable."""

    kind = "device_unavailable"


class CardFailed(SpecExecError):
    """A graphics card that has stopped: after such an error, this process cannot use the card any more.

    Attribute: `cause`: "kernel" if one takes a safer way at the next start, "fault" if none does.
    """

    kind = "card_failed"

    def __init__(self, cause: "StopCause") -> None:
        super().__init__(
            "The graphics card stopped with an error.",
            "Start again: one of the card's kernels then takes a safer way."
            if cause == "kernel"
            else "Start again. If it stops once more, restart the computer.",
        )
        self.cause = cause


class BadNumbers(SpecExecError):
    """NaN or infinite logits from a forward pass, caused by damaged weights or an overflow."""

    kind = "bad_numbers"

    def __init__(self) -> None:
        super().__init__(
            "The model produced invalid numbers (NaN or infinity).",
            "Its file may be damaged: verify it or download it again. Otherwise try --dtype float32.",
        )


class BadConstraint(SpecExecError):
    """A schema or grammar that is not valid, not supported or too complex."""

    kind = "bad_constraint"


class DeadEnd(SpecExecError):
    """A place in an answer where the constraint allows none of the model's tokens."""

    kind = "dead_end"

    def __init__(self) -> None:
        super().__init__(
            "The schema or grammar allows no further token here.",
            "Simplify it: either no text satisfies it, or it became too complex at this point.",
        )


class NotLoaded(SpecExecError):
    """A chat request to an engine without a loaded model."""

    kind = "not_loaded"


class EngineGone(SpecExecError):
    """An engine process that ended or could not be started."""

    kind = "engine_gone"


class Interrupted(SpecExecError):
    """An operation cancelled by the user."""

    kind = "cancelled"


class DiskProblem(SpecExecError):
    """A disk or folder that is full, or that cannot be read or written."""

    kind = "disk"


class KernelsNotStored(DiskProblem):
    """A full disk on which what is compiled for a graphics card cannot be stored. No kernel is at fault."""

    def __init__(self) -> None:
        super().__init__(
            "The disk is full: what is compiled for the graphics card cannot be stored.",
            "Free some space in your home folder and in that for temporary files, or set TRITON_CACHE_DIR to "
            "a folder on another disk; then try again.",
        )


class MissingExtra(SpecExecError):
    """A command whose optional packages are not installed."""

    kind = "missing_extra"


class StreamBroken(SpecExecError):
    """A model file that became unreadable or changed while its weights were streamed."""

    kind = "stream_broken"


class DiskSilent(SpecExecError):
    """A disk that has not answered a read for minutes, while a model was loaded or streamed from it."""

    kind = "disk_silent"

    def __init__(self, name: str, seconds: float) -> None:
        """name: of the model on the disk."""
        super().__init__(
            f"The disk with {name} has not answered for {seconds:.0f} s.",
            "Check that it is connected and not busy, then try again. If it does not come back, load a model "
            "from another disk.",
        )


class BadTrace(SpecExecError):
    """A file that is not a recorded run, or a recorded run that is damaged."""

    kind = "bad_trace"


class Diverged(SpecExecError):
    """A training loss that is not a finite number."""

    kind = "diverged"


NO_THREADS = (
    "The system lets this program start no more threads or processes.",
    "End other programs, or raise the limit on processes (ulimit -u), then try again.",
)


def _behind(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those in whose handling it was raised."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__


# What systems say if a disk is full, or the user's share of it. The words are for errors of other programs.
_DISK_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_DISK_FULL_ON_WINDOWS = {39, 112}  # ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
DISK_FULL_WORDS = r"No space left on device|Disk quota exceeded|not enough space on the disk"


def is_disk_full(error: BaseException) -> bool:
    """Return whether a disk that is full has caused an error. Those in whose handling it was raised count
    too."""
    return any(
        (isinstance(link, OSError) and link.errno in _DISK_FULL)
        or getattr(link, "winerror", None) in _DISK_FULL_ON_WINDOWS
        or re.search(DISK_FULL_WORDS, str(link))
        for link in _behind(error)
    )


# What libraries for graphics cards say if memory for an allocation is missing. Only torch's own allocator has
# a class for it; the others raise RuntimeError: cuBLAS, cuDNN and cuSOLVER with their workspaces
# ("CUSOLVER_STATUS_ALLOC_FAILED"), graphs, the driver ("CUDA driver error: out of memory"), Triton where it
# loads a kernel ("Triton Error [CUDA]: out of memory"). cuBLAS reports that it is not initialised if there is
# no room for its handle.
_NO_MEMORY_ON_CARD = re.compile(
    r"\b(CUDA|HIP)\b.*\bout of memory\b|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY"
    r"|_STATUS_ALLOC_FAILED|CUBLAS_STATUS_NOT_INITIALIZED"
)


# The classes of errors that say that memory ran out, and much else, which `exhausted_tier` tells apart.
ALLOCATION_ERRORS = (MemoryError, RuntimeError, OSError)
_PAGING_FILE_TOO_SMALL = 1455  # ERROR_COMMITMENT_LIMIT of Windows, for which Python has no errno


def exhausted_tier(error: BaseException) -> Literal["vram", "ram"] | None:
    """Return the tier whose memory ran out, according to an error of Python, torch or a library for graphics
    cards; None if the error is about something else.

    The errors in whose handling it was raised count too: what fails within a recorded graph is followed by a
    complaint about the recording.
    """
    for link in _behind(error):
        text = str(link)
        if type(link).__name__ == "OutOfMemoryError" or _NO_MEMORY_ON_CARD.search(text):
            return "vram"
        if _lacks_ram(link) or "DefaultCPUAllocator" in text:
            return "ram"
    return None


def _lacks_ram(error: BaseException) -> bool:
    if not isinstance(error, OSError):
        return isinstance(error, MemoryError)
    return error.errno == errno.ENOMEM or getattr(error, "winerror", None) == _PAGING_FILE_TOO_SMALL


StopCause = Literal["kernel", "fault"]

# What CUDA and HIP say once a card has stopped: because a kernel has gone wrong, or because of a fault that
# no kernel causes: in the card's memory or its links, or of a driver that has lost it, as after suspend
# (`UNKNOWN_ERROR`; the checks of a card find out whether a kernel causes it). Every later call in the process
# then fails with the same words. Source: "Error handling" in the CUDA runtime's reference, where these errors
# leave "the process in an inconsistent state".
UNKNOWN_ERROR = "unknown error"
_KERNEL_FAILED = (
    "illegal memory access",
    "illegal address",
    "misaligned address",
    "device-side assert",
    "unspecified launch failure",
    "the launch timed out and was terminated",
    "illegal instruction was encountered",
    "invalid program counter",
    "hardware stack error",
    "operation not supported on global/shared address space",
    "BLAS_STATUS_EXECUTION_FAILED",
)
_CARD_FAULT = (
    "uncorrectable ECC error",
    "uncorrectable NVLink error",
    "GPU is lost",
    "device is lost",
    UNKNOWN_ERROR,
)


def card_stopped(error: BaseException) -> StopCause | None:
    """Return why a graphics card has stopped, according to an error; None if it has not. The errors in whose
    handling it was raised count too."""
    for link in _behind(error):
        text = str(link)
        is_of_card = "CUDA" in text or "HIP" in text or type(link).__name__ == "AcceleratorError"
        if is_of_card and any(words in text for words in _KERNEL_FAILED):
            return "kernel"
        if is_of_card and any(words in text for words in _CARD_FAULT):
            return "fault"
    return None


def refused_by_system(error: BaseException) -> SpecExecError | None:
    """Return what `error` says about memory, threads, processes or open files that the system refused; None
    if it is about something else.

    A refused thread has no exception of its own, and OpenBLAS answers it with the signal of Ctrl-C.
    """
    text = f"{error} {error.__cause__ or error.__context__}"  # libraries wrap what they cannot load
    code = error.errno if isinstance(error, OSError) else None
    if _lacks_ram(error) or "failed to map segment" in text:
        return OutOfMemory(
            "There is not enough free memory.",
            "Close other programs, load a smaller model, or raise the limit on memory (ulimit -v).",
        )
    if code in (errno.EMFILE, errno.ENFILE):
        return SystemLimit(
            "The system lets this program open no more files.",
            "Raise the limit on open files (ulimit -n), then try again.",
        )
    no_thread = isinstance(error, RuntimeError) and "start new thread" in text
    if code == errno.EAGAIN or no_thread or (isinstance(error, KeyboardInterrupt) and not _can_thread()):
        return SystemLimit(*NO_THREADS)
    return None


def _can_thread() -> bool:
    try:
        _thread.start_new_thread(int, ())
    except RuntimeError:
        return False
    return True
