// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

@testable import Sessions

// The reason of a refusal as text; nil if the call was not refused.

extension Session {
  func refusal(
    opening name: String, as kind: String, _ configuration: JSONValue = [:],
    on shard: isolated Shard
  ) -> String? {
    do throws(SessionError) {
      _ = try open(name, kind: kind, configuration: configuration, isolation: shard)
      return nil
    } catch {
      return error.words
    }
  }

  func refusal(attachingTo name: String, on shard: isolated Shard) -> String? {
    do throws(SessionError) {
      let subscription = try attach(Listener().id(on: shard), to: name, isolation: shard)
      detach([subscription])
      return nil
    } catch {
      return error.words
    }
  }

  func refusal(closing name: String, on shard: isolated Shard) -> String? {
    do throws(SessionError) {
      try close(name, isolation: shard)
      return nil
    } catch {
      return error.words
    }
  }
}

extension Subscription {
  func refusal(sending input: String, request: String? = nil) -> String? {
    do throws(SessionError) {
      try send(input, request: request)
      return nil
    } catch {
      return error.words
    }
  }
}

extension Shard {
  /// Returns the reason why a client may not attach; nil if it may.
  func refusal(_ request: AttachRequest, from participant: Participant) -> String? {
    do throws(SessionError) {
      let (participant, _) = try attach(request, from: participant)
      if let listener = participant.connectedClient as? Listener { _ = listener.join(participant) }
      return nil
    } catch {
      return error.words
    }
  }
}

extension SessionError {
  var words: String {
    switch self {
    case .unknownStore(let name): "unknown store \(name)"
    case .forbidden(let refusal): "forbidden: \(refusal.message)"
    case .unknownKind(let kind): "unknown kind \(kind)"
    case .storeClosed(let name): "closed \(name)"
    case .otherConfiguration(let name): "other configuration \(name)"
    case .configuration(let error): "configuration \(error.pathDescription)"
    case .unprepared: "unprepared"
    case .unavailable(let reason): "unavailable: \(reason)"
    case .input(let error): "input \(error.pathDescription)"
    case .unencodable(let error): "unencodable \(error.pathDescription)"
    case .unknownSession: "unknown session"
    case .expiredSession: "expired session"
    case .setAside: "set aside"
    case .unreadable: "unreadable"
    case .observer: "observer"
    case .nameInUse: "name in use"
    case .nameless: "nameless"
    case .outOfOrder(let sequence): "out of order after \(sequence)"
    case .limit(let limit): "limit \(limit.rawValue)"
    }
  }
}
