"""The tables and figures of a paper that `shallows reproduce` computes again, as Markdown."""

from __future__ import annotations


def experiments_of(paper: str) -> str:
    """A row an experiment: what it is, what it shows, and the command."""
    from shallows.papers.experiments import experiments

    rows = [
        f"| {experiment.item} | {experiment.shows} | `shallows reproduce {experiment.name}` |"
        for experiment in experiments()
        if experiment.paper == paper
    ]
    return "\n".join(["| in the paper | what it shows | command |", "| --- | --- | --- |", *rows, ""])
