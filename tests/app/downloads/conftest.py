from tests.app.shared_fixtures import downloads, own_models, server, small_catalog
from tests.engine.hub.conftest import own_keyring

__all__ = ["downloads", "own_keyring", "own_models", "server", "small_catalog"]
