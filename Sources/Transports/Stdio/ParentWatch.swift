// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notices the death of the process that started this one.
///
/// End of input usually tells, but not where another process holds the other end of the pipe open.
struct ParentWatch {
  private let parent = getppid()

  /// Whether the parent has changed; never, where nobody's was the one to begin with.
  var isGone: Bool { parent != 1 && getppid() != parent }
}
