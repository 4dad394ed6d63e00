// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notices the death of the process that started this one.
///
/// End of input usually tells, but not where another process holds the other end of the pipe open.
enum ParentWatch {
  /// Calls `gone` once when the parent has changed; on the loop's thread only.
  static func begin(on loop: PollLoop, _ gone: @escaping () -> Void) {
    let parent = getppid()
    if parent != 1 { look(loop, parent, gone) }
  }

  private static func look(_ loop: PollLoop, _ parent: pid_t, _ gone: @escaping () -> Void) {
    loop.schedule(after: .seconds(1)) {
      if getppid() == parent { look(loop, parent, gone) } else { gone() }
    }
  }
}
