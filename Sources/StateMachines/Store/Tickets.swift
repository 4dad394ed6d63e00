// SPDX-License-Identifier: Apache-2.0

/// Which inputs still have effects running, and who waits for their end.
///
/// An input with nothing but immediate effects never gets an entry here.
struct Tickets {
  private struct Open {
    var running = 0
    var waiters: [(Settlement) -> Void] = []
  }

  private(set) var last: UInt64
  private var open: [Ticket: Open] = [:]

  /// - Parameter last: The last ticket of whoever had the store's name before.
  init(after last: UInt64) { self.last = last }

  mutating func issue() -> Ticket {
    last += 1
    return Ticket(rawValue: last)
  }

  func isSettled(_ ticket: Ticket) -> Bool { open[ticket] == nil }

  /// An effect of the input has begun.
  mutating func began(_ ticket: Ticket) {
    open[ticket, default: Open()].running += 1
  }

  /// An effect of the input has ended.
  /// - Returns: Whom to tell, if it was the last one.
  mutating func ended(_ ticket: Ticket) -> [(Settlement) -> Void]? {
    guard let index = open.index(forKey: ticket) else { return nil }
    open.values[index].running -= 1
    guard open.values[index].running == 0 else { return nil }
    return open.remove(at: index).value.waiters
  }

  /// Somebody waits for the end of an input that is not settled.
  mutating func wait(for ticket: Ticket, _ waiter: @escaping (Settlement) -> Void) {
    open[ticket]?.waiters.append(waiter)
  }

  /// Forgets all inputs.
  /// - Returns: Each that was not settled, and who waited for it.
  mutating func closeAll() -> [(ticket: Ticket, waiters: [(Settlement) -> Void])] {
    defer { open.removeAll() }
    return open.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value.waiters) }
  }
}
