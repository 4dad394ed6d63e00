// SPDX-License-Identifier: Apache-2.0

// For the fuzzer, which compiles the modules with `FUZZING`. No other build has any of it.
#if FUZZING
  /// How many bytes have been written, taken back or not, and read past.
  package enum JSONWork {
    // because the fuzzer has one thread
    nonisolated(unsafe) package static var bytes = 0
  }

  /// The switch between the fast paths and the slow paths, whose results the fuzzer compares.
  package enum FastPaths {
    /// True while the plain reader, request templates and outlined states are not used.
    // because the fuzzer has one thread
    nonisolated(unsafe) package static var areOff = false
  }
#endif
