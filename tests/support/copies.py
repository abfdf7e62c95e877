"""The ways to copy an object."""

import copy
import pickle
from collections.abc import Callable

COPIES: dict[str, Callable] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
