// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

extension ClientWriter: DeliveryTarget {
  /// Adds an action, after all that the turn has given to the output.
  public func act(_ action: OutputAction) {
    handOut()
    actions.append(action)
    awaitDelivery()
  }

  /// Gives everything in `out` to the output when the turn is over.
  func handOver() {
    readyBytes = out.count
    awaitDelivery()
    // A turn that has written so much ends early, and under test what goes out is whole with each message.
    if readyBytes > Self.flushBytes || testing != nil { handOut() }
    if handedBytes > Self.flushBytes, testing == nil { isCongested = true }
  }

  /// Makes an action of the bytes in `out` that are ready.
  func handOut() {
    guard readyBytes > 0 else { return }
    handedBytes += readyBytes
    takeReady { actions.append(.write(Array($0))) }
    awaitDelivery()
  }

  /// Takes the bytes that are ready out of `out`; the rest of it waits behind what is in the outbox.
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
    guard !isDeliveryAwaited else { return }
    isDeliveryAwaited = true
    turnOutcome.add(delivery: self)
  }

  public func deliver() {
    isDeliveryAwaited = false
    if !actions.isEmpty { performActions() }
    if readyBytes > 0 {
      // The buffer is not kept: thousands of clients that send nothing are to cost little each.
      usualBytes = UInt16(min(readyBytes, Self.maximumUsualBytes))
      takeReady { output.write($0) }
    }
    guard !isClosed else { return }
    let wasCongested = isCongested
    updateCongestion()
    if isCongested {
      // What comes until the client has read is coalesced; what is behind is written in a turn.
      if !following.contains(where: \.isBehind) { endFollowing() }
    } else if wasCongested || outbox.isReady, !isYielding, testing == nil {
      // A client that reads as fast as the server writes gets the next piece after others have been heard.
      isYielding = true
      output.yieldToOthers()
    }
  }

  private func performActions() {
    let performed = actions
    actions = []
    handedBytes = 0
    for action in performed {
      switch action {
      case .write(let bytes): bytes.withUnsafeBytes { output.write($0) }
      case .broadcast(let buffer, let start): output.write(buffer, from: start)
      case .read: output.wantsBytesAgain()
      case .yieldToOthers: output.yieldToOthers()
      case .expireLater: output.expireLater()
      case .endOutput: output.endOutput()
      case .awaitInputEnd: output.awaitInputEnd()
      case .close: output.close()
      }
    }
  }
}
