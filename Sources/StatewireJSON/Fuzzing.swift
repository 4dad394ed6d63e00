// SPDX-License-Identifier: Apache-2.0

// These counters and switches exist only in the fuzzer, which compiles the modules with `FUZZING`.
#if FUZZING
  /// The work counter of the fuzzer.
  package enum JSONWork {
    /// The number of bytes that have been written (including bytes that were then removed) and
    /// skipped.
    // because the fuzzer has one thread
    nonisolated(unsafe) package static var bytes = 0
  }

  /// A switch between the fast and the slow paths, whose results the fuzzer compares.
  package enum FastPaths {
    /// True while the plain reader, request templates and incremental comparison of states are
    /// disabled.
    // because the fuzzer has one thread
    nonisolated(unsafe) package static var areOff = false
  }
#endif
