"""Says where everything of a person lies.

Invariant: nothing else in the program decides on a folder. `SOPHOS_DATA_DIR` or `--data-dir` puts all of it
into one folder (CLI.md, "Where things are"); without them the folders are the system's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP_NAME = "sophos-desktop"
DATA_DIR_VARIABLE = "SOPHOS_DATA_DIR"


@dataclass(frozen=True, slots=True)
class AppPaths:
    """The folders of one start of the program, absolute; none needs to exist."""

    data_dir: Path
    config_dir: Path
    log_dir: Path

    @property
    def database(self) -> Path:
        """The one file that holds conversations, runs and checkpoints."""
        return self.data_dir / "sophos.db"

    @property
    def settings_file(self) -> Path:
        """The user's settings."""
        return self.config_dir / "settings.toml"

    @property
    def mcp_file(self) -> Path:
        """The user's tool servers."""
        return self.config_dir / "mcp.json"

    @property
    def system_file(self) -> Path:
        """The user's system prompt."""
        return self.config_dir / "system.md"

    @property
    def memory_file(self) -> Path:
        """What the memory server remembers."""
        return self.data_dir / "memory.jsonl"

    @property
    def owners_dir(self) -> Path:
        """Lock files of the processes that own runs."""
        return self.data_dir / "owners"

    @property
    def backups_dir(self) -> Path:
        """Copies of the database from before a migration."""
        return self.data_dir / "backups"


def resolve_paths(data_dir: Path | None, environ: Mapping[str, str]) -> AppPaths:
    """The folders: `data_dir` if given, else `SOPHOS_DATA_DIR` if set and not empty, else platformdirs'."""
    chosen = data_dir if data_dir is not None else environ.get(DATA_DIR_VARIABLE, "")
    if str(chosen):
        root = _absolute(Path(chosen))
        return AppPaths(data_dir=root, config_dir=root / "config", log_dir=root / "logs")
    return AppPaths(
        data_dir=platformdirs.user_data_path(APP_NAME, appauthor=False).absolute(),
        config_dir=platformdirs.user_config_path(APP_NAME, appauthor=False).absolute(),
        log_dir=platformdirs.user_log_path(APP_NAME, appauthor=False).absolute(),
    )


def prepare(paths: AppPaths) -> None:
    """Make the folders that are missing, for this user alone (0700). Raises OSError as the system gives it.

    The log folder is left to `log_setup`, which can do without.
    """
    for folder in (paths.data_dir, paths.config_dir, paths.owners_dir, paths.backups_dir):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _absolute(path: Path) -> Path:
    try:
        path = path.expanduser()
    except RuntimeError:
        # "~name" of a user who does not exist is then a folder of that name, as in a shell.
        pass
    return path.absolute()
