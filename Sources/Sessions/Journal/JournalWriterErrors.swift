// SPDX-License-Identifier: Apache-2.0

/// The error of a commit that fails because an earlier entry of the session is missing.
struct IncompleteSession: Error {}

/// The error of a commit that fails because too many bytes wait for the disk.
struct SlowJournal: Error, CustomStringConvertible {
  var description: String {
    "the disk of the journal is too slow: more than 64 MiB wait for it; check the disk of --data-dir"
  }
}
