"""Long runs: the records of a run on disk part after part, so that it can be stopped at any time and continued.

While games are played, a folder beside the file of records, NAME.parts, takes parts: records and totals of games in
succession, each written whole before it gets its name. The file itself is written from them under a name for the time
being, and gets its own when it is whole; then the parts go.
"""

import hashlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from splendor_sim.core.counters import RECORD_DTYPE
from splendor_sim.records import (
    RecordsError,
    Writer,
    beside,
    differences,
    ending_of,
    identity,
    packed,
    read_metadata,
    sync,
    unpacked,
)

if TYPE_CHECKING:
    from splendor_sim.simulate import Crew, Plan, Totals

PART = 65_536  # games that make a part, about
_PATIENCE = 10.0  # seconds after which fewer games make a part, so that a crash costs no more
_ADVICE = "resume goes on with it, overwrite begins anew"


def begun_as(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Return the identity of the run that a file of records holds or is to hold, None if there is none."""
    place = _Place(Path(path))
    try:
        return place.manifest() or read_metadata(place.target)
    except OSError:
        return None


class Recording:
    """A run whose records go to a file; a context, within which no other run may write that file.

    path: where, ending in .parquet, .csv or .jsonl. resume: continue what is there, which must be of the same run;
    overwrite: begin anew, and replace it at the end. Raises RecordsError, before anything changed, if something is
    there already, or is of another run, and OSError if the folder cannot be written.
    """

    def __init__(
        self, plan: "Plan", path: str | os.PathLike[str], resume: bool = False, overwrite: bool = False
    ) -> None:
        if not plan.records:
            raise RecordsError("the plan of a run with records must have them")
        if resume and overwrite:
            raise RecordsError("a run is resumed or overwritten, not both")
        self.plan, self._identity = plan, identity(plan)
        self.place = place = _Place(Path(path))
        ending_of(place.target)
        if place.target.is_dir():
            raise RecordsError(f"{place.target} is a folder")
        self._done = 0  # games that are safe on the disk
        self._finished: dict[str, Any] | None = None  # the metadata of the file that is continued
        self._failed = False
        self._writer: Writer | None = None
        self._blocks: list[Totals] = []  # of the next part
        self._since = time.monotonic()
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="splendor-sim-disk")
        self._storing: Future[None] | None = None
        new = place.make()
        self._lock = _lock(place)
        try:
            self._begin(resume, overwrite)
        except BaseException:
            self._disk.shutdown()
            place.clear(with_folder=new)
            os.close(self._lock)
            raise

    def _begin(self, resume: bool, overwrite: bool) -> None:
        place = self.place
        there = None if overwrite else place.manifest()
        if not resume and not overwrite:
            for path in (place.target, *place.companions()):
                if path.exists():
                    raise RecordsError(f"{path} exists already; {_ADVICE}")
            if place.parts():
                raise RecordsError(f"{place.folder} holds the parts of an unfinished run; {_ADVICE}")
        replacing = overwrite
        if resume and there is not None:
            self._refuse_other(there, place.folder)
            replacing = there.get("replacing", False)
        if resume and not replacing:
            self._finished = self._continued(there is not None)
        if overwrite:
            place.drop_parts()
        finished = self._finished["games"] if self._finished else 0
        most = max([finished, *(end for _, end in place.parts())])
        if most > self.plan.games:
            raise RecordsError(f"{most:,} games are finished already, more than the {self.plan.games:,} asked for")
        text = json.dumps({**self._identity, "replacing": replacing})
        place.write(place.folder / "manifest.json", text.encode())

    def _continued(self, begun: bool) -> dict[str, Any] | None:
        """The metadata of the finished file, if there is one; of the same run, else it is refused."""
        try:
            metadata = read_metadata(self.place.target)
        except FileNotFoundError as error:
            if self.place.target.exists() and not begun:
                raise RecordsError(f"{self.place.target} cannot be continued: {error.filename} is missing") from error
            return None  # with parts there: the run was killed before the metadata got its name, and they hold it all
        self._refuse_other(metadata, self.place.target)
        # With parts there, a text may be longer: the run was killed when it had its name and the metadata had not.
        if self.place.companions() and not begun and self.place.target.stat().st_size != metadata.get("bytes"):
            raise RecordsError(f"{self.place.target} is damaged: it has not the {metadata.get('bytes')} bytes it had")
        return metadata

    def _refuse_other(self, there: dict[str, Any], path: Path) -> None:
        there = {name: value for name, value in there.items() if name not in ("replacing", "games", "totals", *_TEXT)}
        if found := differences(there, self._identity):
            raise RecordsError(f"{path} is of another run: {found}")

    # --- Playing -----------------------------------------------------------------------------------------------------

    @property
    def kept(self) -> int:
        """How many games are safe on the disk, from game 0 on."""
        return self._done

    def blocks(
        self,
        crew: "Crew",
        stop: threading.Event | None = None,
        play: "Callable[[Plan, Crew, threading.Event, int], Generator[Totals, None, None]] | None" = None,
    ) -> Generator["Totals", None, None]:
        """Yield the totals of what was finished before, then of blocks of games as they are played and recorded.

        play: what plays the games from one on, play_blocks if it is None. Once `stop` is set the blocks end within a
        second; what was finished is kept. Raises OSError if it cannot be.
        """
        from splendor_sim.simulate import Totals, play_blocks

        play = play or play_blocks
        stop = stop or threading.Event()
        total = Totals(self.plan)
        try:
            for block in self._restored(stop):
                total.add(block)
                yield block
            if not stop.is_set() and self._done < self.plan.games:
                self._since = time.monotonic()
                with closing(play(self.plan, crew, stop, self._done)) as blocks:
                    for block in blocks:
                        total.add(block)
                        self._add(block)
                        yield block
        finally:
            self._flush(wait=True)
        if self._done == self.plan.games == total.games:
            self._finish(total)

    def end_at(self, games: int) -> None:
        """Let the run be finished with so many games: those that were yielded so far."""
        self.plan = replace(self.plan, games=games)

    def _restored(self, stop: threading.Event) -> Iterator["Totals"]:
        """The totals of what was finished before, while it is written anew; parts are read until one is not whole."""
        place, plan = self.place, self.plan
        if self._finished is not None:
            totals = unpacked(plan, self._finished)
            totals.restored = True
            self._done = totals.games
        if self._done == plan.games:  # nothing is left to do, and the file stays as it is
            yield totals
            return
        with place.named():
            self._writer = Writer.to(plan, place.target, place.folder / "whole")
            if self._finished is not None:
                for _ in self._writer.restore(place.target, self._finished):
                    if stop.is_set():
                        return
                yield totals
        for first, end in place.parts():
            if stop.is_set():
                return
            if first < self._done:
                continue  # the file holds them
            part = self._read_part(first, end)
            if part is None:
                break
            records, totals = part
            totals.restored = True
            with place.named():
                self._writer.add(records)
            self._done = end
            yield totals
        place.drop_parts(self._done)  # what follows a gap is played again

    def _add(self, block: "Totals") -> None:
        self._blocks.append(block)
        games = sum(found.games for found in self._blocks)
        if games >= PART or time.monotonic() - self._since > _PATIENCE:
            self._flush()

    def _flush(self, wait: bool = False) -> None:
        """Let the blocks so far become a part, in the background; the one before is on the disk then."""
        if self._storing is not None:
            storing, self._storing = self._storing, None
            storing.result()
        if self._blocks and not self._failed:
            blocks, self._blocks, self._since = self._blocks, [], time.monotonic()
            self._storing = self._disk.submit(self._store, blocks)
            if wait:
                self._flush()

    def _store(self, blocks: "list[Totals]") -> None:
        """Write a part, and its records to the whole."""
        from splendor_sim.simulate import Totals

        totals = Totals(self.plan)
        for block in blocks:
            totals.add(block)
        records = np.concatenate([block.records for block in blocks])
        first, end = self._done, self._done + totals.games
        self._failed = True  # until it is done
        self.place.write(self.place.part(first, end), self._part(records, totals))
        self._done = end
        assert self._writer is not None
        with self.place.named():
            self._writer.add(records)
        self._failed = False

    def _finish(self, total: "Totals") -> None:
        """Give the whole its name and remove the parts."""
        if self._writer is not None:
            metadata = {**self._identity, "games": total.games, "totals": packed(total)}
            with self.place.named():
                for path, name in self._writer.finish(self.place.target, metadata):
                    os.replace(path, name)
                _sync_folder(self.place.target.parent)
            self._writer = None
        self.place.drop_parts()
        (self.place.folder / "manifest.json").unlink(missing_ok=True)

    # --- Parts -------------------------------------------------------------------------------------------------------

    def _part(self, records: Any, totals: "Totals") -> bytes:
        """The bytes of a part: a digest of the run and of what follows, then arrays as numpy writes them."""
        out = io.BytesIO()
        for array in (records, totals.counts, totals.by_turns, *([] if totals.balance is None else [totals.balance])):
            np.save(out, np.ascontiguousarray(array).view(np.uint8).reshape(-1), allow_pickle=False)
        return self._digest(out.getbuffer()) + out.getvalue()

    def _read_part(self, first: int, end: int) -> "tuple[Any, Totals] | None":
        """The records and totals of a part, or None if it is missing, not whole or of another run."""
        from splendor_sim.simulate import Totals

        if first != self._done:
            return None
        found = self.place.part(first, end).read_bytes()
        size = hashlib.sha256().digest_size
        if found[:size] != self._digest(memoryview(found)[size:]):
            return None
        arrays = io.BytesIO(found[size:])
        totals = Totals(self.plan)
        records = np.load(arrays).view(RECORD_DTYPE)
        totals.counts.view(np.uint8)[...] = np.load(arrays)
        totals.by_turns = np.load(arrays).view(np.int64)
        if totals.balance is not None:
            totals.balance.view(np.uint8)[...] = np.load(arrays)
        return records, totals

    def _digest(self, content: Any) -> bytes:
        return hashlib.sha256(json.dumps(self._identity).encode() + content).digest()

    # --- As a context ------------------------------------------------------------------------------------------------

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the file be written by others; parts stay if the run is not finished."""
        self._disk.shutdown()
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None
        self.place.clear(with_folder=not self.place.parts())
        os.close(self._lock)


_TEXT = ("bytes", "sha256")


# --- On the disk -----------------------------------------------------------------------------------------------------


class _Place:
    """Where the records of a run lie: the file itself, links followed, and the folder of its parts."""

    def __init__(self, path: Path) -> None:
        self.target = Path(os.path.realpath(path))
        self.folder = self.target.with_name(f"{self.target.name}.parts")

    def companions(self) -> list[Path]:
        """What else belongs to the file."""
        return [] if self.target.suffix.lower() == ".parquet" else [beside(self.target)]

    def make(self) -> bool:
        """Make the folder of parts; return whether it is new."""
        try:
            self.folder.mkdir()
        except FileExistsError:
            strangers = [path for path in self.folder.iterdir() if not self._is_ours(path)]
            if strangers:
                raise RecordsError(f"{self.folder} is needed for parts, and holds {strangers[0].name}") from None
            return False
        return True

    def _is_ours(self, path: Path) -> bool:
        return path.suffix == ".part" or path.name in ("lock", "manifest.json", "unfinished", *_WHOLE)

    def manifest(self) -> dict[str, Any] | None:
        """The identity of the run whose parts lie here, or None."""
        path = self.folder / "manifest.json"
        try:
            found = json.loads(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            raise RecordsError(f"{path} is damaged: {error}; overwrite begins anew") from error
        if not isinstance(found, dict):
            raise RecordsError(f"{path} is that of no run; overwrite begins anew")
        return found

    def part(self, first: int, end: int) -> Path:
        """The name of the part with games `first` to `end - 1`."""
        return self.folder / f"{first:013}-{end:013}.part"

    def parts(self) -> list[tuple[int, int]]:
        """The ranges of games of the parts here, ascending."""
        found = []
        for path in self.folder.glob("*.part"):
            first, _, end = path.stem.partition("-")
            if first.isdecimal() and end.isdecimal() and path == self.part(int(first), int(end)):
                found.append((int(first), int(end)))
        return sorted(found)

    def drop_parts(self, first: int = 0) -> None:
        """Remove the parts with game `first` and later ones."""
        for begin, end in self.parts():
            if end > first:
                self.part(begin, end).unlink(missing_ok=True)

    def write(self, path: Path, content: bytes) -> None:
        """Write a file in the folder so that its name never stands for half of it, not even after a crash."""
        unfinished = self.folder / "unfinished"
        with self.named(), unfinished.open("wb") as file:
            file.write(content)
            sync(file)
        os.replace(unfinished, path)
        _sync_folder(self.folder)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let an error of the disk say what could not be written."""
        try:
            yield
        except OSError as error:
            if error.filename is None and error.errno is not None:
                raise type(error)(error.errno, error.strerror, str(self.target)) from error
            raise

    def clear(self, with_folder: bool) -> None:
        """Remove what is of no use to a later run, and the folder itself if it holds no parts."""
        names = ["unfinished", *_WHOLE, *(["manifest.json", "lock"] if with_folder else [])]
        try:
            for name in names:
                (self.folder / name).unlink(missing_ok=True)
            if with_folder:
                self.folder.rmdir()
        except OSError:
            pass  # it does no harm


_WHOLE = ("whole", "whole.meta.json")


def _lock(place: _Place) -> int:
    """Lock the folder of parts until the file descriptor is closed or the process ends, however it does."""
    descriptor = os.open(place.folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.fstat(descriptor), os.stat(place.folder / "lock")):
            raise BlockingIOError  # another run has just removed what is locked here
    except OSError as error:
        os.close(descriptor)
        raise RecordsError(f"another run is writing {place.target} at this moment") from error
    return descriptor


def _sync_folder(folder: Path) -> None:
    """See the names in a folder on the disk, where that can be asked for."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
