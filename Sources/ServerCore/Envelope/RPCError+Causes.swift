// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension RPCError {
  /// Creates the error for an input that an effect has refused: -32602 with the path in `data`.
  init(_ refusal: InputRefusal) {
    if refusal.code == .unavailable {
      self.init(.internalError, refusal.message)
      return
    }
    self.init(
      invalidParams: JSONError(
        .init(refusal.code), refusal.message, path: (["input"] + refusal.path).map { .key($0) }))
  }

  /// Creates the error for a refusal of a session.
  init(_ error: SessionError) {
    switch error {
    case .unknownStore(let name):
      self.init(.unknownStore, "no store is named \(name.quoted(upTo: 64))")
    case .unknownKind(let kind):
      self.init(
        .invalidParams, "no store kind is named \(kind.quoted(upTo: 64))",
        data: .object(["path": .string("/kind")]))
    case .storeClosed(let name):
      self.init(.storeClosed, "the store \(name.quoted(upTo: 64)) was closed")
    case .otherConfiguration(let name):
      self.init(
        .otherConfiguration,
        "the store \(name.quoted(upTo: 64)) is open with another kind or configuration")
    case .configuration(var error):
      error.path.insert(.key("config"), at: 0)
      self.init(invalidParams: error)
    case .unprepared: self.init(.internalError, "the store is not prepared")
    case .unavailable(let reason): self.init(.internalError, reason)
    case .input(let error):
      self.init(invalidParams: error)
    case .unencodable(let error) where error.code == .endless:
      self.init(.internalError, "the input was ended: \(error.message)")
    case .unencodable(let error):
      self.init(
        .internalError,
        "the input was undone, because the new state cannot be encoded as JSON: \(error.message)",
        data: .object(["path": .string(error.pathDescription)]))
    case .unknownSession:
      self.init(.unknownSession, "there is no such session")
    case .expiredSession:
      self.init(.expiredSession, "the session has ended")
    case .setAside:
      self.init(.internalError, "the session is set aside; see the server's log for the remedy")
    case .unreadable:
      self.init(.internalError, "the session cannot be loaded; see the server's log for the cause")
    case .observer:
      self.init(.observer, "observers change nothing")
    case .forbidden(let refusal):
      self.init(
        .forbidden, refusal.message,
        data: .object(["reason": .string(JSONError.Code(refusal.code).rawValue)]))
    case .nameInUse:
      self.init(
        .internalError,
        "another client has attached under this name meanwhile; attach again to evict it")
    case .nameless:
      self.init(
        invalidParams: JSONError(
          .value, "a sequence requires a frontend name; pass one to session/open or session/attach",
          path: [.key("sequence")]))
    case .outOfOrder(let sequence):
      self.init(
        .outOfOrder, "an earlier input was refused; send it again first",
        data: .object(["sequence": .number(JSONNumber(sequence))]))
    case .limit(.sessions):
      self.init(limit: .sessions, "the server has the maximum number of sessions")
    case .limit(.sessionsPerIdentity):
      self.init(limit: .sessionsPerIdentity, "this identity has the maximum number of sessions")
    case .limit(.frontendNames):
      self.init(limit: .frontendNames, "the session has the maximum number of frontend names")
    case .limit(.frontendNameBytes):
      self.init(limit: .frontendNameBytes, "the frontend name is too long")
    case .limit(.storesPerSession):
      self.init(
        limit: .storesPerSession, "the session has the maximum number of stores; close one first")
    case .limit(.storeNameBytes):
      self.init(limit: .storeNameBytes, "the store name is too long")
    case .limit(.bytesPerSession):
      self.init(
        limit: .bytesPerSession,
        "the session holds the maximum number of bytes; close a store first")
    case .limit(.bytesPerIdentity):
      self.init(
        limit: .bytesPerIdentity, "the sessions of this identity hold the maximum number of bytes")
    case .limit(.bytes):
      self.init(limit: .bytes, "all sessions together hold the maximum number of bytes")
    }
  }
}

/// Calls a session, and converts its error to the error of the request.
@inline(__always)
func refusing<Result>(
  _ body: () throws(SessionError) -> Result
) throws(RPCError) -> Result {
  do throws(SessionError) { return try body() } catch { throw RPCError(error) }
}
