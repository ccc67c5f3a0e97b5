"""Every error a person may meet: a kind for programs, a sentence for people, a hint with the next step.

Knows nothing of torch, Qt or transport. A new kind is one class here.
"""


class SpecExecError(Exception):
    """Base of all errors shown to a person.

    Attributes: `kind` (stable, snake_case), `message` (one sentence), `hint` (what to do next).
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
    """There is nothing to answer."""

    kind = "empty_prompt"


class PromptTooLong(SpecExecError):
    """The prompt leaves no room for an answer in the context."""

    kind = "prompt_too_long"


class ModelNotFound(SpecExecError):
    """A path or id that leads to no model."""

    kind = "model_not_found"


class BadCheckpoint(SpecExecError):
    """A model file that is truncated, damaged, contradictory or unsafe."""

    kind = "bad_checkpoint"


class UnsupportedModel(SpecExecError):
    """A sound file of an architecture, tokenizer or weight format that is not supported."""

    kind = "unsupported_model"


class VocabularyMismatch(SpecExecError):
    """Draft and target do not share one vocabulary."""

    kind = "vocabulary_mismatch"


class OutOfMemory(SpecExecError):
    """The compute device or the machine has too little memory."""

    kind = "out_of_memory"


class DeviceUnavailable(SpecExecError):
    """The compute device asked for is not there or not usable."""

    kind = "device_unavailable"


class BadNumbers(SpecExecError):
    """A forward pass gave NaN or infinite logits: damaged weights or an overflow."""

    kind = "bad_numbers"

    def __init__(self) -> None:
        super().__init__(
            "The model's output is not a number.",
            "Its file may be damaged: verify or download it again; or try --dtype float32.",
        )


class NotLoaded(SpecExecError):
    """A chat was asked of an engine that holds no model."""

    kind = "not_loaded"


class EngineGone(SpecExecError):
    """The engine process ended or could not be started."""

    kind = "engine_gone"


class Interrupted(SpecExecError):
    """The user ended it."""

    kind = "cancelled"


class DiskProblem(SpecExecError):
    """A disk that is full, or a folder that cannot be written."""

    kind = "disk"


class MissingExtra(SpecExecError):
    """A command that needs packages which are not installed."""

    kind = "missing_extra"


class StreamBroken(SpecExecError):
    """A model file could not be read, or changed, while its weights were streamed."""

    kind = "stream_broken"


class BadTrace(SpecExecError):
    """A file that is no recorded run, or a damaged one."""

    kind = "bad_trace"


class Diverged(SpecExecError):
    """A training loss that is not a number."""

    kind = "diverged"
