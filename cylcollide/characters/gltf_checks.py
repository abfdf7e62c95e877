"""Checks of glTF files: indices of elements, sizes, extensions, and transforms that a bone can have; names of bones."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide._types import Float64Array
from cylcollide._version import to_install

RIGID = 1e-3
"""Largest deviation of a matrix from a rotation with a uniform scale, relative to that scale."""


MESHOPT, DRACO = ("EXT_meshopt_compression", "KHR_meshopt_compression"), "KHR_draco_mesh_compression"
PACKAGES = dict.fromkeys(MESHOPT, "meshopt") | {DRACO: "DracoPy"}
HARMLESS = ("KHR_materials_*", "*_texture_*", "*_lights_*", "*_lod", "KHR_mesh_quantization", "KHR_xmp*", "VRM*")
"""Required extensions that affect neither the skin nor its bones nor their motion."""

MESHOPT_RATIO = 1024
"""Most bytes that one byte stands for: for 256 rows of zeros meshopt has 2 bits a column, and no format has fewer."""


class ArgumentError(ValueError):
    """The file is valid, but an argument does not match it."""


def element(items: Sequence[Any] | None, index: Any, owner: str) -> Any:
    """The item of an index; a ValueError for an index out of range names its owner."""
    return (items or ())[validate.index(index, owner, len(items or ()))]


def size(what: str, number: int, most: int) -> None:
    """Raise ValueError for a size that the data of a file cannot have, before memory is allocated for it."""
    if not 0 <= number <= most:
        raise ValueError(f"expected at most {most} {what}, for which the file has data, got {number}")


def extensions(required: Iterable[str]) -> None:
    """Raise ValueError if a file requires an unknown extension, or one whose package is missing."""
    for name in required:
        if name in PACKAGES:
            package(name)
        elif not any(fnmatchcase(name, pattern) for pattern in HARMLESS):
            raise ValueError(f"expected only known extensions to be required, got {name}; export without it")


def package(extension: str) -> Any:
    """The package that reads an extension."""
    name = PACKAGES[extension]
    try:
        return import_module(name)
    except ImportError as missing:
        raise ValueError(
            f"expected {name}, which reads the extension {extension} of this file, got none ({missing}); install "
            f"it with {to_install('gltf-compressed')}, or export without this extension"
        ) from missing


def version(asset: Any) -> None:
    """Raise ValueError if a file requires a later version than glTF 2.0."""
    least = getattr(asset, "minVersion", None)
    if least is None:
        return
    try:
        numbers = tuple(int(part) for part in str(least).split("."))
    except ValueError:
        numbers = (3,)
    if numbers > (2, 0):
        raise ValueError(f"asset.minVersion: expected at most 2.0, got {validate.shown(least)}; export as glTF 2.0")


def affine(matrices: Float64Array, where: str) -> None:
    """Raise ValueError unless matrices (n, 4, 4), for column vectors, are finite and end in the row 0, 0, 0, 1."""
    off = np.abs(matrices[:, 3] - [0.0, 0.0, 0.0, 1.0]).max(axis=1, initial=0.0)
    row = validate.first_bad_row(~(off <= RIGID) | ~np.isfinite(matrices).all(axis=(1, 2)))
    if row is not None:
        got = matrices[row, 3].tolist() if np.isfinite(matrices[row]).all() else "NaN or infinity"
        raise ValueError(
            f"{where.format(row)}: expected finite numbers, column by column, and 0, 0, 0, 1 as the last row, got "
            f"{got}; transpose matrices that are written row by row"
        )


def unscaled(matrices: Float64Array) -> tuple[Float64Array, Float64Array] | None:
    """Rotations (n, 3, 3) and uniform scales > 0, (n,), of matrices (n, 4, 4); None if one has other factors."""
    linear = matrices[:, :3, :3]
    scales = np.cbrt(np.linalg.det(linear))
    if not (scales > 0.0).all():
        return None
    turns: Float64Array = linear / scales[:, None, None]
    return (turns, scales) if np.abs(turns @ turns.transpose(0, 2, 1) - np.eye(3)).max() < RIGID else None


def unique_names(given: Iterable[str | None], fallback: Iterable[str]) -> list[str]:
    """Unique names: the first bone of a given name keeps it, others get their `fallback` name."""
    taken: set[str] = set()
    names: list[str] = []
    for name in given:
        names.append(name if name and name not in taken else "")
        taken.add(names[-1])
    for row, other in enumerate(fallback):
        if not names[row]:
            while other in taken:
                other += "_"
            names[row] = other
            taken.add(other)
    return names
