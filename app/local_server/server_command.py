"""The command line of the local server. Imports no Qt."""

from msgspec import structs

from app.preferences import ServerPreferences
from engine.launch import interpreter
from engine.protocol.messages import Load

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OF_MODELS = (
    "target", "draft", "context",
    "weights", "kv_cache", "vram_limit", "ram_limit", "processor_helps", "threads", "dtype", "device",
)  # fmt: skip


def needs_key(preferences: ServerPreferences) -> bool:
    """Return whether clients must give a key: if the user wants it, and always where others can reach the
    server."""
    return preferences.needs_key or preferences.address not in LOOPBACK


def server_command(preferences: ServerPreferences, load: Load) -> list[str]:
    """Return the command. load: the models that the server loads if none are loaded. The key is never in
    it, since every program of the machine can read command lines: the environment holds it."""
    options = ["--json", "--end-with-input", f"--host={preferences.address}", f"--port={preferences.port}"]
    options += [f"--allow-origin={origin}" for origin in preferences.origins]
    usual = Load(id=0)
    for name in OF_MODELS:
        value = getattr(load, name)
        if value != getattr(usual, name):
            options.append(f"--{name.replace('_', '-')}={value}")
    return [*interpreter.command("engine.cli", "serve"), *options]


def differs(one: ServerPreferences, other: ServerPreferences) -> bool:
    """Return whether the server must be started again to follow the other preferences."""
    same = {"starts_with_window": False}
    return structs.replace(one, **same) != structs.replace(other, **same)
