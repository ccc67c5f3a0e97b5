"""Why a tool gave no result."""

from engine.errors import SpecExecError


class ToolFault(SpecExecError):
    """A tool or its server cannot be used, or does not do what it should."""

    kind = "tool_failed"
