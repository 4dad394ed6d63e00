// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

/// Something that the output of a connection does when a turn is over.
enum OutputAction {
  case write([UInt8])
  case broadcast(BroadcastBuffer, from: Int)
  /// Bytes that were left unread are wanted again.
  case read
  /// Others are heard before the client's next message.
  case hearOthers
  /// What the client has asked for gets a limited time.
  case expireLater
  /// Ends the output once everything written has been sent.
  case endOutput
  /// Closes when the client ends its direction, or after a short time.
  case awaitInputEnd
  /// Closes now, with what has not been sent.
  case close
}

extension Connection: DeliveryTarget {
  /// Adds an action, after all that the turn has given to the output.
  func act(_ action: OutputAction) {
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
    if readyBytes == out.count {
      actions.append(.write(out.bytes()))
      out.removeAll(keepingCapacity: false)
    } else {
      var rest = JSONWriter()
      out.withBytes {
        actions.append(.write(Array($0[..<readyBytes])))
        rest.raw(UnsafeRawBufferPointer(rebasing: $0[readyBytes...]))
      }
      out = rest
    }
    readyBytes = 0
    awaitDelivery()
  }

  private func awaitDelivery() {
    guard !isDeliveryAwaited else { return }
    isDeliveryAwaited = true
    turnEnd.add(delivery: self)
  }

  public func deliver() {
    isDeliveryAwaited = false
    if !actions.isEmpty { performActions() }
    if readyBytes < out.count, readyBytes > 0 {
      // The rest waits behind what is in the outbox.
      handOut()
      performActions()
    } else if readyBytes > 0 {
      readyBytes = 0
      // The buffer is not kept: thousands of clients that send nothing are to cost little each.
      usualBytes = UInt16(min(out.count, Self.maximumUsualBytes))
      out.withBytes { output.write($0) }
      out.removeAll(keepingCapacity: false)
    }
    guard !life.isOver else { return }
    let wasCongested = isCongested
    updateCongestion()
    if isCongested {
      // What comes until the client has read is coalesced.
      endFollowing()
    } else if wasCongested || outbox.isReady, !isYielding, testing == nil {
      // A client that reads as fast as the server writes gets the next piece after others have been heard.
      isYielding = true
      output.hearOthers()
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
      case .hearOthers: output.hearOthers()
      case .expireLater: output.expireLater()
      case .endOutput: output.endOutput()
      case .awaitInputEnd: output.awaitInputEnd()
      case .close: output.close()
      }
    }
  }
}
