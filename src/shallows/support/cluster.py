"""A Dask cluster by its scheduler's address: the one place that connects to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shallows.support.errors import InvalidProblem, ShallowsError
from shallows.support.extras import needed

#: How long a scheduler may take to answer the first time: milliseconds where it runs, seconds behind a busy gateway.
ANSWER = "15s"


def connected(
    address: str, tls: dict[str, str] | None = None, refused: Callable[[str], ShallowsError] = InvalidProblem
) -> Any:
    """A Dask client; `tls` has the files ca, cert and key of an encrypted cluster. No answer is an error `refused`."""
    with needed("distributed", "sweep"):
        from distributed import Client

    if address.startswith("tls://") and not tls:  # Dask would leave a client behind that cannot be closed
        raise refused(
            f"No Dask scheduler answers at {address}: it wants certificates. Fix: --tls-ca, --tls-cert, "
            "--tls-key, or a client of your own."
        )
    try:
        return Client(address, security=_security(tls), set_as_default=False, timeout=ANSWER)
    except (OSError, TimeoutError, ValueError) as error:
        raise refused(
            f"No Dask scheduler answers at {address}: {error}. Fix: check the address (tcp://host:8786, or "
            "tls://host:8786 with --tls-ca, --tls-cert and --tls-key)."
        ) from None


def _security(tls: dict[str, str] | None) -> Any:
    if not tls:
        return None
    from distributed import Security

    return Security(
        tls_ca_file=tls.get("ca"),
        tls_client_cert=tls.get("cert"),
        tls_client_key=tls.get("key"),
        require_encryption=True,
    )
