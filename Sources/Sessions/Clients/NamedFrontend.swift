// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

/// The data that a session keeps for a frontend's name across connections.
final class NamedFrontend {
  /// The frontend's name.
  let name: String
  /// The sequence of the last accepted input; 0 before the first.
  private(set) var lastSequence = 0
  /// The audience that the frontend belonged to when it last received a state, by the store's name,
  /// and the last revision of which it may hold the view of another audience; nil for none.
  var audiences = ByName<(audience: AnyHashable, formerRevision: Revision?)>()
  /// The accepted inputs that are not settled, by sequence.
  private var open: [Int: (storeEntry: StoreEntry, inputID: InputID)] = [:]
  /// The inputs that were refused permanently, newest last. A client that has not received the
  /// response sends the input again, possibly after later inputs were accepted.
  private var refusals: [(sequence: Int, error: RPCError)] = []
  /// The inputs that were accepted and then refused by one of their effects, newest last.
  private var lateRefusals: [(sequence: Int, refusal: InputRefusal)] = []
  /// The number of refusals that each of the two lists keeps.
  private static let maximumRefusals = 128

  init(name: String, lastSequence: Int = 0) {
    self.name = name
    self.lastSequence = lastSequence
  }

  /// True if it differs from the data of a new name.
  var isWorthRemembering: Bool { lastSequence > 0 || !refusals.isEmpty }

  /// True if the journal has all that matters: a refused input that is sent again is refused again,
  /// but not one that was accepted before an effect refused it.
  var isFullyRecorded: Bool { open.isEmpty && lateRefusals.isEmpty }

  /// Returns true if the input of a sequence, or a later one, has been accepted.
  func hasAccepted(_ sequence: Int) -> Bool { sequence <= lastSequence }

  /// Records that an input was accepted.
  func accepted(_ sequence: Int, _ sendResult: SendResult, _ storeEntry: StoreEntry) {
    lastSequence = sequence
    if !refusals.isEmpty { refusals.removeAll { $0.sequence == sequence } }
    if !sendResult.isSettled { runs(sequence, storeEntry, sendResult.inputID) }
  }

  /// Records that an input was refused permanently.
  func refused(_ sequence: Int, _ error: RPCError) {
    guard !hasAccepted(sequence) else { return }
    refusals.removeAll { $0.sequence == sequence }
    if refusals.count == Self.maximumRefusals { refusals.removeFirst() }
    refusals.append((sequence, error))
  }

  /// Returns the error with which the input of a sequence was refused permanently; nil if none is
  /// stored.
  func refusal(of sequence: Int) -> RPCError? {
    refusals.last { $0.sequence == sequence }?.error
  }

  /// Returns the reason for which an effect refused the input of a sequence after it was accepted;
  /// nil if there is none.
  func lateRefusal(of sequence: Int) -> InputRefusal? {
    lateRefusals.last { $0.sequence == sequence }?.refusal
  }

  private func refusedLate(_ sequence: Int, _ refusal: InputRefusal) {
    if lateRefusals.count == Self.maximumRefusals { lateRefusals.removeFirst() }
    lateRefusals.append((sequence, refusal))
  }

  /// Records that an accepted input is not settled.
  func runs(_ sequence: Int, _ storeEntry: StoreEntry, _ inputID: InputID) {
    open[sequence] = (storeEntry, inputID)
    storeEntry.whenSettled(inputID) { [weak self] completion in
      self?.open[sequence] = nil
      if let refusal = completion.refusal { self?.refusedLate(sequence, refusal) }
    }
  }

  /// The accepted inputs that are not settled.
  var running: [(sequence: Int, storeEntry: StoreEntry, inputID: InputID)] {
    open.map { ($0.key, $0.value.storeEntry, $0.value.inputID) }
  }

  /// Returns the input that was accepted with a sequence; nil if it is settled.
  func running(_ sequence: Int, _ storeEntry: StoreEntry) -> InputID? {
    open[sequence].flatMap { $0.storeEntry === storeEntry ? $0.inputID : nil }
  }
}
