"""Modules beside a sweep file: their source, that of the modules beside them which they import, and one hash of all."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from shallows.support.errors import InvalidProblem

#: Files of modules and what is in them, the one that was asked for first.
Sources = Mapping[Path, bytes]


def sources_of(file: Path) -> Sources:
    """A module's file and, followed through their imports, all modules and packages beside it that it needs."""
    found: dict[Path, bytes] = {}
    waiting = [file]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = path.read_bytes()
            waiting += [other for name in _imported(found[path]) for other in _beside(file.parent, name)]
    return found


def _imported(source: bytes) -> Iterator[str]:
    """The first steps of all names that a source imports, in functions too; none when it is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # the import itself will say so
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.split(".")[0]


def _beside(folder: Path, name: str) -> list[Path]:
    """The files of a module or package of this name in the folder, if it is there."""
    module, package = folder / f"{name}.py", folder / name
    if (package / "__init__.py").is_file():
        return sorted(package.rglob("*.py"))
    return [module] if module.is_file() else []


def mark_of(sources: Sources) -> str:
    """One hash of all files; of a module that imports none of its neighbours it is the hash of its file."""
    own, *others = [hashlib.sha256(content).hexdigest() for content in sources.values()]
    return hashlib.sha256("\n".join([own, *sorted(others)]).encode()).hexdigest()[:16] if others else own[:16]


def executed(name: str, file: Path, sources: Sources) -> ModuleType:
    """The module of the source that was hashed, under this name."""
    spec = spec_from_file_location(name, file, loader=_Held(file, sources[file]))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _neighbours(_Neighbours(file.parent, sources)):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InvalidProblem(f"Cannot import {file}: {type(error).__name__}: {error}.") from error
    return module


class _Held(SourceLoader):
    """Loads a module from bytes that were read before; bytecode that an earlier source left behind is not looked at."""

    def __init__(self, file: Path, content: bytes) -> None:
        self.file, self.content = file, content

    def get_filename(self, fullname: str) -> str:
        """The file that the bytes are from."""
        return str(self.file)

    def get_data(self, path: str | bytes) -> bytes:
        """The bytes."""
        return self.content


class _Neighbours(MetaPathFinder):
    """Finds modules beside the sweep file in sources that were read before."""

    def __init__(self, folder: Path, sources: Sources) -> None:
        self.folder, self.sources = folder, sources

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of this name, if it is one of them."""
        base = self.folder.joinpath(*name.split("."))
        for file, inside in ((base / "__init__.py", [str(base)]), (base.with_suffix(".py"), None)):
            if file in self.sources:
                loader = _Held(file, self.sources[file])
                return spec_from_file_location(name, file, loader=loader, submodule_search_locations=inside)
        return None


@contextmanager
def _neighbours(finder: _Neighbours) -> Iterator[None]:
    """Inside, modules beside the sweep file come before others of their names, and are loaded anew."""
    names = {path.relative_to(finder.folder).parts[0].removesuffix(".py") for path in finder.sources}
    for known in [known for known in sys.modules if known.split(".")[0] in names]:
        del sys.modules[known]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
