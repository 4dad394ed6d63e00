// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

// Copies of stores, which run again from an earlier state.

extension Console {
  /// Begins a copy: `store`, `revision`, `inputs` (true to send the inputs since then again), `work`
  /// (`fail` or `hang`, the outcome of work outside of the store).
  func copy(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    guard let object = request.object, let store = object["store"]?.string,
      let revision = object["revision"]?.int, case .bool(let sendsInputs)? = object["inputs"],
      let work = object["work"]?.string.flatMap(Shard.WithheldWork.init)
    else {
      return ready(.error(.badRequest, "store, revision, inputs and work must be given"))
    }
    let bound = NIOLoopBound((self, request), eventLoop: loop)
    return shards.read(place.shard, on: loop) {
      shard -> (Result<StoreCopy, StoreCopy.Refusal>?, Shard) in
      let source = shard.session(place.key).map { session in
        Result { () throws(StoreCopy.Refusal) in try session.copy(of: store, at: revision) }
      }
      return (source, shard)
    }.flatMap { copied in
      let (console, request) = bound.value
      guard let (source, shard) = copied else {
        return console.ready(.error(.unavailable, "the shard does not respond"))
      }
      switch source {
      case nil: return console.ready(.noSession)
      case .failure(let refusal)?:
        return console.ready(.error(.notFound, refusal.sentence))
      case .success(let source)?:
        console.log(
          request, "ran a copy of the store \(store.prefix(64)) from revision \(revision)",
          ["id": "\(place.id)"])
        return console.copies.begin(
          source, of: (place.id, shard), sendsInputs: sendsInputs, withholding: work
        ).map { result in
          switch result {
          case .success(let place): .value(["session": .string(place.id)])
          case .failure(let error): .error(.badRequest, "the copy cannot begin: \(error)")
          }
        }
      }
    }
  }
}

extension StoreCopy.Refusal {
  /// The reason, one sentence for the operator.
  fileprivate var sentence: String {
    switch self {
    case .unknownStore: "the session has no open store with this name"
    case .unrecorded: "the state at this revision is not recorded"
    case .uncopyable:
      "states of this kind cannot be copied: their type is not Codable, or they are larger than 1 MiB"
    }
  }
}
