"""Reports: a chart or an ensemble as one self-contained HTML file that opens from disk without a network."""

from shallows.report.build import chart_report, charts_report, ensemble_report

__all__ = ["chart_report", "charts_report", "ensemble_report"]
