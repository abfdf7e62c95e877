"""The build: marked functions of the package to one extension module a level."""

import gc
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from hashlib import blake2b
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from cylcollide.runtime.sources import ROOT, digest_of_files
from native import backend, linker, signatures, sources
from native.levels import Target
from native.signatures import Signature

IN_PLACE = ROOT / sources.PACKAGE / "machine_code"

Object = tuple[Target, str]
"""Which object file: the target and the name of the loop."""


def kept_objects() -> Path:
    """Where object files are kept: CYLCOLLIDE_BUILD_CACHE, or below the user's folder for such files."""
    if given := os.environ.get("CYLCOLLIDE_BUILD_CACHE"):
        return Path(given)
    by_system = {"win32": os.environ.get("LOCALAPPDATA"), "darwin": "~/Library/Caches"}
    of_user = by_system.get(sys.platform, os.environ.get("XDG_CACHE_HOME"))
    return Path(of_user or "~/.cache").expanduser() / "cylcollide" / "objects"


def say(text: str) -> None:
    """Print a line at once."""
    print(f"cylcollide: {text}", flush=True)


def build(targets: list[Target], into: Path) -> None:
    """Make extension modules in a folder, and say what is done.

    Those of an editable installation, in place, know the names of all source files that they were made of, and their
    digest.

    Raises
    ------
    RuntimeError
        If something cannot be compiled or linked.
    """
    begun = time.perf_counter()
    found = signatures.declared()
    kept = kept_objects()
    kept.mkdir(parents=True, exist_ok=True)
    wanted = [(target, name) for target in targets for name in found]
    objects = {(target, name): kept / f"{_key(target, name, found[name])}.o" for target, name in wanted}
    missing = {which: path for which, path in objects.items() if not path.exists()}
    names = ", ".join(f"{target.level} ({target.system})" for target in targets)
    say(f"machine code of {len(found)} loops for {names}: {len(missing)} of {len(objects)} objects to make")
    if missing:
        _compile(found, missing)
    listed = sorted({path for name in found for path in sources.files_of(_module(name))})
    made_of = " ".join([digest_of_files(listed), *listed]) if into == IN_PLACE else ""
    into.mkdir(parents=True, exist_ok=True)
    for target in targets:
        of_target = [objects[target, name] for name in found]
        linker.link(target, found, of_target, made_of, into / f"{target.module}{linker.suffix(target)}")
    say(f"done in {time.perf_counter() - begun:.0f} s")


def _key(target: Target, name: str, signature: Signature) -> str:
    """What the object file of a loop is kept under: a digest of all that it depends on."""
    files = sources.digest_of_code([*sources.files_of(_module(name)), *sources.FILES_OF_BUILD])
    tools = version("numba"), version("llvmlite"), sys.version_info[:2]
    key = target._replace(is_cross=False), name, signature.format, tools, files
    return blake2b(repr(key).encode(), digest_size=16).hexdigest()


def _module(name: str) -> str:
    """The module of a loop."""
    return f"{sources.PACKAGE}.{name.rpartition('.')[0]}"


def _compile(found: dict[str, Signature], missing: dict[Object, Path]) -> None:
    """Make the object files that are missing. This process runs numba, others LLVM."""
    from native import frontend

    frontend.prepare()
    gc.disable()  # nearly all that numba makes here is in use to the end: collecting garbage takes a fifth of the time
    targets = {target for target, _ in missing}
    with ProcessPoolExecutor(min(len(targets), os.cpu_count() or 1), get_context("spawn")) as pool:
        made = []
        for name in sorted({name for _, name in missing}, key=lambda name: -found[name].words):  # the longest first
            symbol, (function, texts) = f"cylcollide_{linker.symbol_of(name)}", frontend.lower(name, found[name])
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
