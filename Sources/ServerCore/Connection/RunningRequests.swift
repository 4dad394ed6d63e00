// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Wire

/// A request whose effects have not ended.
struct RunningRequest {
  /// The id to cancel it by; nil for a notification.
  let id: RequestID?
  let subscription: Subscription
  let inputID: InputID
  /// The address of its response; nil if it has been sent.
  fileprivate(set) var address: ReplyAddress?
  /// The end that its response waits for.
  let end: End

  enum End {
    /// The other party has carried out the input. Cancelling the request does not end the wait, because
    /// it does not end the exchange.
    case reply
    /// All effects have ended.
    case effects
  }
}

/// The requests of a connection whose effects have not ended.
///
/// Several may have the same id; cancelling by id cancels the latest of them.
struct RunningRequests {
  private var requests: [Int: RunningRequest] = [:]
  private var latest: [RequestID: Int] = [:]
  private var lastNumber = 0

  /// Number of responses that wait for a reply or for effects.
  private(set) var openResponses = 0

  var count: Int { requests.count }

  /// Adds a request.
  ///
  /// - Returns: The number to remove the request by.
  mutating func add(_ request: RunningRequest) -> Int {
    lastNumber += 1
    requests[lastNumber] = request
    if let id = request.id { latest[id] = lastNumber }
    if request.address != nil { openResponses += 1 }
    return lastNumber
  }

  /// Removes a request.
  ///
  /// - Returns: The request; nil if it was removed before.
  mutating func remove(_ number: Int) -> RunningRequest? {
    guard let request = requests.removeValue(forKey: number) else { return nil }
    if let id = request.id, latest[id] == number { latest[id] = nil }
    if request.address != nil { openResponses -= 1 }
    return request
  }

  /// Takes the address of a response that is sent now, while the effects continue.
  ///
  /// - Returns: The address; nil if the response was sent before.
  mutating func takeAddress(of number: Int) -> ReplyAddress? {
    guard let address = requests[number]?.address else { return nil }
    requests[number]?.address = nil
    openResponses -= 1
    return address
  }

  /// Removes the latest request with an id, unless its response waits for a reply.
  ///
  /// - Returns: The request; nil if there is none with this id.
  mutating func cancelLatest(_ id: RequestID) -> RunningRequest? {
    guard let number = latest[id], let request = requests[number] else { return nil }
    if request.address != nil, request.end == .reply {
      var continuing = request
      continuing.address = nil
      return continuing
    }
    return remove(number)
  }

  /// Removes all requests.
  ///
  /// - Returns: The requests, in the order of arrival.
  /// - Complexity: O(*n* log *n*).
  mutating func removeAll() -> [RunningRequest] {
    requests.keys.sorted().compactMap { remove($0) }
  }
}
