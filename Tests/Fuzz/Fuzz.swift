// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

// The inputs of libFuzzer: bytes of a client, for each path into the program.
//
// The first byte of an input selects the meaning of the others, so that one corpus serves all
// paths:
//
//   j  a text that may be JSON
//   p  a document, and in the next line a patch
//   d  two documents, one per line
//   l  changes of a list, described by bytes; see `Lists`
//   g  two successive states, described by bytes; see `States`
//   w  the input of a connection; see `Wire`
//   s  the input of a WebSocket
//
// No input may cause a trap, endless work or a leak, and the outputs must be correct: each file
// states its expectations. The same bytes always take the same path, so a finding is a file that
// can be run again.
//
// Each fast path is compared with its slow path: the plain reader with the strict one (`Texts`),
// request templates with the parsing of whole messages (`Wire`), diffable lists with encoded states
// (`Lists`).

/// Runs one input, for libFuzzer; -1 keeps the input out of the corpus.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = UnsafeBufferPointer(start: start, count: count)
  let rest = Array(input.dropFirst())
  switch input.first {
  case UInt8(ascii: "j"): Texts.run(rest)
  case UInt8(ascii: "p"): Patches.apply(rest)
  case UInt8(ascii: "d"): Patches.compare(rest)
  case UInt8(ascii: "l"): Lists.run(rest)
  case UInt8(ascii: "g"): Patches.compareStates(rest)
  case UInt8(ascii: "w"): Wire.run(rest)
  case UInt8(ascii: "s"): WebSockets.run(rest)
  default: return -1
  }
  return 0
}

/// Ends the program with a finding unless the condition is true.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
  // libFuzzer reports a trap as a finding.
  if !isTrue { fatalError(what()) }
}

/// Runs the body with the fast paths and without them, and compares the results.
///
/// - Returns: The result, which is the same.
func bothWays<Outcome: Equatable>(_ what: String, _ body: () -> Outcome) -> Outcome {
  let fast = body()
  FastPaths.areOff = true
  let slow = body()
  FastPaths.areOff = false
  expect(fast == slow, "\(what): the fast path leads to \(fast), the slow path to \(slow)")
  return fast
}

/// Returns the first line of the bytes, and the bytes after it.
func halves(_ bytes: [UInt8]) -> ([UInt8], [UInt8]) {
  let parts = bytes.split(
    separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
  return (Array(parts[0]), parts.count > 1 ? Array(parts[1]) : [])
}

/// Returns the value of a text; nil if it is not JSON.
func value(_ bytes: [UInt8]) -> JSONValue? { try? JSONValue(parsing: bytes) }
