// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import Wire

/// A request whose effects have not ended.
///
/// A class, because the callbacks at its ends hold it. The data for the response is released when
/// the request is removed: the effects may continue for long after the client has gone.
final class RunningRequest {
  /// The connection until the removal. Not weak: each weak reference would make all counting of references
  /// to the connection slower.
  fileprivate(set) var connection: Connection?
  /// The id to cancel it by; nil for a notification, and after the removal.
  fileprivate var id: RequestID?
  let subscription: Subscription
  let inputID: InputID
  /// The address of its response; nil if it has been sent, and after the removal.
  fileprivate var address: ReplyAddress?
  /// The end that its response waits for.
  let end: End
  /// The number of the request in the order of arrival.
  fileprivate var number = 0
  /// The place in the list of requests; nil if it is in none.
  fileprivate var place: Int?

  enum End {
    /// The other party has carried out the input. Cancelling the request does not end the wait, because
    /// it does not end the exchange.
    case reply
    /// All effects have ended.
    case effects
  }

  init(
    of connection: Connection, id: RequestID?, subscription: Subscription, inputID: InputID,
    address: ReplyAddress?, end: End
  ) {
    self.connection = connection
    (self.id, self.subscription, self.inputID) = (id, subscription, inputID)
    (self.address, self.end) = (address, end)
  }
}

/// The requests of a connection whose effects have not ended.
///
/// Several may have the same id; cancelling by id cancels the latest of them.
struct RunningRequests {
  /// The requests, in any order.
  private var requests: [RunningRequest] = []
  private var latest: [RequestID: RunningRequest] = [:]
  private var lastNumber = 0

  /// Number of responses that wait for a reply or for effects.
  private(set) var openResponses = 0

  var count: Int { requests.count }

  /// Adds a request.
  mutating func add(_ request: RunningRequest) {
    lastNumber += 1
    (request.number, request.place) = (lastNumber, requests.count)
    requests.append(request)
    if let id = request.id { latest[id] = request }
    if request.address != nil { openResponses += 1 }
  }

  /// Removes a request.
  ///
  /// - Returns: The address of its response; nil if it has been sent, or if the request was removed before.
  @discardableResult
  mutating func remove(_ request: RunningRequest) -> ReplyAddress? {
    guard let place = request.place else { return nil }
    (request.place, request.connection) = (nil, nil)
    let last = requests.removeLast()
    if last !== request {
      requests[place] = last
      last.place = place
    }
    if let id = request.id, let index = latest.index(forKey: id),
      latest.values[index] === request
    {
      latest.remove(at: index)
    }
    request.id = nil
    return takeAddress(of: request)
  }

  /// Takes the address of a response that is sent now, while the effects continue.
  ///
  /// - Returns: The address; nil if the response was sent, or the request was removed.
  mutating func takeAddress(of request: RunningRequest) -> ReplyAddress? {
    guard let address = request.address else { return nil }
    request.address = nil
    openResponses -= 1
    return address
  }

  /// Removes the latest request with an id. One whose input another party carries out stays, and counts,
  /// because the party does so nevertheless; a response that waits for this reply is not sent now.
  ///
  /// - Returns: The request, and the address of its response that is sent now; nil if there is none with
  ///   this id.
  mutating func cancelLatest(_ id: RequestID) -> (request: RunningRequest, address: ReplyAddress?)?
  {
    guard let request = latest[id] else { return nil }
    if !request.subscription.hasExchange(request.inputID) { return (request, remove(request)) }
    return (request, request.end == .reply ? nil : takeAddress(of: request))
  }

  /// Removes all requests.
  ///
  /// - Returns: The requests with the addresses of their responses, in the order of arrival.
  /// - Complexity: O(*n* log *n*).
  mutating func removeAll() -> [(request: RunningRequest, address: ReplyAddress?)] {
    let removed = requests.sorted { $0.number < $1.number }
    return removed.map { ($0, remove($0)) }
  }
}
