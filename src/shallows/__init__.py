"""The loss landscapes of shallow neural networks.

The public names are listed once, in `__init__.pyi`; each is loaded when it is first used.
"""

from shallows.support.first_use import names_of_stub

__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
