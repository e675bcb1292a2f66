"""Weights in PyTorch's files, read as tensors and nothing else: no code in a file is ever run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch

from shallows.support.errors import InvalidProblem


def state_of_file(path: Path) -> Any:
    """What `torch.save(module.state_dict(), path)` wrote, by PyTorch's reader for weights only."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of what it then refuses
            return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever a stranger's file makes the reader raise, it was not read
        first = (str(error).strip().splitlines() or [""])[0]
        raise InvalidProblem(
            f"{path} was not read: it is damaged, or holds more than weights (PyTorch: {first}). Objects in files can "
            "run code, so only tensors are read. Fix: torch.save(module.state_dict(), path)."
        ) from None
