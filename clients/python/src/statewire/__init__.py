# SPDX-License-Identifier: Apache-2.0
"""A Statewire client for asyncio, without dependencies.

`Client` is a client that reconnects, `Store` its subscription to one store. The lower layers are usable
alone: `Connection` (one JSON-RPC connection and its replicas), `Document` (JSON Patch) and `digest`.
"""

from .backoff import Backoff
from .canonical import canonical, digest
from .client import Client, Notification, Role, Status
from .connection import Connection, ConnectionListener
from .errors import (
    ConnectionLostError,
    ExpiredSessionError,
    ForbiddenError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    LimitError,
    MethodNotFoundError,
    ObserverError,
    OtherConfigurationError,
    OutOfOrderError,
    ParseError,
    ProtocolVersionError,
    ProtocolViolationError,
    RequestCancelledError,
    RPCError,
    SessionEndedError,
    StatewireError,
    StoreClosedError,
    TimedOutError,
    TooManyPendingError,
    UnauthorisedError,
    UnknownSessionError,
    UnknownStoreError,
)
from .inputs import SendResult
from .kinds import ADD_TODO, BALANCE, FORM, LOADING, TODO, Kind
from .patch import Document, PatchError, apply
from .printing import printable
from .replica import Replica
from .signal import EventStream
from .store import Store

__all__ = [
    "ADD_TODO",
    "BALANCE",
    "FORM",
    "LOADING",
    "TODO",
    "Backoff",
    "Client",
    "Connection",
    "ConnectionListener",
    "ConnectionLostError",
    "Document",
    "EventStream",
    "ExpiredSessionError",
    "ForbiddenError",
    "InternalError",
    "InvalidParamsError",
    "InvalidRequestError",
    "Kind",
    "LimitError",
    "MethodNotFoundError",
    "Notification",
    "ObserverError",
    "OtherConfigurationError",
    "OutOfOrderError",
    "ParseError",
    "PatchError",
    "ProtocolVersionError",
    "ProtocolViolationError",
    "RPCError",
    "Replica",
    "RequestCancelledError",
    "Role",
    "SendResult",
    "SessionEndedError",
    "StatewireError",
    "Status",
    "Store",
    "StoreClosedError",
    "TimedOutError",
    "TooManyPendingError",
    "UnauthorisedError",
    "UnknownSessionError",
    "UnknownStoreError",
    "apply",
    "canonical",
    "digest",
    "printable",
]
