"""numba's compiler without the passes that our loops have no use for.

Half of what a first call costs is numba's own Python code, and each of its passes goes through the whole function
again. Compiled functions here are loops over numbers and pointers: no closures, no `with`, no exceptions, no array
expressions, no branches on types. What is left of numba's default list (`DefaultPassBuilder`) is in its order.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager

#: The passes, by the names of their classes.
UNTYPED = (
    "TranslateByteCode",
    "FixupArgs",
    "IRProcessing",
    "GenericRewrites",
    "InlineInlinables",
    "ReconstructSSA",
)
TYPED = (
    "NopythonTypeInference", "PreLowerStripPhis", "IRLegalization", "AnnotateTypes", "NativeLowering",
    "NoPythonBackend",
)  # fmt: skip

_base: Any = CompilerBase
_list: Any = PassManager
_library: Any = JITCodeLibrary


class _Simplified(_library):  # type: ignore[misc]
    """Machine code whose functions were simplified one by one: nothing is inlined, unrolled or made vectors of."""

    def _optimize_final_module(self) -> None:
        """Leave out the passes over the whole module, the longest of LLVM's."""


class Lean(_base):  # type: ignore[misc]
    """The compiler of `compiling.Unit`."""

    def define_pipelines(self) -> list[Any]:
        """One list of passes."""
        passes = _list("lean")
        for room, chosen in ((untyped_passes, UNTYPED), (typed_passes, TYPED)):
            for name in chosen:
                passes.add_pass(getattr(room, name), name)
        passes.finalize()
        return [passes]


class Light(Lean):
    """The same for functions in which little time is spent."""

    def define_pipelines(self) -> list[Any]:
        """The same passes, into a library that optimises less."""
        self.state.library = _Simplified(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()
