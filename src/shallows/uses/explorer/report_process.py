"""`python -m shallows.uses.explorer.report_process`: a question {view, values} on stdin, its answer on stdout."""

from __future__ import annotations

import json
import sys

from shallows.uses.explorer.answers import report_json

if __name__ == "__main__":
    sys.stdout.write(report_json(json.load(sys.stdin)))
