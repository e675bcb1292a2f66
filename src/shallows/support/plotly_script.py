"""Plotly's JavaScript as every page of the house has it: nothing in it sends a figure anywhere.

From version 4 on plotly.js has a button "Share chart…" that uploads the figure to a third party, unless told otherwise.
The settings are made once, in the script itself, so that no page can forget them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

#: What the toolbar leaves out: the upload, the maker's mark, and buttons that do nothing for these figures.
TOOLBAR: dict[str, Any] = {
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "displaylogo": False,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d", "sendChartToCloud", "sendDataToCloud"],
}


@lru_cache(maxsize=1)
def plotly_script() -> str:
    """plotly.js of the installed package, with the toolbar's settings as its defaults.

    It may stand inside <script>: a closing tag in one of its strings would end the element.
    """
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs().replace("</script", "<\\/script")
    return f"{script}\n;window.Plotly.setPlotConfig({json.dumps(TOOLBAR)});\n"
