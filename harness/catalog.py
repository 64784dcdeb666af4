"""The scenarios and protocols there are, found by name or by file."""

import difflib
import importlib.util
import inspect
import pkgutil
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from harness.scenario import Scenario
from nodes.config import load_protocol
from nodes.protocol import Protocol

_FOLDERS: list[Path] = []  # of the files that scenarios were taken from


class UnknownName(Exception):  # noqa: N818 (the message is for the user)
    """No such scenario or file; the message names the nearest right ones."""


def built_in() -> dict[str, Scenario]:
    """The scenarios that come with Hustings, by name."""
    package = import_module("scenarios")
    modules = [import_module(f"scenarios.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    return {s.name: s for module in modules for s in scenarios_of(module)}


def scenarios_of(module: ModuleType) -> list[Scenario]:
    """The scenarios a module defines, in their order."""
    return [value for value in vars(module).values() if isinstance(value, Scenario)]


def protocols() -> dict[str, type[Protocol]]:
    """The reference protocols, by `module:Class`."""
    package = import_module("nodes")
    found: dict[str, type[Protocol]] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if info.name == "__main__":
            continue
        module = import_module(f"nodes.{info.name}")
        for name, value in vars(module).items():
            if (
                inspect.isclass(value)
                and issubclass(value, Protocol)
                and "abstract" not in vars(value)
            ):
                found.setdefault(f"{value.__module__}:{name}", value)
    return found


def protocol_named(name: str) -> str:
    """The name itself, if there is such a class: one of ours, or one that can be imported."""
    if "" not in sys.path:
        # One of the user's own, in the folder it is run from; the nodes look there in this order.
        sys.path.insert(len(_FOLDERS), "")
    try:
        found: object = load_protocol(name)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not (inspect.isclass(found) and issubclass(found, Protocol)):
        raise UnknownName(_no_such("protocol", name, list(protocols())))
    return name


def find(name: str) -> list[Scenario]:
    """The scenario of this name, or all scenarios of this file (or FILE::NAME)."""
    file, _, one = name.partition("::")
    if file.endswith(".py") or "/" in file:
        return _from_file(Path(file), one)
    known = built_in()
    if name not in known:
        raise UnknownName(_no_such("scenario", name, list(known)))
    return [known[name]]


def _from_file(path: Path, one: str) -> list[Scenario]:
    if not path.is_file():
        raise UnknownName(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UnknownName(f"{path} is no Python file")
    _refuse_namesakes(path.resolve())
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    if path.resolve().parent not in _FOLDERS:
        _FOLDERS.append(path.resolve().parent)
        sys.path.insert(0, str(_FOLDERS[-1]))  # a protocol of its own, for every process
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UnknownName(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    found = {
        s.name: replace(s, again=f"hustings run {path}::{s.name}") for s in scenarios_of(module)
    }
    if not found:
        raise UnknownName(f"{path} defines no scenario; docs/scenarios.md shows one")
    if one and one not in found:
        raise UnknownName(_no_such(f"scenario in {path}", one, list(found)))
    return [found[one]] if one else list(found.values())


def _refuse_namesakes(path: Path) -> None:
    """A protocol is known by the name of its module: of two, the wrong one would be judged."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "built in").resolve()
        if name == path.stem or file.parent in _FOLDERS:
            ours = path.with_name(f"{name}.py")
            if ours.is_file() and ours != file:
                raise UnknownName(
                    f"{ours} and {file} have one name: rename one of them, or run each by itself"
                )


def _no_such(what: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "`hustings list` shows them all"
    return f"no {what} {name!r}; {hint}"
