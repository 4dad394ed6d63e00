// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

extension ClientWriter: DeliveryTarget {
  /// Appends an action after everything that the turn has passed to the output.
  public func act(_ action: OutputAction) {
    passReadyBytes()
    actions.append(action)
    awaitDelivery()
  }

  /// Marks all bytes in `out` as ready for the output at the end of the turn.
  func markReady() {
    readyBytes = out.count
    awaitDelivery()
    // A turn with this much output ends early. Under test, each message is one write.
    if readyBytes > Self.flushBytes || testing != nil { passReadyBytes() }
    if actionBytes > Self.flushBytes, testing == nil { isCongested = true }
  }

  /// Converts the ready bytes in `out` to an action.
  func passReadyBytes() {
    guard readyBytes > 0 else { return }
    actionBytes += readyBytes
    takeReady { actions.append(.write(Array($0))) }
    awaitDelivery()
  }

  /// Passes the ready bytes to `body` and removes them from `out`.
  private func takeReady(_ body: (UnsafeRawBufferPointer) -> Void) {
    var rest = JSONWriter()
    out.withBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[..<readyBytes]))
      if readyBytes < bytes.count {
        rest.raw(UnsafeRawBufferPointer(rebasing: bytes[readyBytes...]))
      }
    }
    out = rest
    readyBytes = 0
  }

  private func awaitDelivery() {
    guard registrations.insert(.delivery).inserted else { return }
    turnOutcome.add(delivery: self)
  }

  /// Performs the actions and sends the ready bytes; called when the turn is over.
  public func deliver() {
    registrations.remove(.delivery)
    if !actions.isEmpty { performActions() }
    if readyBytes > 0 {
      // The buffer is released, so that each of thousands of idle clients needs little memory. After a small
      // delivery a large one may follow, so the usual size falls slowly.
      let bytes = UInt16(min(readyBytes, Self.maximumUsualBytes))
      usualBytes = max(bytes, usualBytes - usualBytes / 16)
      takeReady { output.write($0) }
    }
    guard !isClosed else { return }
    let wasCongested = isCongested
    updateCongestion()
    if isCongested {
      // Updates are coalesced until the client has read. If a broadcast buffer has unsent bytes,
      // they are written in a turn.
      if !broadcasts.contains(where: \.hasUnsentBytes) { leaveBroadcasts() }
    } else if wasCongested || outbox.isReady, !isYielding, testing == nil {
      // A client that reads as fast as the server writes gets the next piece after other clients
      // were served.
      isYielding = true
      output.yieldToOthers()
    }
  }

  private func performActions() {
    let performed = actions
    actions = []
    actionBytes = 0
    for action in performed {
      switch action {
      case .write(let bytes): bytes.withUnsafeBytes { output.write($0) }
      case .broadcast(let buffer, let start): output.write(buffer, from: start)
      case .read: output.resumeReading()
      case .yieldToOthers: output.yieldToOthers()
      case .expireLater: output.expireLater()
      case .endOutput: output.endOutput()
      case .awaitInputEnd: output.awaitInputEnd()
      case .handOver: output.handOver()
      case .close: output.close()
      }
    }
  }
}
