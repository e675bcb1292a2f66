"""Reports: a chart or an ensemble as one self-contained HTML file that opens from disk without a network."""
