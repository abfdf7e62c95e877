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
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LEVELS = os.environ.get("CYLCOLLIDE_BUILD_LEVELS", "")
PLATFORM = os.environ.get("CYLCOLLIDE_BUILD_PLATFORM", "")


class MachineCodeHook(BuildHookInterface[Any]):
    """Runs `python -m native`."""

    _made: tempfile.TemporaryDirectory[str] | None = None
    """The folder of machine code for a wheel, which has a copy of it; removed at exit."""

    def dependencies(self) -> list[str]:
        """Further requirements of the build: ziglang, if there is no C compiler or for another platform."""
        found = sys.platform != "win32" and any(map(shutil.which, ("cc", "gcc", "clang")))
        needless = LEVELS == "plain" or (not PLATFORM and (found or "CC" in os.environ))
        return [] if needless else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make machine code, and add it to the wheel."""
        if self.target_name != "wheel" or LEVELS == "plain":
            return
        self._made = None if version == "editable" else tempfile.TemporaryDirectory()
        into = [self._made.name] if self._made else []
        if subprocess.run([sys.executable, "-m", "native", *into], cwd=self.root, check=False).returncode:
            raise SystemExit(
                "cylcollide: no wheel was built, for the reason above. CYLCOLLIDE_BUILD_LEVELS=plain builds one "
                "without machine code, whose queries take some thousand times as long."
            )
        own = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        tag = PLATFORM.replace("linux-", "manylinux_2_17_") or own
        build_data["pure_python"], build_data["tag"] = False, f"cp311-abi3-{tag}"
        for module in (path for folder in into for path in Path(folder).iterdir()):
            build_data["force_include"][str(module)] = f"cylcollide/machine_code/{module.name}"
