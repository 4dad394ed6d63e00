// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The inputs whose effects still run, and the callbacks that wait for their end.
///
/// An input that has only immediate effects never gets an entry here.
///
/// Not copyable, so that it is read in place without copies; see `Running`.
struct InputIDs: ~Copyable {
  private struct Open {
    let inputID: InputID
    var running = 0
    var waiters: [(Completion) -> Void] = []
    /// True if a request gets its response when the effects have ended.
    var respondsAtEnd = false
    var end = Completion.End.settled
    /// The number of exchanges that have not ended.
    var exchanges = 0
    /// The state before the first change of the view state by replies and later actions; nil if there
    /// is none, and after the response.
    var base: StateMark?
    /// The view of the sender; nil for the view of everyone.
    var view: (any SenderView)?
    /// The callbacks that wait for the end of the exchanges; nil if there are none.
    var replyWaiters: [(Completion) -> Void]?
    /// True if the exchanges have ended once: later ones do not delay the response.
    var isReplied = false
    /// True if a response follows for which the changes by replies and later actions count.
    var isResponseDue: Bool { replyWaiters != nil || isReplied && respondsAtEnd }
  }

  /// The end of the exchanges of an input.
  struct Replies {
    /// The callbacks that wait for it.
    let waiters: [(Completion) -> Void]
    let end: Completion.End
    /// The state before the first reply that has changed the view state; nil if none has.
    let base: StateMark?
  }

  private(set) var last: UInt64
  /// The number of open inputs for which an earlier state is kept.
  private(set) var keptStates = 0
  /// True if an exchange has begun. Most stores have none.
  private var hasExchanges = false
  /// The entries, sorted by input id. Usually the first one ends first.
  private var open: Deque<Open> = []

  /// Creates an empty table.
  ///
  /// - Parameter last: The last input id of the previous store with the same name.
  init(after last: UInt64) { self.last = last }

  mutating func issue() -> InputID {
    last += 1
    return InputID(rawValue: last)
  }

  // Most stores have no open input, which is all that their inputs check.
  @inline(__always)
  func isSettled(_ inputID: InputID) -> Bool { open.isEmpty || index(of: inputID) == nil }

  /// Records that an effect of the input has begun.
  mutating func began(_ inputID: InputID, isExchange: Bool = false) {
    let index = place(of: inputID)
    if index == open.count {
      // Usually it is the newest input. An insertion costs more.
      open.append(Open(inputID: inputID))
    } else if open[index].inputID != inputID {
      open.insert(Open(inputID: inputID), at: index)
    }
    open[index].running += 1
    guard isExchange else { return }
    open[index].exchanges += 1
    hasExchanges = true
    if !open[index].isReplied, open[index].replyWaiters == nil { open[index].replyWaiters = [] }
  }

  /// True if no exchange delays the response to the input.
  @inline(__always)
  func isReplied(_ inputID: InputID) -> Bool {
    open.isEmpty || index(of: inputID).map { open[$0].replyWaiters == nil } ?? true
  }

  /// True if an effect of the input runs besides the exchange whose reply is handled.
  func hasOtherEffect(_ inputID: InputID) -> Bool {
    index(of: inputID).map { open[$0].running > 1 } ?? false
  }

  /// The view of the sender of an input; nil for the view of everyone.
  func view(of inputID: InputID) -> (any SenderView)? {
    index(of: inputID).flatMap { open[$0].view }
  }

  /// Sets the view of the sender of an input that has not settled.
  mutating func setView(_ view: any SenderView, of inputID: InputID) {
    if let index = index(of: inputID) { open[index].view = view }
  }

  /// True if a response follows for which the changes by replies and later actions count.
  func isResponseDue(_ inputID: InputID) -> Bool {
    hasExchanges && index(of: inputID).map { open[$0].isResponseDue } ?? false
  }

  /// Records the state before an action of an input that has changed the view state.
  mutating func changed(_ inputID: InputID, from base: StateMark) {
    guard let index = index(of: inputID), open[index].base == nil else { return }
    keep(base, at: index)
  }

  /// Keeps the state before a change by an input.
  private mutating func keep(_ base: StateMark?, at index: Int) {
    if (base == nil) != (open[index].base == nil) { keptStates += base == nil ? -1 : 1 }
    open[index].base = base
  }

  /// True while an exchange of the input has not ended.
  func hasExchange(_ inputID: InputID) -> Bool {
    index(of: inputID).map { open[$0].exchanges > 0 } ?? false
  }

  /// Adds a callback that is called at the end of the exchanges of an input.
  mutating func waitForReply(to inputID: InputID, _ waiter: @escaping (Completion) -> Void) {
    if let index = index(of: inputID) { open[index].replyWaiters?.append(waiter) }
  }

  /// Records that an exchange of the input has ended.
  ///
  /// - Parameter base: The state before its reply, if that has changed the view state.
  /// - Returns: If it was the last one before the response, the callbacks that wait, and the way in
  ///   which the exchanges ended; else nil.
  mutating func exchangeEnded(
    _ inputID: InputID, changing base: StateMark?
  ) -> Replies? {
    guard let index = index(of: inputID) else { return nil }
    open[index].exchanges -= 1
    let base = open[index].base ?? base
    let waiters = open[index].exchanges == 0 ? open[index].replyWaiters : nil
    if waiters != nil { (open[index].replyWaiters, open[index].isReplied) = (nil, true) }
    keep(open[index].isResponseDue ? base : nil, at: index)
    guard let waiters else { return nil }
    return Replies(waiters: waiters, end: open[index].end, base: base)
  }

  /// Records that an effect of the input has ended.
  ///
  /// - Returns: If it was the last one, the callbacks that wait and the way in which the input
  ///   ended; else nil.
  mutating func ended(
    _ inputID: InputID
  ) -> (waiters: [(Completion) -> Void], end: Completion.End, base: StateMark?)? {
    guard let index = index(of: inputID) else { return nil }
    open[index].running -= 1
    guard open[index].running == 0 else { return nil }
    let base = open[index].base
    keep(nil, at: index)
    let ended =
      index == 0
      ? open.removeFirst() : index == open.count - 1 ? open.removeLast() : open.remove(at: index)
    return (ended.waiters, ended.end, base)
  }

  /// Records that a request gets its response when the effects of the input have ended.
  mutating func respondsAtEnd(of inputID: InputID) {
    if let index = index(of: inputID) { open[index].respondsAtEnd = true }
  }

  /// Records that an effect refuses its input.
  ///
  /// - Returns: True if a request waits for the input, so that its response is the refusal.
  mutating func refuse(_ inputID: InputID, _ refusal: InputRefusal) -> Bool {
    guard let index = index(of: inputID) else { return false }
    open[index].end = .refused(refusal)
    return open[index].respondsAtEnd
  }

  /// Adds a callback that is called at the end of an input that is not settled.
  mutating func wait(for inputID: InputID, _ waiter: @escaping (Completion) -> Void) {
    if let index = index(of: inputID) { open[index].waiters.append(waiter) }
  }

  /// Removes all inputs.
  ///
  /// - Returns: Each input that was not settled, with its callbacks.
  mutating func closeAll() -> [(inputID: InputID, waiters: [(Completion) -> Void])] {
    defer {
      open.removeAll()
      keptStates = 0
    }
    return open.map { ($0.inputID, ($0.replyWaiters ?? []) + $0.waiters) }
  }

  private func place(of inputID: InputID) -> Int {
    open.partitioningIndex { $0.inputID.rawValue >= inputID.rawValue }
  }

  private func index(of inputID: InputID) -> Int? {
    // Usually it is the oldest input or the newest one.
    if open.isEmpty { return nil }
    if open[0].inputID == inputID { return 0 }
    if open[open.count - 1].inputID == inputID { return open.count - 1 }
    let index = place(of: inputID)
    return index < open.count && open[index].inputID == inputID ? index : nil
  }
}
