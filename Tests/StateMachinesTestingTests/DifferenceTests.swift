// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import StateMachinesTesting

@Suite("Differences of states")
struct DifferenceTests {
  private func lines(_ expected: String, _ actual: String) throws -> [String] {
    try Difference(from: JSONValue(parsing: expected), to: JSONValue(parsing: actual)).lines
  }

  @Test("each path with the expected and the actual value")
  func paths() throws {
    #expect(try lines("1", "1.0") == [])
    #expect(try lines("1", "[1]") == ["expected 1, got [1]"])
    #expect(
      try lines(
        #"{"a":{"b":[{"c":1},{"c":2}]},"d":null,"e":"x"}"#,
        #"{"a":{"b":[{"c":1},{"c":3}]},"e":"x","f":[]}"#)
        == [
          "a.b[1].c: expected 2, got 3", "d: expected null, got nothing",
          "f: expected nothing, got []",
        ])
  }

  @Test("an element too many or too few is one line")
  func elements() throws {
    #expect(try lines("[1,2,3]", "[1,2,2,3]") == ["[2]: expected nothing, got 2"])
    #expect(try lines("[0,1,2]", "[1,2]") == ["[0]: expected 0, got nothing"])
    #expect(
      try lines("[1,2,3]", "[1,4,5,3]")
        == ["[1]: expected 2, got 4", "[2]: expected nothing, got 5"])
  }

  @Test("a long difference is shortened")
  func long() throws {
    let (before, after) = ((0..<50).map { "\($0)" }, (0..<50).map { "\($0 + 100)" })
    let lines = try lines(
      "[\(before.joined(separator: ","))]", "[\(after.joined(separator: ","))]")
    #expect(lines.count == 21 && lines.last == "and 30 more")
    let text = try self.lines("1", "\"\(String(repeating: "x", count: 500))\"")[0]
    #expect(text.count < 240 && text.hasSuffix("…"))
  }

  @Test("values that cannot be encoded show their members")
  func reflected() {
    struct Card {
      var title = "a"
      var place: (Int, Bool) = (1, true)
      var next: Side? = .left
      var sides: [Side] = [.right(2)]
      var big = UInt64.max
    }
    enum Side {
      case left
      case right(Int)
    }
    #expect(
      JSONValue(reflecting: Card()).description
        == #"{"title":"a","place":{".0":1,".1":true},"next":"left","sides":[{"right":2}],"#
        + #""big":"18446744073709551615"}"#)
  }
}
