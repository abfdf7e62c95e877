"""Builds one extension module per level from the marked functions of the package.

An object file is kept under a digest of the code of all source files of its loop, the loop's signature and the tools.
"""

import ast
import gc
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from cylcollide.runtime.levels import ROOT, digest_of_files
from native import backend, linker, signatures
from native.backend import Target
from native.signatures import Signature

IN_PLACE = ROOT / "cylcollide" / "machine_code"
BUILD_SOURCES = [f"native/{name}.py" for name in ("backend", "emitters", "frontend", "intrinsics", "signatures")]
"""The files of the build that determine the machine code of a loop."""
EXCLUDED_MODULES = {"cylcollide", "cylcollide.runtime.levels"}
"""Modules left out of digests: the list of public names, and the choice of a level at import."""


@cache
def modules() -> dict[str, Path]:
    """The files of all modules of the package, by name."""
    files = [path.relative_to(ROOT) for path in (ROOT / "cylcollide").rglob("*.py")]
    return {".".join(file.with_suffix("").parts).removesuffix(".__init__"): file for file in files}


@cache
def imported(module: str) -> set[str]:
    """The modules of the package that a module imports, anywhere in its text."""
    names = set[str]()
    for node in ast.walk(ast.parse((ROOT / modules()[module]).read_bytes())):
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & modules().keys() - EXCLUDED_MODULES


@cache
def files_of(loop: str) -> list[str]:
    """The file of a loop, and those of all that it imports, directly or not: their paths in the checkout."""
    found, pending = set[str](), [f"cylcollide.{loop.rpartition('.')[0]}"]
    while pending:
        if (name := pending.pop()) not in found:
            found.add(name)
            pending += imported(name)
    return sorted(modules()[name].as_posix() for name in found)


@cache
def code_of(name: str) -> str:
    """The syntax tree of a file, without texts that only document and without places in the text."""
    tree = ast.parse((ROOT / name).read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [one for one in node.body if not _documents(one)]
    return ast.dump(tree)


def _documents(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or the text behind a constant or field."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def digest_of(function: str, *parts: object) -> str:
    """A digest of parts, of the code of a marked function's file and of all that it imports, and of the tools."""
    code = [(name, code_of(name)) for name in (*files_of(function), *BUILD_SOURCES)]
    tools = version("numba"), version("llvmlite"), sys.version_info[:2]
    return blake2b(repr((parts, function, tools, code)).encode(), digest_size=16).hexdigest()


def key(target: Target, loop: str, signature: Signature) -> str:
    """The name under which the object file of a loop is kept."""
    return digest_of(loop, target._replace(is_cross=False), signature.format)


def kept_objects() -> Path:
    """The folder of kept object files: CYLCOLLIDE_BUILD_CACHE, or one in the user's cache folder."""
    of_user = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.environ.get("CYLCOLLIDE_BUILD_CACHE") or f"{of_user}/cylcollide/objects").expanduser()


def say(text: str) -> None:
    """Print a line at once."""
    print(f"cylcollide: {text}", flush=True)


def build(targets: list[Target], into: Path = IN_PLACE) -> None:
    """Make extension modules in a folder, and print progress.

    Those of an editable installation, in place, contain the names of all their source files, and a digest of these.
    RuntimeError: something cannot be compiled or linked.
    """
    begun = time.perf_counter()
    found = signatures.declared()
    kept = kept_objects()
    kept.mkdir(parents=True, exist_ok=True)
    objects = {(target, name): kept / f"{key(target, name, found[name])}.o" for target in targets for name in found}
    missing = {which: path for which, path in objects.items() if not path.exists()}
    names = ", ".join(f"{target.level} ({target.system})" for target in targets)
    say(f"machine code of {len(found)} loops for {names}: {len(missing)} of {len(objects)} objects to make")
    if missing:
        _compile(found, missing)
    listed = sorted({file for name in found for file in files_of(name)})
    made_of = " ".join([digest_of_files(listed), *listed]) if into == IN_PLACE else ""
    into.mkdir(parents=True, exist_ok=True)
    for target in targets:
        linker.link(target, found, [objects[target, name] for name in found], made_of, into)
    say(f"done in {time.perf_counter() - begun:.0f} s")


def _compile(found: dict[str, Signature], missing: dict[tuple[Target, str], Path]) -> None:
    """Make the object files that are missing. This process runs numba, child processes run LLVM."""
    from native import frontend

    frontend.prepare()
    gc.disable()  # nearly all objects of numba stay in use to the end: collecting garbage takes a fifth of the time
    targets = {target for target, _ in missing}
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1), get_context("spawn")) as pool:
        made = []
        for name in sorted({name for _, name in missing}, key=lambda name: -found[name].words):  # the longest first
            symbol, (function, texts) = f"cylcollide_{found[name].symbol}", frontend.lower(name, found[name])
            for target in targets:
                if path := missing.get((target, name)):
                    made.append(pool.submit(_write, path, target, symbol, function, texts))
        for one in as_completed(made):
            one.result()


def _write(path: Path, target: Target, symbol: str, function: str, texts: list[str]) -> None:
    """Write an object file as a whole, or not at all."""
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(backend.object_file(target, symbol, function, texts))
    part.replace(path)
    say(f"{target.level} {symbol}")
