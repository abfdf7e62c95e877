"""Lowering without numba's ways through memory: variables that are assigned once, and items of contiguous arrays.

LLVM would find the same, after it has read, linked and inlined a fifth more code.
"""

from collections import Counter
from functools import reduce
from typing import Any

from llvmlite import ir as llvm
from numba.core import ir, types
from numba.core.lowering import Lower


class DirectLower(Lower):
    """numba's lowering, shorter where it can be."""

    _disable_sroa_like_opt = False
    """Nothing is compiled for a debugger, which would need all variables in memory."""

    def lower_block(self, block: Any) -> None:
        """Lower a block."""
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            try:
                self.lower_inst(statement)
            except Exception as error:
                error.add_note(f"lowering {statement} at {statement.loc}")
                raise
        self.post_block(block)

    def _find_singly_assigned_variable(self) -> None:
        """Variables that are assigned once are no memory; numba's are that only if they are used in one block.

        Assignments precede uses in every path (numba brings functions into that form), and in the order of the blocks.
        """
        if self.context.enable_nrt:  # arrays are freed: at the ends of variables
            super()._find_singly_assigned_variable()
            return
        assigned = Counter(
            statement.target.name
            for block in self.blocks.values()
            for statement in block.body
            if isinstance(statement, ir.Assign)
        )
        self._singly_assigned_vars = {name for name, times in assigned.items() if times == 1}
        self._blk_local_varmap: dict[str, Any] = {}

    def lower_expr(self, kind: Any, expression: Any) -> Any:
        """Lower an expression: constant indices of arrays like others."""
        if expression.op == "static_getitem" and isinstance(self.typeof(expression.value.name), types.Array):
            signature = self.fndesc.calltypes[expression]
            return self.lower_getitem(kind, expression, expression.value, expression.index_var, signature)
        return super().lower_expr(kind, expression)

    def lower_binop(self, kind: Any, expression: Any, operator: Any) -> Any:
        """Lower an operation on two operands."""
        if not expression.static_lhs is expression.static_rhs is ir.UNDEFINED:
            return super().lower_binop(kind, expression, operator)
        typing, signature = self.context.typing_context, self.fndesc.calltypes[expression]
        function = typing.resolve_value_type(operator)
        operands = [
            self.context.cast(self.builder, self.loadvar(operand.name), self.typeof(operand.name), expected)
            for operand, expected in zip((expression.lhs, expression.rhs), signature.args, strict=True)
        ]
        emit = self.context.get_function(function, typing.resolve_function_type(function, signature.args, {}))
        return self.context.cast(self.builder, emit(self.builder, operands), signature.return_type, kind)

    def lower_getitem(self, kind: Any, expression: Any, value: Any, index: Any, signature: Any) -> Any:
        """Load an item."""
        array, at = self.typeof(value.name), self.typeof(index.name)
        if not is_item(array, at):
            return super().lower_getitem(kind, expression, value, index, signature)
        place = item_pointer(self.context, self.builder, array, self.loadvar(value.name), at, self.loadvar(index.name))
        item = self.context.unpack_value(self.builder, array.dtype, place)
        return self.context.cast(self.builder, item, array.dtype, kind)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Store an item."""
        array, at = self.typeof(target.name), self.typeof(index.name)
        if not is_item(array, at):
            return super().lower_setitem(target, index, value, signature)
        place = item_pointer(self.context, self.builder, array, self.loadvar(target.name), at, self.loadvar(index.name))
        item = self.context.cast(self.builder, self.loadvar(value.name), self.typeof(value.name), array.dtype)
        return self.context.pack_value(self.builder, array.dtype, item, place)


def _kinds(index: Any) -> tuple[Any, ...]:
    """Types of the indices, one a dimension."""
    is_tuple = isinstance(index, types.BaseTuple)
    return tuple(index) if is_tuple else (index,)


def is_item(array: Any, index: Any) -> bool:
    """Whether types of an array and an index denote one number."""
    if not isinstance(array, types.Array) or array.layout != "C" or not array.aligned:
        return False
    kinds = _kinds(index)
    return (
        isinstance(array.dtype, types.Number | types.Boolean)
        and len(kinds) == array.ndim
        and all(isinstance(kind, types.Integer) for kind in kinds)
    )


def item_pointer(context: Any, builder: Any, kind: Any, array: Any, index_kind: Any, index: Any) -> Any:
    """Where an item is in memory; negative indices count from the end, and none is checked."""
    position = context.data_model_manager[kind].get_field_position
    shape = [builder.extract_value(array, (position("shape"), k)) for k in range(kind.ndim)]
    offset = None
    for k, one in enumerate(_kinds(index_kind)):
        given = builder.extract_value(index, k) if isinstance(index_kind, types.BaseTuple) else index
        steps = reduce(builder.mul, shape[k + 1 :], _from_start(context, builder, one, given, shape[k]))
        offset = steps if offset is None else builder.add(offset, steps)
    return builder.gep(builder.extract_value(array, position("data")), [offset])


def _from_start(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """An index that is counted from the start, of 64 bits."""
    if not kind.signed:
        return context.cast(builder, index, kind, types.uintp)
    index = context.cast(builder, index, kind, types.intp)
    if isinstance(index, llvm.Constant) and index.constant >= 0:
        return index
    return builder.select(builder.icmp_signed("<", index, size.type(0)), builder.add(index, size), index)
