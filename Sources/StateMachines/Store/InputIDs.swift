// SPDX-License-Identifier: Apache-2.0

/// Which inputs still have effects running, and who waits for their end.
///
/// An input with nothing but immediate effects never gets an entry here.
///
/// Not copyable, so that it is looked into where it is; see `Running`.
struct Tickets: ~Copyable {
  private struct Open {
    let ticket: Ticket
    var running = 0
    var waiters: [(Settlement) -> Void] = []
    /// Whether a request gets its response when the effects have ended.
    var isAnswered = false
    var end = Settlement.End.settled
  }

  private(set) var last: UInt64
  /// By their tickets.
  private var open: [Open] = []

  /// - Parameter last: The last ticket of whoever had the store's name before.
  init(after last: UInt64) { self.last = last }

  mutating func issue() -> Ticket {
    last += 1
    return Ticket(rawValue: last)
  }

  func isSettled(_ ticket: Ticket) -> Bool { index(of: ticket) == nil }

  /// An effect of the input has begun.
  mutating func began(_ ticket: Ticket) {
    let index = place(of: ticket)
    if index == open.count || open[index].ticket != ticket {
      open.insert(Open(ticket: ticket), at: index)
    }
    open[index].running += 1
  }

  /// An effect of the input has ended.
  /// - Returns: The waiters, if it was the last one, and how the input has ended.
  mutating func ended(
    _ ticket: Ticket
  ) -> (waiters: [(Settlement) -> Void], end: Settlement.End)? {
    guard let index = index(of: ticket) else { return nil }
    open[index].running -= 1
    guard open[index].running == 0 else { return nil }
    let ended = open.remove(at: index)
    return (ended.waiters, ended.end)
  }

  /// A request gets its response when the effects of the input have ended.
  mutating func answersEnd(of ticket: Ticket) {
    if let index = index(of: ticket) { open[index].isAnswered = true }
  }

  /// An effect refuses its input.
  /// - Returns: Whether a request is told.
  mutating func refuse(_ ticket: Ticket, _ refusal: InputRefusal) -> Bool {
    guard let index = index(of: ticket) else { return false }
    open[index].end = .refused(refusal)
    return open[index].isAnswered
  }

  /// Somebody waits for the end of an input that is not settled.
  mutating func wait(for ticket: Ticket, _ waiter: @escaping (Settlement) -> Void) {
    if let index = index(of: ticket) { open[index].waiters.append(waiter) }
  }

  /// Forgets all inputs.
  /// - Returns: Each that was not settled, and who waited for it.
  mutating func closeAll() -> [(ticket: Ticket, waiters: [(Settlement) -> Void])] {
    defer { open.removeAll() }
    return open.map { ($0.ticket, $0.waiters) }
  }

  private func place(of ticket: Ticket) -> Int {
    open.firstIndex(atLeast: ticket.rawValue, by: \.ticket.rawValue)
  }

  private func index(of ticket: Ticket) -> Int? {
    let index = place(of: ticket)
    return index < open.count && open[index].ticket == ticket ? index : nil
  }
}
