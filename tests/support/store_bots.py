"""Bots on disk, and a store to install them in."""

from pathlib import Path

from arena.store.bots import BotStore


def bot_folder(place: Path, name: str, *, content: str = "print()", build: str = "") -> Path:
    """A bot on disk."""
    place.mkdir(parents=True)
    (place / "bot.py").write_text(content)
    (place / "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n{build}")
    return place


def store(folder: Path) -> BotStore:
    return BotStore(folder / "results", folder / "bots")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
