"""The words of the explorer in plain sentences: tooltips, and the page /words that they link to."""

from __future__ import annotations

from html import escape

#: Word -> one sentence; longer words first, so that "rank stratum" is not read as "rank". `docs/start/words.md` too.
WORDS = {
    "critical points": "Places where the loss has no slope: training can come to rest only there.",
    "fourth moment": "How heavy the tails of the data are: 3 for Gaussian data, 1.8 for uniform, 6 for Laplace.",
    "rank stratum": "All functions that need exactly so many neurons. Curvature is measured among them.",
    "merge tree": "Which valleys flow together as water rises, and at which loss: leaves are minima, joins are passes.",
    "signature": "How many directions curve up, are flat, and curve down at a critical point: (up, flat, down).",
    "discriminant": "The teachers at which two critical points meet. Crossing it changes how many there are.",
    "saddle": "A critical point with a way down: training may linger there and then goes on.",
    "index": "How many independent ways lead down from a critical point; a minimum has none, index 0.",
    "basin": "All starts from which steepest descent ends in the same minimum.",
    "thick": "A width at which networks fill a region of functions, if not all of them.",
    "filling": "A width at which networks of that size can be every function of the family.",
    "certified": "Proved in ball arithmetic: exactly one critical point is in a tiny box, with this curvature.",
    "completeness": "How sure it is that no critical point is missing; “proved” is the strongest.",
}


def glossary_html(style: str) -> str:
    """The page of all words, in the style of the explorer."""
    entries = "".join(
        f'<dt id="{escape(word.replace(" ", "-"))}">{escape(word)}</dt><dd>{escape(text)}</dd>'
        for word, text in WORDS.items()
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f'<link rel="icon" href="data:,"><title>Words of the explorer</title><style>{style}</style></head>'
        '<body><div id="root" class="glossary"><h1>Words of the explorer</h1>'
        '<p class="lead">The documentation says more: start/words (what is proved), chart, connections.</p>'
        f"<dl>{entries}</dl></div></body></html>"
    )
