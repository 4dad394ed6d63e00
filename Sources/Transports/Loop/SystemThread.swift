// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Threads for blocking calls, which must not run on threads that run tasks.
package enum SystemThread {
  private final class Body {
    let call: @Sendable () -> Void
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }
  }

  /// Starts a detached thread.
  ///
  /// - Throws: `StartupError` if the system cannot start a thread; `body` is not called then.
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
      throw StartupError(
        "cannot start a thread: \(systemMessage(result)); raise the limits (ulimit -u, -v, -d)")
    }
    pthread_detach(thread)
  }
}
