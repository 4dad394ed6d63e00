// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Notices the death of the process that started this one.
///
/// End of input usually tells, but not where another process holds the other end of the pipe open.
enum ParentWatch {
  /// Calls `gone` once when the parent has changed.
  static func begin(
    on loop: any EventLoop, until over: EventLoopFuture<Void>,
    _ gone: @escaping @Sendable () -> Void
  ) {
    let parent = getppid()
    guard parent != 1 else { return }
    let check = loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { task in
      guard getppid() != parent else { return }
      task.cancel()
      gone()
    }
    over.whenComplete { _ in check.cancel() }
  }
}
