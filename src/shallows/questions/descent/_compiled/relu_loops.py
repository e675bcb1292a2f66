"""All loops of ReLU problems, imported together: how long compiling takes is estimated by what is imported."""

from __future__ import annotations

from shallows.questions.descent._compiled.relu_fixed_step import fixed_step_loop
from shallows.questions.descent._compiled.relu_flow import flow_loop
from shallows.questions.descent._compiled.relu_line_search import line_search_loop
from shallows.questions.descent._compiled.relu_newton import newton_loop

__all__ = ["fixed_step_loop", "flow_loop", "line_search_loop", "newton_loop"]
