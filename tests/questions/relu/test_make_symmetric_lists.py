"""Lists are stored as they were found, of the blocks that were asked for, and only where none can be missing."""

from dataclasses import replace

import numpy as np
import pytest

import shallows as sh
from shallows.questions.relu import make_symmetric_lists as making
from shallows.questions.relu.symmetric_lists import stored_list

CHART = sh.relu.symmetric_chart(4, [1, 3])


@pytest.mark.parametrize(("name", "sizes"), [("4", [1, 3]), ("1+3", [1, 3]), ("2+2", [2, 2])])
def test_what_is_stored_is_what_the_search_found(name, sizes, monkeypatch, capsys):
    asked, written = [], []

    def found(k, blocks, **options):
        asked.append((k, blocks, options["search"]))
        return replace(CHART, notes=("465,613 boxes",))

    monkeypatch.setattr(making, "symmetric_chart", found)
    monkeypatch.setattr(making, "write_lists", written.extend)
    making.main([name])
    assert asked == [(4, sizes, True)] and str(sizes) in capsys.readouterr().out
    (made,), known = written, stored_list((1, 3))
    assert made.sizes == tuple(sizes) and made.boxes == known.boxes == 465613
    np.testing.assert_allclose(np.sort(made.values, axis=0), np.sort(known.values, axis=0), atol=1e-9)


@pytest.mark.parametrize("scope", ["all but for 3 boxes", "the search is not complete"])
def test_an_open_search_is_not_stored(scope):
    with pytest.raises(sh.NotConverged, match="Nothing is stored"):
        making.list_of(replace(CHART, scope=scope), [1, 3], 7)
