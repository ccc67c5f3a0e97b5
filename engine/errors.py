"""The errors shown to the user. Each has a kind for programs, a one-sentence message, and a hint.

Independent of torch, Qt and the protocol. A new kind of error takes one new class.
"""


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


class DeviceUnavailable(SpecExecError):
    """A requested compute device that is missing or unusable."""

    kind = "device_unavailable"


class BadNumbers(SpecExecError):
    """NaN or infinite logits from a forward pass, caused by damaged weights or an overflow."""

    kind = "bad_numbers"

    def __init__(self) -> None:
        super().__init__(
            "The model produced invalid numbers (NaN or infinity).",
            "Its file may be damaged: verify it or download it again. Otherwise try --dtype float32.",
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


class MissingExtra(SpecExecError):
    """A command whose optional packages are not installed."""

    kind = "missing_extra"


class StreamBroken(SpecExecError):
    """A model file that became unreadable or changed while its weights were streamed."""

    kind = "stream_broken"


class BadTrace(SpecExecError):
    """A file that is not a recorded run, or a recorded run that is damaged."""

    kind = "bad_trace"


class Diverged(SpecExecError):
    """A training loss that is not a finite number."""

    kind = "diverged"
