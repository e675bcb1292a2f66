"""Questions asked of a problem: charts, geometry, descent, discriminants; quadratic and ReLU networks; estimators."""
