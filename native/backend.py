"""Compiles LLVM IR to object files, for target systems and the levels of their processors."""

import re
import sys
from functools import cache
from typing import Any, NamedTuple

from llvmlite import binding

from cylcollide.runtime.levels import X86_LEVELS, machine
from native.emitters import COMPRESS

TRIPLES = {"linux": "{}-unknown-linux-gnu", "darwin": "{}-apple-macosx11.0.0", "win32": "{}-pc-windows-msvc"}
"""LLVM's names of systems, without the architecture."""
CROSS = ("linux-x86_64", "linux-aarch64")  # platforms for which any machine can build wheels, by ziglang
FEATURES = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
}
"""Features that a level adds to those below it; `module.c` checks them when the module is loaded."""


class Target(NamedTuple):
    """What an extension module is made for."""

    level: str
    system: str  # as `sys.platform` has it
    machine: str
    is_cross: bool  # whether the platform was named: then ziglang links it, for old systems, too


def targets(levels: str = "", platform: str = "") -> list[Target]:
    """The targets of some levels: names with commas, "all", or by default that of this processor.

    A platform is named as in "linux-aarch64"; by default it is that of this Python. ValueError: unknown name.
    """
    if platform and platform not in CROSS:
        raise ValueError(f"expected a platform among {', '.join(CROSS)}; got {platform!r}")
    system, architecture = platform.split("-") if platform else (sys.platform, machine())
    known = X86_LEVELS if architecture == "x86_64" else (architecture,)
    chosen = known if levels == "all" else [level for level in levels.split(",") if level] or [host_level()]
    if unknown := ", ".join(level for level in chosen if level not in known):
        raise ValueError(f"expected levels among {', '.join(known)}, or all; got {unknown}")
    return [Target(level, system, architecture, bool(platform)) for level in chosen]


def host_level() -> str:
    """The best level of this processor."""
    if machine() != "x86_64":
        return machine()
    has = {name for name, there in binding.get_host_cpu_features().items() if there}
    fits = [all(has >= FEATURES.get(one, set()) for one in X86_LEVELS[k:]) for k in range(len(X86_LEVELS))]
    return X86_LEVELS[fits.index(True)]


PERMUTATIONS = [
    sum(lane << 8 * place for place, lane in enumerate([k for k in range(8) if bits >> k & 1])) for bits in range(256)
]
"""For each eight truths as bits: the lanes whose truth holds, packed, one byte each."""

COMPRESS_OF_AVX2 = f"""
@permutations = internal constant [256 x i64] [{", ".join(f"i64 {row}" for row in PERMUTATIONS)}], align 64
declare <8 x i32> @llvm.x86.avx2.permd(<8 x i32>, <8 x i32>)
define <8 x i32> @cylcollide.compress(<8 x i32> %entries, <8 x i1> %truth, <8 x i32> %others) alwaysinline {{
    %bits = bitcast <8 x i1> %truth to i8
    %row = zext i8 %bits to i64
    %place = getelementptr [256 x i64], ptr @permutations, i64 0, i64 %row
    %bytes = load <8 x i8>, ptr %place, align 8
    %lanes = zext <8 x i8> %bytes to <8 x i32>
    %packed = call <8 x i32> @llvm.x86.avx2.permd(<8 x i32> %entries, <8 x i32> %lanes)
    ret <8 x i32> %packed
}}
"""
"""Replaces LLVM's code for AVX2, which goes through memory: crowds take 1.7 times as long with it."""

FMA_BELOW_AVX2 = """declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)
define <8 x double> @cylcollide.fma(<8 x double> %a, <8 x double> %b, <8 x double> %c) noinline optsize {
    %sum = call <8 x double> @llvm.fma.v8f64(<8 x double> %a, <8 x double> %b, <8 x double> %c)
    ret <8 x double> %sum
}"""
"""Once per object file: eight calls of the C library's function take 300 bytes of code."""


@cache
def _machine(target: Target) -> Any:
    """LLVM's target machine. A vector of eight float64 is one AVX-512 register, which LLVM halves by default."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    made = binding.Target.from_triple(TRIPLES[target.system].format(target.machine))
    cpu = target.level if target.level in X86_LEVELS else "apple-m1" if target.system == "darwin" else "generic"
    features = "-prefer-256-bit" if target.level == "x86-64-v4" else ""
    return made.create_target_machine(cpu, features, opt=3, reloc="pic", codemodel="default")


@cache
def _parsed(target: Target, text: str) -> Any:
    """A module to link into others, with simplified functions; cached, as several loops call most of them."""
    module = binding.parse_assembly(text)
    module.triple, module.data_layout = _machine(target).triple, str(_machine(target).target_data)
    _simplify(module, _passes(target))
    return module


def _passes(target: Target) -> Any:
    """LLVM's passes at -O3, which vectorise loops only. Few machines need the baseline: its code is kept small."""
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    if target.level == X86_LEVELS[-1]:
        options.inlining_threshold, options.loop_unrolling = 0, False
    return binding.create_pass_builder(_machine(target), options)


def _simplify(module: Any, passes: Any) -> None:
    """Simplify each function by itself: done before and after inlining, this makes rays 3 to 4 % faster."""
    simplifying = binding.create_new_function_pass_manager()
    simplifying.add_sroa_pass()
    simplifying.add_instruction_combine_pass()
    simplifying.add_simplify_cfg_pass()
    for function in filter(lambda one: not one.is_declaration, module.functions):
        simplifying.run(function, passes)


SHARED = "cylcollide.shared."
"""Prefix of the names of functions that object files share: the linker keeps one copy of each."""

DEFINED = re.compile(r'(?m)^define [^@\n]*@"([^"]*)".*$')

SYMBOLS = {"fma", "fmod", "frexp", "ldexp", "memcpy", "memmove", "memset", "sqrt"}  # all C functions that may be called


def _in_section(definition: str, name: str, target: Target) -> str:
    """A function's definition in a section of its own: the linker drops what only copies of shared functions call."""
    if target.system == "darwin":  # there, a symbol is enough
        return definition
    if name.startswith(SHARED):
        return f'$"{name}" = comdat any\n{definition} comdat'
    return f'{definition} section ".text.{name}"' if target.system == "linux" else definition


def object_file(target: Target, symbol: str, function: str, texts: list[str]) -> bytes:
    """The object file of a function with all that it calls; its only visible symbol is `symbol`.

    RuntimeError: it calls something that is not among `SYMBOLS`.
    """
    machine, passes, module = _machine(target), _passes(target), binding.parse_assembly("")
    module.name, module.triple, module.data_layout = symbol, machine.triple, str(machine.target_data)
    if target.level == "x86-64-v3":
        texts = [*(text.replace(COMPRESS, "cylcollide.compress") for text in texts), COMPRESS_OF_AVX2]
    elif target.level == "x86-64":  # small, as vectors of eight take four registers and much code: 2.9 MB, not 5.2
        texts = [re.sub(r"(?m)^(define .*\))( alwaysinline)?", r"\1 optsize", text) for text in texts]
        texts = [*(text.replace("llvm.fma.v8f64", "cylcollide.fma") for text in texts), FMA_BELOW_AVX2]
    texts = [DEFINED.sub(lambda found: _in_section(found[0], found[1], target), text) for text in texts]
    for text in texts:
        module.link_in(_parsed(target, text), preserve=True)
    for value in (*module.functions, *module.global_variables):
        if value.name.startswith(SHARED) and not value.is_declaration:
            value.linkage, value.visibility = "linkonce_odr", "hidden"
        elif not value.is_declaration:
            value.linkage = "external" if value.name == function else "internal"
    loop = module.get_function(function)
    loop.name, loop.visibility = symbol, "hidden"
    inlining = binding.create_new_module_pass_manager()
    inlining.add_always_inliner_pass()
    inlining.run(module, passes)
    _simplify(module, passes)
    passes.getModulePassManager().run(module, passes)
    module.verify()
    called = {value.name for value in module.functions if value.is_declaration and not value.name.startswith("llvm.")}
    if unknown := sorted(called - SYMBOLS):
        raise RuntimeError(f"{symbol} calls {', '.join(unknown)}, which no installation has")
    code: bytes = machine.emit_object(module)
    return code
