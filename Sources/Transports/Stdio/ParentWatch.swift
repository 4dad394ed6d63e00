// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Notices the end of the parent process.
///
/// Usually the end of input shows it, but not if another process holds the other end of the pipe
/// open.
struct ParentWatch {
  private let parent = getppid()

  /// True once the parent process has exited; always false if process 1 was the parent from the
  /// start.
  var isGone: Bool { parent != 1 && getppid() != parent }
}
