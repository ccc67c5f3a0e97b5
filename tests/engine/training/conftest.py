import pytest

from engine.checkpoints import open_checkpoint
from tests.engine.models import ours
from tests.engine.training import tiny


@pytest.fixture(scope="session")
def module():
    return tiny.speaker()


@pytest.fixture(scope="session")
def target(module):
    return ours(module)


@pytest.fixture(scope="session")
def target_folder(tmp_path_factory, module):
    return tiny.write(tmp_path_factory.mktemp("target"), module)


@pytest.fixture(scope="session")
def target_file(target_folder):
    return open_checkpoint(target_folder)
