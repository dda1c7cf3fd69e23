"""Records of games: what a file of them holds, and how it is written and read as Parquet, CSV or JSON lines.

A file holds one row a game, in the order of their indices, and is the same byte for byte for the same games. What the
games depend on and what was counted in them, its metadata, is JSON: in a Parquet file under the key `splendor_sim`,
else in a file beside it, NAME.meta.json.
"""

import csv
import hashlib
import itertools
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from splendor_sim import __version__
from splendor_sim.core.counters import ENDING_NAMES, RECORD_DTYPE

if TYPE_CHECKING:
    from splendor_sim.simulate import Plan, Totals

SCHEMA = 1  # of rows and metadata: a new number whenever one of them changes
GROUP = 65_536  # games a row group: fixed, so that a file depends on its games alone
ENDINGS = (".parquet", ".csv", ".jsonl")

_KEY = b"splendor_sim"  # of the metadata in a Parquet file
_PER_SEAT = ("prestige", "cards", "nobles", "reserves")
_BYTES = 1 << 22  # of a text that are read at a time
_ROWS = 8192  # games whose text is made at a time: it then fits the processor's cache


class RecordsError(ValueError):
    """A file of records that cannot be written, continued or read, with the reason."""


def ending_of(path: Path) -> str:
    """Return the ending that says how a file is written; raise RecordsError if that cannot be done."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise RecordsError(f"the name of a file of records ends in {', '.join(ENDINGS)}, not {path.name!r}")
    if ending == ".parquet":
        _parquet()
    return ending


def beside(path: Path) -> Path:
    """Return where the metadata of a text file of records lies."""
    return path.with_name(f"{path.name}.meta.json")


# --- Metadata --------------------------------------------------------------------------------------------------------


def identity(plan: "Plan") -> dict[str, Any]:
    """Return all that rows depend on, but their number, in plain JSON types."""
    return {
        "schema": SCHEMA,
        "version": __version__,
        "players": plan.players,
        "agents": [agent.spec for agent in plan.agents],
        "seed": plan.seed,
        "rules": plan.options.to_dict(),
        **({"orders": [list(order) for order in plan.orders]} if plan.paired else {"rotate": plan.rotate}),
        "max_turns": plan.max_turns,
        "statistics": plan.statistics,
    }


def differences(there: dict[str, Any], here: dict[str, Any]) -> str:
    """Return in words how an identity that was found differs from the one that is asked for; "" if it does not."""
    there, here = ({**own, **_flat_rules(own)} for own in (there, here))
    names = [name for name in {**here, **there} if name != "rules" and there.get(name) != here.get(name)]
    return "; ".join(f"{name} {there.get(name)!r}, not {here.get(name)!r}" for name in names)


def _flat_rules(own: dict[str, Any]) -> dict[str, Any]:
    rules = own.get("rules")
    return {f"rule {name}": value for name, value in rules.items()} if isinstance(rules, dict) else {"rule": rules}


def plan_of(metadata: dict[str, Any]) -> "Plan":
    """Return the plan of the games that metadata speaks of; raise RecordsError if it is of another schema."""
    from splendor_sim.simulate import Plan

    if metadata.get("schema") != SCHEMA:
        raise RecordsError(f"the records have schema {metadata.get('schema')!r}; this version reads schema {SCHEMA}")
    names = ("games", "players", "agents", "seed", "rules", "rotate", "max_turns", "statistics")
    orders = metadata.get("orders")  # of a match, in place of rotate
    try:
        known = metadata if orders is None else {**metadata, "rotate": True}
        return Plan.of(**{name: known[name] for name in names}, orders=orders)
    except KeyError as error:
        raise RecordsError(f"the metadata of the records lacks {error}") from error
    except ValueError as error:
        raise RecordsError(f"the metadata of the records is wrong: {error}") from error


def packed(totals: "Totals") -> dict[str, Any]:
    """Return totals in plain JSON types, so that a file can be continued without playing its games again."""
    found = {name: totals.counts[name][0].tolist() for name in totals.counts.dtype.names}
    found["by_turns"] = totals.by_turns.tolist()
    if totals.balance is not None:
        found["balance"] = {name: totals.balance[name][0].tolist() for name in totals.balance.dtype.names}
    return found


def unpacked(plan: "Plan", metadata: dict[str, Any]) -> "Totals":
    """Return the totals that metadata holds; raise RecordsError if it holds none."""
    from splendor_sim.simulate import Totals

    totals = Totals(plan)
    try:
        found = metadata["totals"]
        totals.by_turns = np.array(found["by_turns"], np.int64)
        for name in totals.counts.dtype.names:
            totals.counts[name][0] = found[name]
        if totals.balance is not None:
            for name in totals.balance.dtype.names:
                totals.balance[name][0] = found["balance"][name]
    except (KeyError, TypeError, ValueError) as error:
        raise RecordsError(f"the totals in the metadata of the records are wrong: {error!r}") from error
    if totals.games != metadata["games"]:
        raise RecordsError(f"the metadata speaks of {metadata['games']} games and has totals of {totals.games}")
    return totals


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a finished file of records.

    Raises FileNotFoundError if it or its metadata is missing, RecordsError if it is none or damaged.
    """
    if ending_of(path) == ".parquet":
        pa, pq = _parquet()
        with path.open("rb") as file:
            try:
                found = (pq.read_metadata(file).metadata or {}).get(_KEY)
            except pa.ArrowException as error:
                raise RecordsError(f"{path} is no Parquet file, or a damaged one: {error}") from error
        if found is None:
            raise RecordsError(f"{path} was not written by this program: it has no metadata of a run")
    else:
        path.stat()
        found = beside(path).read_bytes()
    try:
        metadata = json.loads(found)
    except ValueError as error:
        raise RecordsError(f"the metadata of {path} is damaged: {error}") from error
    if not isinstance(metadata, dict) or not isinstance(metadata.get("games"), int):
        raise RecordsError(f"the metadata of {path} is that of no run")
    return metadata


# --- One game --------------------------------------------------------------------------------------------------------


def row_of(plan: "Plan", record: Any) -> dict[str, Any]:
    """Return a record as the object that a line of JSON holds: lists are by seat; the key is a string, being long."""
    seats = range(plan.players)
    return {
        "index": int(record["index"]),
        "key": str(record["key"]),
        "turns": int(record["turns"]),
        "ending": ENDING_NAMES[record["ending"]],
        "winners": _members(int(record["winners"])),
        "agents": [plan.agents[record["agents"][seat]].spec for seat in seats],
        **{name: [int(record[name][seat]) for seat in seats] for name in _PER_SEAT},
    }


def read_row(path: Path, metadata: dict[str, Any], index: int) -> dict[str, str]:
    """Return what a file says of a game, as texts by the names of columns; `flat` makes the same of `row_of`.

    Raises RecordsError if there is no such game or its row cannot be read.
    """
    if not 0 <= index < metadata["games"]:
        raise RecordsError(f"{path} holds games 0 to {metadata['games'] - 1:,}, so no game {index:,}")
    ending = ending_of(path)
    try:
        if ending == ".parquet":
            return {name: _text(value) for name, value in _parquet_row(path, index).items()}
        with path.open(encoding="utf-8", newline="") as file:
            if ending == ".jsonl":
                return flat(json.loads(next(itertools.islice(file, index, None))))
            head = next(file)
            return next(csv.DictReader(itertools.chain([head], itertools.islice(file, index, None))))
    except (StopIteration, ValueError, LookupError, TypeError, AttributeError) as error:
        raise RecordsError(f"the row of game {index:,} cannot be read from {path}: {error!r}") from error


def flat(row: dict[str, Any]) -> dict[str, str]:
    """Return a row as texts by the names of columns in Parquet and CSV files."""
    found = {name: row[name] for name in ("index", "key", "turns", "ending")}
    for seat, agent in enumerate(row["agents"]):
        found |= {f"agent_{seat}": agent, f"won_{seat}": seat in row["winners"]}
        found |= {f"{name}_{seat}": row[name][seat] for name in _PER_SEAT}
    return {name: _text(value) for name, value in found.items()}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _members(seats: int) -> list[int]:
    return [seat for seat in range(4) if seats >> seat & 1]


# --- Writing ---------------------------------------------------------------------------------------------------------


class Writer(ABC):
    """Writes a file of records from game 0 on, under a name for the time being, in groups of GROUP games.

    One of Python's own files lies underneath, so that a full disk is an OSError like any other.
    """

    def __init__(self, plan: "Plan", path: Path) -> None:
        self.plan, self.path, self.file = plan, path, path.open("wb")
        self._waiting: list[Any] = []

    @staticmethod
    def to(plan: "Plan", target: Path, path: Path) -> "Writer":
        """Return the writer for what is to become `target` and is written as `path` for now."""
        writers: dict[str, Callable[[Plan, Path], Writer]] = {
            ".parquet": _Parquet,
            ".csv": _CSV,
            ".jsonl": _JSONLines,
        }
        return writers[ending_of(target)](plan, path)

    @abstractmethod
    def restore(self, target: Path, metadata: dict[str, Any]) -> Iterator[None]:
        """Write what a finished file of the same run holds, before anything else; yields now and then."""

    def add(self, records: Any) -> None:
        """Write the records of the games that come next: RECORD_DTYPE[n]."""
        self._waiting.append(records)
        if sum(map(len, self._waiting)) >= GROUP:
            every = np.concatenate(self._waiting)
            whole = len(every) - len(every) % GROUP
            for first in range(0, whole, GROUP):
                self._write(every[first : first + GROUP])
            self._waiting = [every[whole:]]

    def finish(self, target: Path, metadata: dict[str, Any]) -> list[tuple[Path, Path]]:
        """Write the rest and the metadata, see it on the disk, and return what is to be renamed, in this order."""
        rest = np.concatenate([*self._waiting, np.zeros(0, RECORD_DTYPE)])
        if len(rest):
            self._write(rest)
        return self._finish(target, metadata)

    def abandon(self) -> None:
        """Close and remove what was written."""
        with suppress(OSError):  # the disk is full: what could not be written is not wanted
            self.file.close()
        self.path.unlink(missing_ok=True)

    @abstractmethod
    def _write(self, records: Any) -> None: ...

    @abstractmethod
    def _finish(self, target: Path, metadata: dict[str, Any]) -> list[tuple[Path, Path]]: ...


def sync(file: Any) -> None:
    """See what was written to a file on the disk."""
    file.flush()
    os.fsync(file.fileno())


class _Parquet(Writer):
    def __init__(self, plan: "Plan", path: Path) -> None:
        super().__init__(plan, path)
        pa, pq = _parquet()
        self._specs = list(dict.fromkeys(agent.spec for agent in plan.agents))
        self._spec_of = np.array([self._specs.index(agent.spec) for agent in plan.agents], np.int8)
        names = pa.dictionary(pa.int8(), pa.string())
        fields = [("index", pa.int64()), ("key", pa.uint64()), ("turns", pa.uint32()), ("ending", names)]
        for seat in range(plan.players):
            fields += [(f"agent_{seat}", names), (f"won_{seat}", pa.bool_())]
            fields += [(f"{name}_{seat}", pa.uint8()) for name in _PER_SEAT]
        self._schema = pa.schema([pa.field(*field, nullable=False) for field in fields])
        plain = ("index", "key") + tuple(f"won_{seat}" for seat in range(plan.players))
        self._writer = pq.ParquetWriter(
            self.file,
            self._schema,
            version="2.6",
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in self._schema.names if name not in plain],
            column_encoding={"index": "DELTA_BINARY_PACKED", "key": "PLAIN"},
            write_page_checksum=True,
        )

    def restore(self, target: Path, metadata: dict[str, Any]) -> Iterator[None]:
        done = 0
        with _opened(target) as file:
            for group in range(file.num_row_groups):
                records = self._records(file.read_row_group(group, use_threads=False))
                if not np.array_equal(records["index"], np.arange(done, done + len(records))):
                    raise RecordsError(f"{target} is damaged: its rows are not those of games {done:,} and after")
                self.add(records)
                done += len(records)
                yield
        if done != metadata["games"]:
            raise RecordsError(f"{target} is damaged: it has {done:,} rows, not {metadata['games']:,}")

    def _write(self, records: Any) -> None:
        pa, _ = _parquet()

        def names(indices: Any, texts: Any) -> Any:
            return pa.DictionaryArray.from_arrays(pa.array(indices.astype(np.int8)), pa.array(texts, pa.string()))

        columns = [pa.array(records[name].copy()) for name in ("index", "key", "turns")]
        columns.append(names(records["ending"], ENDING_NAMES))
        for seat in range(self.plan.players):
            columns.append(names(self._spec_of[records["agents"][:, seat]], self._specs))
            columns.append(pa.array(records["winners"] >> seat & 1 == 1))
            columns += [pa.array(records[name][:, seat].copy()) for name in _PER_SEAT]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema), row_group_size=GROUP)

    def _records(self, table: Any) -> Any:
        """The records of a table: the way back of `_write`."""
        if table.schema.names != self._schema.names:
            raise RecordsError(f"the columns are {table.schema.names}, not {self._schema.names}")

        def column(name: str) -> Any:
            return table[name].combine_chunks().to_numpy(zero_copy_only=False)

        records = np.zeros(table.num_rows, RECORD_DTYPE)
        for name in ("index", "key", "turns"):
            records[name] = column(name)
        endings = column("ending")
        for number, ending in enumerate(ENDING_NAMES):
            records["ending"][endings == ending] = number
        players = self.plan.players
        for seat in range(players):
            records["agents"][:, seat] = np.array(self.plan.orders)[records["index"] % len(self.plan.orders), seat]
            records["winners"] |= column(f"won_{seat}").astype(np.uint8) << seat
            for name in _PER_SEAT:
                records[name][:, seat] = column(f"{name}_{seat}")
        return records

    def _finish(self, target: Path, metadata: dict[str, Any]) -> list[tuple[Path, Path]]:
        self._writer.add_key_value_metadata({_KEY: json.dumps(metadata).encode()})
        self._writer.close()
        sync(self.file)
        self.file.close()
        return [(self.path, target)]

    def abandon(self) -> None:
        with suppress(OSError, ValueError):
            self._writer.close()
        super().abandon()


def _parquet_row(path: Path, index: int) -> dict[str, Any]:
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if index < rows:
                found: dict[str, Any] = file.read_row_group(group, use_threads=False).slice(index, 1).to_pylist()[0]
                return found
            index -= rows
    raise RecordsError(f"{path} is damaged: rows are missing")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """A Parquet file, whose pages are checked as they are read."""
    pa, pq = _parquet()
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise RecordsError(f"{path} is damaged: {error}") from error


def _parquet() -> Any:
    """Pyarrow and its part for Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise RecordsError(
            "a .parquet file needs pyarrow: pip install 'splendor-sim[parquet]'; .csv and .jsonl need nothing more"
        ) from error
    return pyarrow, pyarrow.parquet


# --- Texts -----------------------------------------------------------------------------------------------------------
# The lines of many games are a matrix of bytes, a row a game, in which every field has as many columns as it may need;
# the columns that a field does not need hold 0 and are dropped at the end. So no number is formatted in Python.

_Piece = bytes | tuple[int, Callable[[Any], Any]]  # always the same, or columns and what fills them from records


class _Texts(Writer):
    head = b""

    def __init__(self, plan: "Plan", path: Path) -> None:
        super().__init__(plan, path)
        self._digest, self._bytes = hashlib.sha256(), 0
        self._fields: list[tuple[slice, Callable[[Any], Any]]] = []
        template = b""
        for piece in self.pieces():
            if isinstance(piece, tuple):
                width, fill = piece
                self._fields.append((slice(len(template), len(template) + width), fill))
                piece = bytes(width)
            template += piece
        # Made once: every field is filled anew, the rest stays as it is.
        self._lines, self._width = bytearray(template * _ROWS), len(template)

    @abstractmethod
    def pieces(self) -> Iterator[_Piece]:
        """What a line consists of, its end included."""

    def restore(self, target: Path, metadata: dict[str, Any]) -> Iterator[None]:
        left = metadata.get("bytes", 0)
        with target.open("rb") as file:
            while left and (text := file.read(min(left, _BYTES))):
                self._put(text)
                left -= len(text)
                yield
        if left or self._digest.hexdigest() != metadata.get("sha256"):
            raise RecordsError(f"{target} is damaged: it is not what {beside(target).name} says")

    def _write(self, records: Any) -> None:
        if self._bytes == 0:
            self._put(self.head)
        for first in range(0, len(records), _ROWS):
            some = records[first : first + _ROWS]
            matrix = np.frombuffer(self._lines, np.uint8).reshape(_ROWS, self._width)
            for place, fill in self._fields:
                matrix[: len(some), place] = fill(some)
            lines = self._lines if len(some) == _ROWS else self._lines[: len(some) * self._width]
            self._put(lines.translate(None, b"\0"))

    def _put(self, text: bytes | bytearray) -> None:
        self._digest.update(text)
        self._bytes += len(text)
        self.file.write(text)

    def _finish(self, target: Path, metadata: dict[str, Any]) -> list[tuple[Path, Path]]:
        sync(self.file)
        self.file.close()
        metadata = {**metadata, "bytes": self._bytes, "sha256": self._digest.hexdigest()}
        with beside(self.path).open("w", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(metadata) + "\n")
            sync(file)
        # The metadata comes last: it says how many bytes of the text are whole.
        return [(self.path, target), (beside(self.path), beside(target))]

    def abandon(self) -> None:
        super().abandon()
        beside(self.path).unlink(missing_ok=True)


class _CSV(_Texts):
    @property
    def head(self) -> bytes:  # type: ignore[override]
        """The names of the columns."""
        names = ["index", "key", "turns", "ending"]
        for seat in range(self.plan.players):
            names += [f"{name}_{seat}" for name in ("agent", "won", *_PER_SEAT)]
        return ",".join(names).encode() + b"\n"

    def pieces(self) -> Iterator[_Piece]:
        specs = [_quoted(agent.spec) for agent in self.plan.agents]
        yield from (_number("index", 16), b",", _number("key", 20), b",", _number("turns", 8), b",")
        yield _choice(ENDING_NAMES, "ending")
        for seat in range(self.plan.players):
            yield b","
            yield _choice(specs, "agents", seat)
            yield b","
            yield _choice(["true" if found >> seat & 1 else "false" for found in range(16)], "winners")
            yield b","
            yield _smalls([(name, seat) for name in _PER_SEAT])
        yield b"\n"


class _JSONLines(_Texts):
    def pieces(self) -> Iterator[_Piece]:
        specs = [json.dumps(agent.spec) for agent in self.plan.agents]
        seats = range(self.plan.players)
        yield from (b'{"index":', _number("index", 16), b',"key":"', _number("key", 20), b'","turns":')
        yield from (_number("turns", 8), b',"ending":"')
        yield _choice(ENDING_NAMES, "ending")
        yield b'","winners":'
        winners = [json.dumps(_members(found), separators=(",", ":")) for found in range(16)]
        yield _choice(winners, "winners")
        yield b',"agents":['
        for seat in seats:
            yield b"," * (seat > 0)
            yield _choice(specs, "agents", seat)
        for name in _PER_SEAT:
            yield f'],"{name}":['.encode()
            yield _smalls([(name, seat) for seat in seats])
        yield b"]}\n"


def _quoted(spec: str) -> str:
    return '"' + spec.replace('"', '""') + '"' if any(sign in spec for sign in ',"\r\n') else spec


def _table(texts: Iterable[str]) -> Any:
    """Texts as rows of bytes, filled up with 0: uint8[texts, width]."""
    encoded = [text.encode() for text in texts]
    width = max(map(len, encoded))
    return np.frombuffer(b"".join(text.ljust(width, b"\0") for text in encoded), np.uint8).reshape(-1, width)


# Four bytes as one word, which is looked up at once. A byte with a comma after it, then the same without; four digits
# with leading zeros, then the same without, for what a number begins with.
_SMALL = _table([f"{number},".ljust(4, "\0") for number in range(256)] + [str(number) for number in range(256)])
_SMALL = _SMALL.view(np.uint32)[:, 0]
_FOUR_DIGITS = _table([f"{number:04}" for number in range(10_000)] + [f"{number or ''}" for number in range(10_000)])
_FOUR_DIGITS = _FOUR_DIGITS.view(np.uint32)[:, 0]


def _choice(texts: Iterable[str], name: str, seat: int | None = None) -> _Piece:
    """One of some texts, by the number in a field, or in a seat's place of it."""
    table = _table(texts)
    return table.shape[1], lambda records: table[records[name] if seat is None else records[name][:, seat]]


def _smalls(places: list[tuple[str, int]]) -> _Piece:
    """Numbers that are a byte each, from fields and seats, with commas between."""

    def fill(records: Any) -> Any:
        which = np.empty((len(records), len(places)), np.uint16)
        for number, (name, seat) in enumerate(places):
            which[:, number] = records[name][:, seat]
        which[:, -1] += 256
        return _SMALL[which].view(np.uint8)

    return 4 * len(places), fill


def _number(name: str, width: int) -> _Piece:
    """A whole number of at most so many digits, a multiple of 4."""

    def fill(records: Any) -> Any:
        left = records[name].astype(np.uint64)
        digits = np.empty((len(left), width // 4), np.uint32)
        for group in reversed(range(width // 4)):
            left, rest = np.divmod(left, np.uint64(10_000))
            digits[:, group] = _FOUR_DIGITS[rest + np.uint64(10_000) * (left == 0)]
        found = digits.view(np.uint8)
        found[records[name] == 0, -1] = ord("0")
        return found

    return width, fill


# --- Tables of results -----------------------------------------------------------------------------------------------


def table_as_parquet(rows: list[dict[str, Any]]) -> bytes:
    """Return flat rows with the same keys as the bytes of a Parquet file; raise RecordsError without its library."""
    pa, pq = _parquet()
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())
