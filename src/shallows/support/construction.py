"""How an object is made: the constructor's public name and its arguments, enough to write it down and make it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from shallows.support.errors import InvalidProblem


@dataclass(frozen=True)
class Construction:
    """`sh.<name>(**arguments)`; a name with a dot is a class method, as in `IID.laplace`.

    Arguments are None, booleans, numbers, text, arrays, functions, other `Constructed` objects, or sequences of them.
    Those that are None are left out.
    """

    name: str
    arguments: Mapping[str, Any]


class Constructed:
    """An object that says how it is made. Subclasses are known by their names, wherever they are defined."""

    __slots__ = ()
    #: Class methods that make an object too.
    constructors: ClassVar[tuple[str, ...]] = ()
    known: ClassVar[dict[str, type[Constructed]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Constructed.known[cls.__name__] = cls

    def construction(self) -> Construction:
        """The constructor and the arguments that give this object again, bit for bit."""
        raise InvalidProblem(
            f"{self!r} does not say how it is made: {type(self).__name__} has no construction()."
        )

    def constructed(self, *, by: str = "", **arguments: Any) -> Construction:
        """A construction by this class, or by its class method `by`; arguments that are None are left out."""
        name = type(self).__name__ + (f".{by}" if by else "")
        return Construction(name, {key: value for key, value in arguments.items() if value is not None})


def constructor(name: str) -> Callable[..., Any]:
    """The class or class method of this name; `InvalidProblem` when there is none."""
    first, _, method = name.partition(".")
    found = Constructed.known.get(first)
    if found is None or (method and method not in found.constructors):
        raise InvalidProblem(f"{name!r} is no constructor; known are {', '.join(sorted(Constructed.known))}.")
    return getattr(found, method) if method else found
