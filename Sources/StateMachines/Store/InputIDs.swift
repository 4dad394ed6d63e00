// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The inputs whose effects still run, and the callbacks that wait for their end.
///
/// An input that has only immediate effects never gets an entry here.
///
/// Not copyable, so that it is read in place without copies; see `Running`.
struct InputIDs: ~Copyable {
  /// An input whose effects run. An object, because each access to an element of a deque copies it.
  private final class Open {
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

    init(_ inputID: InputID) { self.inputID = inputID }
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
  func isSettled(_ inputID: InputID) -> Bool { open.isEmpty || find(inputID) == nil }

  /// Records that an effect of the input has begun.
  mutating func began(_ inputID: InputID, isExchange: Bool = false) {
    let input = find(inputID) ?? add(inputID)
    input.running += 1
    guard isExchange else { return }
    input.exchanges += 1
    hasExchanges = true
    if !input.isReplied, input.replyWaiters == nil { input.replyWaiters = [] }
  }

  /// True if no exchange delays the response to the input.
  @inline(__always)
  func isReplied(_ inputID: InputID) -> Bool {
    open.isEmpty || find(inputID)?.replyWaiters == nil
  }

  /// True if an effect of the input runs besides the exchange whose reply is handled.
  func hasOtherEffect(_ inputID: InputID) -> Bool {
    find(inputID).map { $0.running > 1 } ?? false
  }

  /// The view of the sender of an input; nil for the view of everyone.
  func view(of inputID: InputID) -> (any SenderView)? { find(inputID)?.view }

  /// Sets the view of the sender of an input that has not settled.
  func setView(_ view: any SenderView, of inputID: InputID) { find(inputID)?.view = view }

  /// True if a response follows for which the changes by replies and later actions count.
  func isResponseDue(_ inputID: InputID) -> Bool {
    hasExchanges && find(inputID)?.isResponseDue ?? false
  }

  /// Records the state before an action of an input that has changed the view state.
  mutating func changed(_ inputID: InputID, from base: StateMark) {
    guard let input = find(inputID), input.base == nil else { return }
    keep(base, of: input)
  }

  /// Keeps the state before a change by an input.
  private mutating func keep(_ base: StateMark?, of input: Open) {
    if (base == nil) != (input.base == nil) { keptStates += base == nil ? -1 : 1 }
    input.base = base
  }

  /// True while an exchange of the input has not ended.
  func hasExchange(_ inputID: InputID) -> Bool {
    find(inputID).map { $0.exchanges > 0 } ?? false
  }

  /// Adds a callback that is called at the end of the exchanges of an input.
  func waitForReply(to inputID: InputID, _ waiter: @escaping (Completion) -> Void) {
    find(inputID)?.replyWaiters?.append(waiter)
  }

  /// Records that an exchange of the input has ended.
  ///
  /// - Parameter base: The state before its reply, if that has changed the view state.
  /// - Returns: If it was the last one before the response, the callbacks that wait, and the way in
  ///   which the exchanges ended; else nil.
  mutating func exchangeEnded(
    _ inputID: InputID, changing base: StateMark?
  ) -> Replies? {
    guard let input = find(inputID) else { return nil }
    input.exchanges -= 1
    let base = input.base ?? base
    let waiters = input.exchanges == 0 ? input.replyWaiters : nil
    if waiters != nil { (input.replyWaiters, input.isReplied) = (nil, true) }
    keep(input.isResponseDue ? base : nil, of: input)
    guard let waiters else { return nil }
    return Replies(waiters: waiters, end: input.end, base: base)
  }

  /// Records that an effect of the input has ended.
  ///
  /// - Returns: If it was the last one, the callbacks that wait and the way in which the input
  ///   ended; else nil.
  mutating func ended(
    _ inputID: InputID
  ) -> (waiters: [(Completion) -> Void], end: Completion.End, base: StateMark?)? {
    guard let input = find(inputID) else { return nil }
    input.running -= 1
    guard input.running == 0 else { return nil }
    let base = input.base
    keep(nil, of: input)
    if open.first === input {
      open.removeFirst()
    } else if open.last === input {
      open.removeLast()
    } else {
      open.remove(at: place(of: inputID))
    }
    return (input.waiters, input.end, base)
  }

  /// Records that a request gets its response when the effects of the input have ended.
  func respondsAtEnd(of inputID: InputID) { find(inputID)?.respondsAtEnd = true }

  /// Records that an effect refuses its input.
  ///
  /// - Returns: True if a request waits for the input, so that its response is the refusal.
  func refuse(_ inputID: InputID, _ refusal: InputRefusal) -> Bool {
    guard let input = find(inputID) else { return false }
    input.end = .refused(refusal)
    return input.respondsAtEnd
  }

  /// Adds a callback that is called at the end of an input that is not settled.
  func wait(for inputID: InputID, _ waiter: @escaping (Completion) -> Void) {
    find(inputID)?.waiters.append(waiter)
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

  /// Adds an input that is not in the table.
  private mutating func add(_ inputID: InputID) -> Open {
    let input = Open(inputID)
    // Usually it is the newest input. An insertion costs more.
    if let last = open.last, last.inputID.rawValue > inputID.rawValue {
      open.insert(input, at: place(of: inputID))
    } else {
      open.append(input)
    }
    return input
  }

  /// The first place whose input is not earlier than `inputID`.
  private func place(of inputID: InputID) -> Int {
    open.partitioningIndex { $0.inputID.rawValue >= inputID.rawValue }
  }

  /// Returns an input whose effects run; nil if they have ended.
  private func find(_ inputID: InputID) -> Open? {
    // Usually it is the oldest input or the newest one.
    guard let first = open.first, let last = open.last else { return nil }
    if first.inputID == inputID { return first }
    if last.inputID == inputID { return last }
    let place = place(of: inputID)
    return place < open.count && open[place].inputID == inputID ? open[place] : nil
  }
}
