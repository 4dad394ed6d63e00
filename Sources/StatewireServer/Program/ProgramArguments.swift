// SPDX-License-Identifier: Apache-2.0

internal import Transports

/// The words that the program was started with.
enum ProgramArguments {
  /// Returns the words after the program's name.
  ///
  /// Swift finds them by way of `environ`, and finds none where a library that is loaded first has
  /// called `setenv`; every program has at least its name. Then Linux knows them.
  ///
  /// - Source: swiftlang/swift#76080; proc_pid_cmdline(5).
  /// - Throws: `StartupError`: without arguments the program would do something else than it was asked
  ///   to.
  static func words() throws(StartupError) -> [String] {
    let words = CommandLine.arguments
    guard words.isEmpty else { return Array(words.dropFirst()) }
    do throws(WholeFile.Fault) {
      // Each ends with a zero.
      return try WholeFile("/proc/self/cmdline").bytes
        .split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { String(decoding: $0, as: UTF8.self) }
    } catch {
      throw StartupError(
        "a preloaded library hides the command line, and /proc/self/cmdline cannot be read: \(error)"
      )
    }
  }
}
