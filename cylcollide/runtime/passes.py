"""numba's passes from bytecode to typed code, without those that change nothing here; and a compiler that runs them."""

from contextlib import nullcontext
from typing import Any

from numba.core.analysis import dead_branch_prune, rewrite_semantic_constants
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, _pass_registry, register_pass
from numba.core.interpreter import Interpreter, peep_hole_delete_with_exit, peep_hole_fuse_dict_add_updates
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.registry import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.targetconfig import ConfigStack
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import PreLowerStripPhis
from numba.core.typeinfer import TypeInferer
from numba.core.untyped_passes import FixupArgs


class _Pass(FunctionPass):
    """A pass, as numba makes it."""

    def __init__(self) -> None:
        FunctionPass.__init__(self)


class ShortInterpreter(Interpreter):
    """numba's translation of bytecode, without looking for what no compiled function has."""

    def post_process(self, rewrites: Any, translated: Any) -> Any:
        """Rewrite what is not translated one by one: but for `with`, and calls with dictionaries."""
        needless = peep_hole_delete_with_exit, peep_hole_fuse_dict_add_updates
        return super().post_process([rewrite for rewrite in rewrites if rewrite not in needless], translated)


@register_pass(mutates_CFG=True, analysis_only=False)
class Translated(_Pass):
    """numba's form of bytecode."""

    _name = "translated"

    def run_pass(self, state: Any) -> bool:
        """Translate it."""
        state.func_ir = ShortInterpreter(state.func_id).interpret(state.bc)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class Canonical(_Pass):
    """Loops with one way back."""

    _name = "canonical"

    def run_pass(self, state: Any) -> bool:
        """Rewrite the function."""
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class TakenBranches(_Pass):
    """Branches that constants and types decide."""

    _name = "taken_branches"

    def run_pass(self, state: Any) -> bool:
        """Rewrite the function."""
        rewrite_semantic_constants(state.func_ir, state.args)
        dead_branch_prune(state.func_ir, state.args)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class ConstantItems(_Pass):
    """numba's rewrites before types are inferred, such as items of tuples by constant numbers."""

    _name = "constant_items"

    def run_pass(self, state: Any) -> bool:
        """Rewrite the function."""
        blocks = state.func_ir.blocks
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite, pending = kind(state), list(blocks.items())
            while pending:
                label, block = pending.pop()
                if rewrite.match(state.func_ir, block, None, None):
                    blocks[label] = rewrite.apply()
                    pending.append((label, blocks[label]))
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class AssignOnce(_Pass):
    """Static single assignment."""

    _name = "assign_once"

    def run_pass(self, state: Any) -> bool:
        """Rewrite the function."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        state.func_ir.generator_info = None
        return True


class _NoWarnings:
    """In place of numba's filter of warnings, which is set at every operation."""

    def catch_warnings(self, **_place: Any) -> Any:
        """Change nothing."""
        return nullcontext()


@register_pass(mutates_CFG=True, analysis_only=False)
class Types(_Pass):
    """Types of all variables and operations."""

    _name = "types"

    def run_pass(self, state: Any) -> bool:
        """Find the types."""
        inferrer = TypeInferer(state.typingctx, state.func_ir, _NoWarnings())
        with state.typingctx.callstack.register(state.targetctx.target, inferrer, state.func_id, state.args):
            for index, (name, kind) in enumerate(zip(state.func_ir.arg_names, state.args, strict=True)):
                inferrer.seed_argument(name, index, kind)
            inferrer.build_constraint()
            inferrer.propagate()
            state.typemap, state.return_type, state.calltypes = inferrer.unify()
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class StripPhis(PreLowerStripPhis):
    """Assignments in place of phi nodes."""

    _name = "strip_inner_phis"

    def run_pass(self, state: Any) -> bool:
        """Rewrite the function."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


TYPED = (
    Translated,
    FixupArgs,
    Canonical,
    TakenBranches,
    ConstantItems,
    AssignOnce,
    Types,
    StripPhis,
)
"""From bytecode to typed code."""


class ShortCompiler(Compiler):
    """numba's compiler with few passes."""

    passes: tuple[Any, ...] = ()

    def _compile_core(self) -> Any:
        """Run the passes."""
        with ConfigStack().enter(self.state.flags):
            for kind in self.passes:
                _pass_registry.get(kind).pass_inst.run_pass(self.state)
        self.state.pipeline = None
        return self.state.cr
