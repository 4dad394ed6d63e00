// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// The channels of the clients of a relay, which do not outlive it.
final class OpenChannels: Sendable {
  private struct State {
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Adds a channel until it is closed.
  func add(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    let isClosed = state.withLock { state in
      state.channels[id] = channel
      return state.isClosed
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { $0.channels[id] = nil }
    }
    if isClosed { channel.close(promise: nil) }
  }

  /// Closes the channels, also those that are added later.
  func close() {
    let channels = state.withLock { state in
      state.isClosed = true
      return Array(state.channels.values)
    }
    for channel in channels { channel.close(promise: nil) }
  }
}
