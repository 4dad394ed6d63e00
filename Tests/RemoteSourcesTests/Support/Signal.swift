// SPDX-License-Identifier: Apache-2.0

/// Something that one side of a test waits for and the other makes happen, any number of times.
struct Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream<Void>.makeStream() }

  func fire() { continuation.yield() }

  /// Waits for one `fire`, past or to come.
  func wait() async {
    for await _ in stream { return }
  }
}
