// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Wire

/// A request whose effects have not ended.
struct RunningRequest {
  /// The id to cancel it by; nil for a notification.
  let id: RequestID?
  let subscription: Subscription
  let inputID: InputID
  /// The address of its response; nil if the response does not wait for the effects.
  let address: ReplyAddress?
}

/// The requests of a connection whose effects have not ended.
///
/// Several may have the same id; cancelling by id cancels the latest of them.
struct RunningRequests {
  private var requests: [Int: RunningRequest] = [:]
  private var latest: [RequestID: Int] = [:]
  private var lastNumber = 0

  /// Number of responses that wait for effects, or for another party that carries out the input.
  var openResponses: Int { awaitingEffects + awaitingAnswers }
  private var awaitingEffects = 0
  /// Number of responses that wait for another party. Cancelling the request does not end them: the
  /// input is carried out.
  var awaitingAnswers = 0

  var count: Int { requests.count }

  /// Adds a request.
  ///
  /// - Returns: The number to remove the request by.
  mutating func add(_ request: RunningRequest) -> Int {
    lastNumber += 1
    requests[lastNumber] = request
    if let id = request.id { latest[id] = lastNumber }
    if request.address != nil { awaitingEffects += 1 }
    return lastNumber
  }

  /// Removes a request.
  ///
  /// - Returns: The request; nil if it was removed before.
  mutating func remove(_ number: Int) -> RunningRequest? {
    guard let request = requests.removeValue(forKey: number) else { return nil }
    if let id = request.id, latest[id] == number { latest[id] = nil }
    if request.address != nil { awaitingEffects -= 1 }
    return request
  }

  /// Removes the latest request with an id.
  ///
  /// - Returns: The request; nil if there is none with this id.
  mutating func removeLatest(_ id: RequestID) -> RunningRequest? {
    latest[id].flatMap { remove($0) }
  }

  /// Removes all requests.
  ///
  /// - Returns: The requests, in the order of arrival.
  /// - Complexity: O(*n* log *n*).
  mutating func removeAll() -> [RunningRequest] {
    requests.keys.sorted().compactMap { remove($0) }
  }
}
