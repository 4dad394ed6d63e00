// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireJSON

@Suite("Paths of errors", .timeLimit(.minutes(1)))
struct PathSearchTests {
  @Test("a search that is kept finds what a new one finds, wherever it was before")
  func kept() {
    var random = SeededGenerator(state: 5)
    for _ in 0..<20 {
      let value = JSONValue.object([
        String(repeating: "k\"\\", count: 3_000):
          .array((0..<50).map { _ in RandomJSON.value(&random, depth: 4) }),
        "b": .array((0..<200).map { _ in RandomJSON.value(&random, depth: 3) }),
      ])
      value.bytes.withUnsafeBytes { text in
        var search = PathSearch()
        for _ in 0..<100 {
          let offset = Int.random(in: 0...text.count, using: &random)
          let ofContainer = Bool.random(using: &random)
          #expect(
            search.path(to: offset, in: text, ofContainer: ofContainer)
              == JSONPathElement.path(to: offset, in: text, ofContainer: ofContainer))
        }
      }
    }
  }

  /// An element that is tried as one thing and then as another, as authors do it.
  private enum Lossy: Decodable, Equatable {
    struct Point: Decodable, Equatable {
      let x: Int
      let y: Int
    }

    case point(Point)
    case number(Int)
    case unknown(String)

    init(from decoder: any Decoder) throws {
      if let point = try? Point(from: decoder) {
        self = .point(point)
        return
      }
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .unknown(text)
      } else {
        // Its own mistake, which needs a path.
        self = .point(try Point(from: decoder))
      }
    }
  }

  // Each error looked for its path from the beginning of the text: 1 MB took a loop for minutes.
  @Test("values that are tried in vain cost what they are long, under a long key too")
  func lossy() throws {
    let key = String(repeating: "k", count: 200_000)
    let elements = (0..<60_000).map { ["{\"x\":1,\"y\":\($0)}", "\($0)", "\"\($0)\""][$0 % 3] }
    let good = Array("{\"\(key)\":[\(elements.joined(separator: ","))]}".utf8)
    let decoded = try JSON.decode([String: [Lossy]].self, from: good)
    #expect(decoded[key]?.count == 60_000)
    #expect(decoded[key]?[1] == .number(1))
    #expect(decoded[key]?[59_999] == .unknown("59999"))
    let bad = Array("{\"k\":[\(elements.joined(separator: ",")),{\"x\":1,\"y\":{\"z\":1}}]}".utf8)
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([String: [Lossy]].self, from: bad)
    }
    #expect(error?.pathDescription == "/k/60000/y")
    #expect(error?.code == .type)
    let missing = Array("{\"k\":[\(elements.joined(separator: ",")),{\"x\":1}]}".utf8)
    let other = #expect(throws: JSONError.self) {
      try JSON.decode([String: [Lossy]].self, from: missing)
    }
    #expect(other?.pathDescription == "/k/60000/y")
    #expect(other?.code == .missing)
  }
}
