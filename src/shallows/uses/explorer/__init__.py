"""The explorer: a local web page on which the teacher and the data move and the landscape follows."""
