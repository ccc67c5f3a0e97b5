"""The connection of a program that uses the engine on this machine and those elsewhere."""

from collections.abc import Iterator

from engine import protocol


class AnyEngine:
    """Has the methods of `EngineConnection`. A Load whose `engine` names an added one goes there, and so do
    the questions that follow; all others go to the engine on this machine, which is joined when it is first
    needed, and left when a model elsewhere has been loaded.
    """

    @staticmethod
    def share(first: str = "") -> "AnyEngine":
        """Join the engine on this machine, or start it, unless `first`, the `engine` of the Load that will
        come first, names another: then nothing is started here.

        Raises EngineGone; RuntimeMissing, as `EngineConnection.share`.
        """
        raise NotImplementedError

    def post(self, request: protocol.Request) -> None: ...

    def close(self) -> None: ...

    def end(self) -> None: ...

    def events(self) -> Iterator[protocol.Event]:
        raise NotImplementedError
