// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The progress of a copy: the inputs that it receives again, each at its time on the virtual clock.
struct RunningCopy {
  // Weak, because the operator may end the session.
  private weak var session: Session?
  private let store: String
  private let inputs: [StoreCopy.Input]
  /// The time on the virtual clock since the beginning, up to which inputs have been sent.
  private var time = Duration.zero
  private var sent = 0
  private var refused = 0

  init(_ session: Session, _ copy: StoreCopy, sendsInputs: Bool) {
    (self.session, store) = (session, copy.store)
    inputs = sendsInputs ? copy.inputs : []
  }

  /// The time between the last input and the next one; nil if there is none.
  var wait: Duration? {
    guard sent < inputs.count, session?.isEnded == false else { return nil }
    return max(.zero, inputs[sent].time - time)
  }

  /// Sends the next input.
  mutating func send(_ shard: isolated Shard) {
    guard let session, !session.isEnded else { return }
    let input = inputs[sent]
    sent += 1
    time = max(time, input.time)
    do throws(SessionError) {
      _ = try session.send(input.text, to: store, as: input.viewer, shard)
    } catch {
      refused += 1
    }
  }

  func progress(isBusy: Bool) -> CopyProgress {
    CopyProgress(total: inputs.count, sent: sent, refused: refused, isBusy: isBusy)
  }
}

extension Shard {
  /// Advances the clock to the next input of the copy, sends it when the store is idle, and continues
  /// with the one after it.
  func continueCopy() {
    guard let wait = copy?.wait, let testing else { return }
    testing.advance(by: wait) { [weak self] in
      self?.assumeIsolated { shard in
        // Moved out, because the input may read the property.
        var copy = shard.copy
        copy?.send(shard)
        shard.copy = copy
        shard.continueCopy()
      }
    }
  }
}
