// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

/// What a session remembers of a frontend with a name, across its connections.
final class NamedFrontend {
  let name: String
  /// The last sequence that was accepted; 0 before the first.
  private(set) var lastSequence = 0
  /// Accepted inputs whose effects have not ended, by their sequence.
  private var open: [Int: (storeEntry: StoreEntry, inputID: InputID)] = [:]
  /// Inputs that were refused for good, the newest last: their responses may be lost, and inputs after
  /// them accepted.
  private var refusals: [(sequence: Int, error: RPCError)] = []
  /// Inputs that were accepted, and refused by one of their effects; the newest last.
  private var lateRefusals: [(sequence: Int, refusal: InputRefusal)] = []
  private static let maximumRefusals = 128

  init(name: String, lastSequence: Int = 0) {
    self.name = name
    self.lastSequence = lastSequence
  }

  /// False while it is what a new one would be.
  var isWorthRemembering: Bool { lastSequence > 0 || !refusals.isEmpty }

  /// Whether an input of this sequence has been accepted.
  func hasAccepted(_ sequence: Int) -> Bool { sequence <= lastSequence }

  /// An input has been accepted.
  func accepted(_ sequence: Int, _ receipt: SendResult, _ storeEntry: StoreEntry) {
    lastSequence = sequence
    if !refusals.isEmpty { refusals.removeAll { $0.sequence == sequence } }
    if !receipt.isSettled { runs(sequence, storeEntry, receipt.inputID) }
  }

  /// Remembers that an input was refused, and would be again.
  func refused(_ sequence: Int, _ error: RPCError) {
    guard !hasAccepted(sequence) else { return }
    refusals.removeAll { $0.sequence == sequence }
    if refusals.count == Self.maximumRefusals { refusals.removeFirst() }
    refusals.append((sequence, error))
  }

  /// Returns the error with which the input of a sequence was refused; nil if it was accepted.
  func refusal(of sequence: Int) -> RPCError? {
    refusals.last { $0.sequence == sequence }?.error
  }

  /// Returns why an effect has refused the input of a sequence after it was accepted; nil if none has.
  func lateRefusal(of sequence: Int) -> InputRefusal? {
    lateRefusals.last { $0.sequence == sequence }?.refusal
  }

  private func refusedLate(_ sequence: Int, _ refusal: InputRefusal) {
    if lateRefusals.count == Self.maximumRefusals { lateRefusals.removeFirst() }
    lateRefusals.append((sequence, refusal))
  }

  /// An input that has been accepted has effects that have not ended.
  func runs(_ sequence: Int, _ storeEntry: StoreEntry, _ inputID: InputID) {
    open[sequence] = (storeEntry, inputID)
    storeEntry.whenSettled(inputID) { [weak self] settlement in
      self?.open[sequence] = nil
      if let refusal = settlement.refusal { self?.refusedLate(sequence, refusal) }
    }
  }

  /// The inputs whose effects have not ended.
  var running: [(sequence: Int, storeEntry: StoreEntry, inputID: InputID)] {
    open.map { ($0.key, $0.value.storeEntry, $0.value.inputID) }
  }

  /// The input that was accepted with a sequence; nil once all its effects have ended.
  func running(_ sequence: Int, _ storeEntry: StoreEntry) -> InputID? {
    open[sequence].flatMap { $0.storeEntry === storeEntry ? $0.inputID : nil }
  }
}
