// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

// What libFuzzer feeds: bytes of a peer, on every way that they can take into the program.
//
// The first byte of an input says what the others are, so that one corpus serves all:
//
//   j  a text that may be JSON
//   p  a document, and in the next line a patch
//   d  two documents, one a line
//   l  changes of a list, described by bytes; see `Lists`
//   g  two states in a row, described by bytes; see `States`
//   w  what comes over a connection; see `Wire`
//   s  what comes over a WebSocket
//
// Whatever they are, there must be no trap, no endless work and nothing left over, and what comes
// out must be true: each of these files says what it expects. Bytes in the same order always take
// the same way, so a finding is a file that can be run again.
//
// Each fast path is compared with its slow path: the plain reader with the strict one (`Texts`), request
// templates with the reading of whole messages (`Wire`), diffable lists with encoded states (`Lists`).

/// Called by libFuzzer for each input; -1 keeps the input out of the corpus.
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

/// Ends the program with a finding unless something is true.
func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
  // Trapping is how libFuzzer is told.
  if !isTrue { fatalError(what()) }
}

/// Does something twice, with the fast paths and without them.
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

/// The first line of some bytes, and what comes after it.
func halves(_ bytes: [UInt8]) -> ([UInt8], [UInt8]) {
  let parts = bytes.split(
    separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
  return (Array(parts[0]), parts.count > 1 ? Array(parts[1]) : [])
}

/// The value of a text; nil if it is no JSON.
func value(_ bytes: [UInt8]) -> JSONValue? { try? JSONValue(parsing: bytes) }
