"""The methods of training, one a file, and what they share."""
