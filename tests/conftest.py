"""What all tests share: how hypothesis runs, the size of exhaustive checks, golden files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

GOLDEN = Path(__file__).parent / "data" / "golden"

# The first call of a kernel compiles it, which no deadline for one example allows for. In CI hypothesis itself takes
# fixed examples.
settings.register_profile("splendor-sim", deadline=None)
settings.load_profile("splendor-sim")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--exhaustive", action="store_true", help="run the slow checks at their full size")
    parser.addoption("--regenerate", action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture
def at_size(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """`at_size(full, reduced)`: how many games, positions or seeds a check marked `slow` goes through."""
    exhaustive = request.config.getoption("--exhaustive")
    return lambda full, reduced: full if exhaustive else reduced


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: the text is what the golden file `name` holds, byte for byte."""
    regenerate = request.config.getoption("--regenerate")

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if regenerate:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        assert path.read_bytes().decode() == text, f"{path.name}: the rules changed, or a speed-up changed a game"

    return compare
