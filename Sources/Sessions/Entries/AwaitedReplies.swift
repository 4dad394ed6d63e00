// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import StateMachines

/// The requests to a store whose inputs have exchanges that have not ended.
struct AwaitedReplies {
  private struct Request {
    let inputID: InputID
    /// The id of the request, as JSON text.
    let id: [UInt8]
    let subscription: Subscription
  }

  /// The requests in the order of their inputs.
  private var requests: Deque<Request> = []

  /// Adds the request of the newest input.
  mutating func add(_ inputID: InputID, _ id: UnsafeRawBufferPointer, _ subscription: Subscription)
  {
    requests.append(Request(inputID: inputID, id: Array(id), subscription: subscription))
  }

  /// Removes the request of an input.
  ///
  /// - Returns: Its id, and the subscription that has sent it; nil if there is none.
  mutating func remove(_ inputID: InputID) -> (id: [UInt8], subscription: Subscription)? {
    // Usually the first one gets its reply first, or there is none: a notification, or an input of another
    // audience.
    guard let first = requests.first, first.inputID.rawValue <= inputID.rawValue else { return nil }
    if first.inputID == inputID {
      requests.removeFirst()
      return (first.id, first.subscription)
    }
    let index = requests.partitioningIndex { $0.inputID.rawValue >= inputID.rawValue }
    guard index < requests.count, requests[index].inputID == inputID else { return nil }
    let request = requests.remove(at: index)
    return (request.id, request.subscription)
  }

  /// Removes all requests.
  mutating func removeAll() { requests.removeAll() }
}
