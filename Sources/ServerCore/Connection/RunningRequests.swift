// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Wire

/// A request whose effects have not ended.
struct RunningRequest {
  /// What it can be cancelled by; nil for a notification.
  let id: RequestID?
  let subscription: Subscription
  let inputID: InputID
  /// Where its answer goes, if it waits for the effects.
  let address: ReplyAddress?
}

/// The requests of a connection whose effects have not ended.
///
/// Several may have the same id; cancelling by id means the latest.
struct RunningRequests {
  private var requests: [Int: RunningRequest] = [:]
  private var latest: [RequestID: Int] = [:]
  private var lastNumber = 0

  /// How many answers are still to be given.
  private(set) var openAnswers = 0

  var count: Int { requests.count }

  /// - Returns: The number to remove the request by.
  mutating func add(_ request: RunningRequest) -> Int {
    lastNumber += 1
    requests[lastNumber] = request
    if let id = request.id { latest[id] = lastNumber }
    if request.address != nil { openAnswers += 1 }
    return lastNumber
  }

  /// Forgets a request.
  /// - Returns: The request, if it was not removed before.
  mutating func remove(_ number: Int) -> RunningRequest? {
    guard let request = requests.removeValue(forKey: number) else { return nil }
    if let id = request.id, latest[id] == number { latest[id] = nil }
    if request.address != nil { openAnswers -= 1 }
    return request
  }

  /// Forgets the latest request with an id.
  mutating func removeLatest(_ id: RequestID) -> RunningRequest? {
    latest[id].flatMap { remove($0) }
  }

  /// Forgets all requests.
  /// - Returns: Them, in the order they came.
  mutating func removeAll() -> [RunningRequest] {
    requests.keys.sorted().compactMap { remove($0) }
  }
}
