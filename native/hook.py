"""The build hook: machine code for the wheel, or in place for an editable installation.

CYLCOLLIDE_BUILD_LEVELS names the levels: `all`, some with commas, or `plain` for a wheel without machine code; by
default that of this processor. CYLCOLLIDE_BUILD_PLATFORM is for releases: another system and architecture.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLAIN, FOLDER = "plain", "cylcollide/machine_code"

LEVELS = os.environ.get("CYLCOLLIDE_BUILD_LEVELS", "")
PLATFORM = os.environ.get("CYLCOLLIDE_BUILD_PLATFORM", "")


class MachineCodeHook(BuildHookInterface[Any]):
    """Runs `python -m native`."""

    _made: Sequence[str] = ()
    """The folder of machine code for a wheel."""

    def dependencies(self) -> list[str]:
        """What the build needs besides: ziglang, where no compiler of C is there, and for other platforms."""
        found = sys.platform != "win32" and any(map(shutil.which, ("cc", "gcc", "clang")))
        needless = LEVELS == PLAIN or (not PLATFORM and (found or "CC" in os.environ))
        return [] if needless else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make machine code, and add it to the wheel."""
        if self.target_name != "wheel" or LEVELS == PLAIN:
            return
        self._made = [] if version == "editable" else [tempfile.mkdtemp()]
        into = [f"--into={folder}" for folder in self._made]
        if subprocess.run([sys.executable, "-m", "native", *into], cwd=self.root, check=False).returncode:
            raise SystemExit(
                "cylcollide: no wheel was built, for the reason above. CYLCOLLIDE_BUILD_LEVELS=plain builds one "
                "without machine code, whose queries take some thousand times as long."
            )
        own = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        tag = PLATFORM.replace("linux-", "manylinux_2_17_") or own
        build_data["pure_python"], build_data["tag"] = False, f"cp311-abi3-{tag}"
        for folder in self._made:
            for module in (*Path(folder).glob("*.so"), *Path(folder).glob("*.pyd")):
                build_data["force_include"][str(module)] = f"{FOLDER}/{module.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what the wheel has a copy of."""
        for folder in self._made:
            shutil.rmtree(folder, ignore_errors=True)
