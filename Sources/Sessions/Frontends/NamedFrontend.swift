// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// What a session remembers of a frontend with a name, across its connections.
final class NamedFrontend {
  let name: String
  /// The last sequence that was accepted; 0 before the first.
  private(set) var lastSequence = 0
  /// Accepted inputs whose effects have not ended, by their sequence.
  private var open: [Int: (slot: StoreSlot, ticket: Ticket)] = [:]

  init(name: String, lastSequence: Int = 0) {
    self.name = name
    self.lastSequence = lastSequence
  }

  /// Whether an input of this sequence has been accepted.
  func hasAccepted(_ sequence: Int) -> Bool { sequence <= lastSequence }

  /// An input has been accepted.
  func accepted(_ sequence: Int, _ receipt: Receipt, _ slot: StoreSlot) {
    lastSequence = sequence
    if !receipt.isSettled { runs(sequence, slot, receipt.ticket) }
  }

  /// An input that has been accepted has effects that have not ended.
  func runs(_ sequence: Int, _ slot: StoreSlot, _ ticket: Ticket) {
    open[sequence] = (slot, ticket)
    slot.whenSettled(ticket) { [weak self] _ in self?.open[sequence] = nil }
  }

  /// The inputs whose effects have not ended.
  var running: [(sequence: Int, slot: StoreSlot, ticket: Ticket)] {
    open.map { ($0.key, $0.value.slot, $0.value.ticket) }
  }

  /// The input that was accepted with a sequence; nil once all its effects have ended.
  func running(_ sequence: Int, _ slot: StoreSlot) -> Ticket? {
    open[sequence].flatMap { $0.slot === slot ? $0.ticket : nil }
  }
}
