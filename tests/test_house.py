"""The plan of the house: which floor may import which, what starts without compiling, what every file says."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "splendor_sim"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

OPTIONAL = {"choix", "dask", "distributed", "gymnasium", "matplotlib", "open_spiel", "pettingzoo", "pyarrow", "pyspiel"}
HIDDEN = {".ci", ".gitignore"}  # ours all the same
MADE = {"__pycache__", "build", "dist"}  # by tools, not by us


# --------------------------------------------------------------------------------------------------- imports and floors


def test_core_imports_nothing_of_the_package_outside_itself():
    strangers = [
        f"{path.name}: {name}"
        for path in modules("core")
        for name in imports(path)
        if inside(name, "splendor_sim") and not inside(name, "splendor_sim.core")
    ]
    assert strangers == []


def test_nothing_below_the_command_line_imports_it():
    upward = [
        f"{path.name}: {name}" for path in below_cli() for name in imports(path) if inside(name, "splendor_sim.cli")
    ]
    assert upward == []


def test_click_appears_in_the_command_line_alone():
    assert [path.name for path in below_cli() if any(inside(name, "click") for name in imports(path))] == []


def test_the_command_line_holds_no_rule_and_no_kernel():
    forbidden = ("splendor_sim.core", "numba", "llvmlite")
    assert [
        f"{path.name}: {name}"
        for path in modules("cli")
        for name in imports(path)
        if any(inside(name, room) for room in forbidden)
    ] == []


def test_no_two_modules_import_each_other_when_they_are_loaded():
    graph = {module_name(path): set(imports(path, when_used=False)) for path in modules()}
    graph = {name: {found for found in names if found in graph and found != name} for name, names in graph.items()}
    while leaves := {name for name, names in graph.items() if not names & graph.keys()}:
        graph = {name: names for name, names in graph.items() if name not in leaves}
    assert sorted(graph) == []


def test_optional_libraries_are_imported_only_when_used():
    # An adapter's classes derive from the library's: the module itself is what is imported when used.
    early = [
        f"{path.name}: {name}"
        for path in modules()
        for name in imports(path, when_used=False)
        if name.split(".")[0] in OPTIONAL and path.parent.name != "adapters"
    ]
    assert early == []


def test_each_optional_library_is_known_to_one_file():
    homes: dict[str, set[str]] = {}
    for path in modules():
        for name in imports(path):
            if name.split(".")[0] in OPTIONAL:
                homes.setdefault(name.split(".")[0], set()).add(module_name(path))
    assert {library: files for library, files in homes.items() if len(files) > 1} == {}


# ------------------------------------------------------------------------------------------------- starting and version


def test_importing_the_package_loads_neither_numba_nor_numpy():
    assert loaded_after("import splendor_sim") == ""


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_a_question_to_the_program_loads_neither_numba_nor_numpy(option):
    assert loaded_after(f"try: {program(option)}\nexcept SystemExit: pass") == ""


def test_the_version_has_one_home_and_is_the_same_everywhere():
    import splendor_sim

    home = ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]
    written = re.findall(r'^__version__ = "(.+)"$', home.read_text(), re.MULTILINE)
    told = python(program("--version"))
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    assert written == [splendor_sim.__version__]
    assert splendor_sim.__version__ in told.split()


def test_the_extra_all_holds_every_library_that_users_may_add():
    extras = dict(PYPROJECT["project"]["optional-dependencies"])
    assert extras.pop("all") == [f"splendor-sim[{','.join(name for name in extras if name != 'test')}]"]


# ------------------------------------------------------------------------------------------------------------ the files


def test_every_python_file_says_what_it_is():
    files = [path for path in project_files() if path.suffix == ".py" or path.parent == ROOT / "scripts"]
    assert [str(path.relative_to(ROOT)) for path in files if ast.get_docstring(parse(path)) is None] == []


def test_no_file_names_a_path_of_some_machine():
    somewhere = re.compile(r"(?<![\w.~])(/(home|root|Users|work|workspace|build|srv|mnt)/\w|[A-Z]:\\+Users\\)")
    named = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in project_files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if somewhere.search(line)
    ]
    assert named == []


# ----------------------------------------------------------------------------------------------------------- the pieces


def modules(floor: str = "") -> list[Path]:
    """The Python files of the package, or of one floor of it; there are some."""
    found = sorted((PACKAGE / floor).rglob("*.py"))
    assert found, f"no module in splendor_sim/{floor}"
    return found


def below_cli() -> list[Path]:
    return [path for path in modules() if (PACKAGE / "cli") not in path.parents and path.name != "__main__.py"]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def inside(name: str, room: str) -> bool:
    return name == room or name.startswith(room + ".")


def imports(path: Path, when_used: bool = True) -> list[str]:
    """Full names of what a file imports; `from a import b` counts as a.b if that is a module of ours, else as a.

    Without `when_used` only what is imported when the module is loaded: not inside functions, not for type checkers.
    """
    names = []
    for node in statements(parse(path), when_used):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = path.relative_to(ROOT).parts[: -node.level]
                base = ".".join([*package, base]).rstrip(".")
            for alias in node.names:
                full = f"{base}.{alias.name}"
                ours = ROOT.joinpath(*full.split("."))
                names.append(full if ours.is_dir() or ours.with_suffix(".py").is_file() else base)
    return names


def statements(node: ast.AST, when_used: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not when_used:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
        yield child
        yield from statements(child, when_used)


def program(option: str) -> str:
    """One line of code that does what the program `splendor-sim` does with this option."""
    return f"import sys; sys.argv = ['splendor-sim', '{option}']; from splendor_sim.cli import main; main()"


def loaded_after(code: str) -> str:
    """Which of the heavy libraries are there after `code` in a fresh Python."""
    heavy = "{'llvmlite', 'numba', 'numpy', 'scipy'}"
    return python(f"{code}\nimport sys\nprint('\\n', *sorted({heavy} & set(sys.modules)))").splitlines()[-1].strip()


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def project_files() -> list[Path]:
    """What belongs to the project, tracked yet or not: all but hidden files (save a few) and what tools make."""
    rooms = [room for room in ROOT.iterdir() if not is_made(room.name) and not (room / "pyvenv.cfg").exists()]
    found = [path for room in rooms for path in [room, *room.rglob("*")] if path.is_file()]
    return sorted(path for path in found if not any(map(is_made, path.relative_to(ROOT).parts)))


def is_made(name: str) -> bool:
    return name in MADE or (name.startswith(".") and name not in HIDDEN)
