// SPDX-License-Identifier: Apache-2.0

internal import Transports

/// The arguments of the program.
enum ProgramArguments {
  /// Returns the arguments after the program's name.
  ///
  /// Swift finds the arguments through `environ`. If a preloaded library has called `setenv`, Swift
  /// finds none, not even the program's name. Then they are read from `/proc/self/cmdline`.
  ///
  /// - Source: swiftlang/swift#76080; proc_pid_cmdline(5).
  /// - Throws: `StartupError` if they cannot be read: without arguments the program would do the
  ///   wrong thing.
  static func words() throws(StartupError) -> [String] {
    let words = CommandLine.arguments
    guard words.isEmpty else { return Array(words.dropFirst()) }
    do throws(WholeFile.Fault) {
      // Each argument ends with a zero byte.
      return try WholeFile("/proc/self/cmdline").bytes
        .split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { String(decoding: $0, as: UTF8.self) }
    } catch {
      throw StartupError(
        "a preloaded library hides the command line, and /proc/self/cmdline is unreadable: \(error)"
      )
    }
  }
}
