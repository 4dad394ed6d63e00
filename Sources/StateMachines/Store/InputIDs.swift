// SPDX-License-Identifier: Apache-2.0

/// Which inputs still have effects running, and who waits for their end.
///
/// An input with nothing but immediate effects never gets an entry here.
///
/// Not copyable, so that it is looked into where it is; see `Running`.
struct InputIDs: ~Copyable {
  private struct Open {
    let inputID: InputID
    var running = 0
    var waiters: [(Completion) -> Void] = []
    /// Whether a request gets its response when the effects have ended.
    var isAnswered = false
    var end = Completion.End.settled
  }

  private(set) var last: UInt64
  /// By their input ids.
  private var open: [Open] = []

  /// - Parameter last: The last input id of the store that had the name before.
  init(after last: UInt64) { self.last = last }

  mutating func issue() -> InputID {
    last += 1
    return InputID(rawValue: last)
  }

  func isSettled(_ inputID: InputID) -> Bool { index(of: inputID) == nil }

  /// An effect of the input has begun.
  mutating func began(_ inputID: InputID) {
    let index = place(of: inputID)
    if index == open.count || open[index].inputID != inputID {
      open.insert(Open(inputID: inputID), at: index)
    }
    open[index].running += 1
  }

  /// An effect of the input has ended.
  /// - Returns: The waiters, if it was the last one, and how the input has ended.
  mutating func ended(
    _ inputID: InputID
  ) -> (waiters: [(Completion) -> Void], end: Completion.End)? {
    guard let index = index(of: inputID) else { return nil }
    open[index].running -= 1
    guard open[index].running == 0 else { return nil }
    let ended = open.remove(at: index)
    return (ended.waiters, ended.end)
  }

  /// A request gets its response when the effects of the input have ended.
  mutating func answersEnd(of inputID: InputID) {
    if let index = index(of: inputID) { open[index].isAnswered = true }
  }

  /// An effect refuses its input.
  /// - Returns: True if a request gets a response.
  mutating func refuse(_ inputID: InputID, _ refusal: InputRefusal) -> Bool {
    guard let index = index(of: inputID) else { return false }
    open[index].end = .refused(refusal)
    return open[index].isAnswered
  }

  /// Adds a body that is called at the end of an input that is not settled.
  mutating func wait(for inputID: InputID, _ waiter: @escaping (Completion) -> Void) {
    if let index = index(of: inputID) { open[index].waiters.append(waiter) }
  }

  /// Forgets all inputs.
  /// - Returns: Each that was not settled, and who waited for it.
  mutating func closeAll() -> [(inputID: InputID, waiters: [(Completion) -> Void])] {
    defer { open.removeAll() }
    return open.map { ($0.inputID, $0.waiters) }
  }

  private func place(of inputID: InputID) -> Int {
    open.firstIndex(atLeast: inputID.rawValue, by: \.inputID.rawValue)
  }

  private func index(of inputID: InputID) -> Int? {
    let index = place(of: inputID)
    return index < open.count && open[index].inputID == inputID ? index : nil
  }
}
