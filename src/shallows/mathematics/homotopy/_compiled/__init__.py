"""The compiled loops of the path tracker: predictor, corrector, endgame, small linear algebra."""
