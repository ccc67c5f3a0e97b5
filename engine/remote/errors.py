"""The errors of engines elsewhere, as subclasses of `SpecExecError`."""

from engine.errors import SpecExecError


class EngineUnknown(SpecExecError):
    """A name under which no engine was added."""

    kind = "engine_unknown"


class EnginesFileProblem(SpecExecError):
    """A list of added engines that cannot be read or written."""

    kind = "engines_file"


class EngineUnreachable(SpecExecError):
    """A server that cannot be found, refuses connections, or does not respond in time."""

    kind = "engine_unreachable"


class CertificateRefused(SpecExecError):
    """A server whose certificate does not prove that it is the one that was meant."""

    kind = "certificate_refused"


class KeyInClear(SpecExecError):
    """A key that would be sent unencrypted over a public network."""

    kind = "key_in_clear"


class KeyRefused(SpecExecError):
    """A server that asks for a key, or refuses the one that it got."""

    kind = "key_refused"


class NotAnEngine(SpecExecError):
    """A server that does not speak OpenAI's interface."""

    kind = "not_an_engine"


class NoModels(SpecExecError):
    """A server that serves no model at the moment."""

    kind = "no_models"


class EngineBusy(SpecExecError):
    """A server that has too much to do, or is still starting."""

    kind = "engine_busy"


class OptionRefused(SpecExecError):
    """An option that would change the text, but that a kind of server does not have."""

    kind = "option_refused"


class RequestRefused(SpecExecError):
    """A server that refuses a request, for a reason of its own."""

    kind = "request_refused"


class AnswerBroken(SpecExecError):
    """An answer that breaks off, or that cannot be read."""

    kind = "answer_broken"


class CountUnknown(SpecExecError):
    """A server that does not count tokens. Clients show no count."""

    kind = "count_unknown"
