// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Threads for what blocks, which nothing that runs tasks may do.
package enum SystemThread {
  private final class Body {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }

  /// Starts a thread that nobody waits for.
  ///
  /// - Throws: `StartupError`; the body is not called then.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(StartupError) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Body(body)).toOpaque()
    let result = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().call()
        return nil
      }, context)
    guard result == 0 else {
      Unmanaged<Body>.fromOpaque(context).release()
      throw StartupError("no thread could be made: \(systemMessage(result))")
    }
    pthread_detach(thread)
  }
}
