// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension RPCError {
  /// An effect has refused an input.
  init(_ refusal: InputRefusal) {
    let path = ["input"] + (refusal.member.map { [$0] } ?? [])
    self.init(
      invalidParams: JSONError(refusal.code, refusal.message, path: path.map { .key($0) }))
  }

  /// A session has refused what was asked of it.
  init(_ error: SessionError) {
    switch error {
    case .unknownStore(let name):
      self.init(.unknownStore, "no store is named \(name.quoted(upTo: 64))")
    case .unknownKind(let kind):
      self.init(
        .invalidParams, "there is no kind of store named \(kind.quoted(upTo: 64))",
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
    case .input(let error):
      self.init(invalidParams: error)
    case .unencodable(let error):
      self.init(
        .internalError,
        "the input has led to a state that cannot be encoded, which was taken back: \(error.message)",
        data: .object(["path": .string(error.pathDescription)]))
    case .unknownSession:
      self.init(.unknownSession, "there is no such session")
    case .expiredSession:
      self.init(.expiredSession, "the session is over")
    case .setAside:
      self.init(
        .internalError,
        "the session is set aside, since its work has crashed the server; its log says what to do")
    case .unreadable:
      self.init(.internalError, "the session cannot be loaded; the server's log says why")
    case .observer:
      self.init(.observer, "observers change nothing")
    case .nameless:
      self.init(
        invalidParams: JSONError(
          .value, "only a frontend with a name can give a sequence", path: [.key("sequence")]))
    case .outOfOrder(let sequence):
      self.init(
        .outOfOrder, "an input before this one was refused, and has not come again",
        data: .object(["sequence": .number(JSONNumber(sequence))]))
    case .limit(.sessions):
      self.init(limit: .sessions, "there are as many sessions as there may be")
    case .limit(.sessionsPerIdentity):
      self.init(limit: .sessionsPerIdentity, "there are as many sessions as one name may have")
    case .limit(.frontendNames):
      self.init(limit: .frontendNames, "the session has as many frontends as it may have")
    case .limit(.frontendNameBytes):
      self.init(limit: .frontendNameBytes, "the name of the frontend is too long")
    case .limit(.storesPerSession):
      self.init(limit: .storesPerSession, "the session has as many stores as it may have")
    case .limit(.storeNameBytes):
      self.init(limit: .storeNameBytes, "the name of the store is too long")
    case .limit(.bytesPerSession):
      self.init(
        limit: .bytesPerSession,
        "the session holds as many bytes as it may; closing a store frees some")
    case .limit(.bytesPerIdentity):
      self.init(
        limit: .bytesPerIdentity, "the sessions of one name hold as many bytes as they may")
    case .limit(.bytes):
      self.init(limit: .bytes, "all sessions hold as many bytes as they may")
    }
  }
}

/// Asks something of a session; what it refuses becomes the answer to the request.
@inline(__always)
func refusing<Result>(
  _ body: () throws(SessionError) -> Result
) throws(RPCError) -> Result {
  do throws(SessionError) { return try body() } catch { throw RPCError(error) }
}
