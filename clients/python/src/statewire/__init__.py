# SPDX-License-Identifier: Apache-2.0
"""A frontend's side of Statewire, on asyncio and the standard library alone.

`Client` is a frontend that survives its connections, `Store` one store of it. Below them, and usable
alone, are `Connection` (one JSON-RPC connection and its views), `Document` (JSON Patch) and `digest`.
"""

from .backoff import Backoff
from .canonical import canonical, digest
from .client import Client, Notification, Role, Status
from .connection import Connection, Observer
from .errors import (
    Busy,
    ConnectionLost,
    InternalError,
    InvalidParams,
    InvalidRequest,
    LimitMet,
    MethodNotFound,
    ObserversOnlyWatch,
    OtherConfiguration,
    OutOfTurn,
    ParseError,
    ProtocolViolation,
    RequestCancelled,
    ServerError,
    SessionEnded,
    SessionOver,
    StatewireError,
    StoreClosed,
    TimedOut,
    Unauthorised,
    UnknownSession,
    UnknownStore,
    VersionNotSupported,
)
from .inputs import Sent
from .kinds import ADD_TODO, BALANCE, FORM, LOADING, TODO, Kind
from .patch import Document, PatchError, apply
from .printable import visible
from .store import Store
from .view import View

__all__ = [
    "ADD_TODO",
    "BALANCE",
    "FORM",
    "LOADING",
    "TODO",
    "Backoff",
    "Busy",
    "Client",
    "Connection",
    "ConnectionLost",
    "Document",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "Kind",
    "LimitMet",
    "MethodNotFound",
    "Notification",
    "Observer",
    "ObserversOnlyWatch",
    "OtherConfiguration",
    "OutOfTurn",
    "ParseError",
    "PatchError",
    "ProtocolViolation",
    "RequestCancelled",
    "Role",
    "Sent",
    "ServerError",
    "SessionEnded",
    "SessionOver",
    "StatewireError",
    "Status",
    "Store",
    "StoreClosed",
    "TimedOut",
    "Unauthorised",
    "UnknownSession",
    "UnknownStore",
    "VersionNotSupported",
    "View",
    "apply",
    "canonical",
    "digest",
    "visible",
]
