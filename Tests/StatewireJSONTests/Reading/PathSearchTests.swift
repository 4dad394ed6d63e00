// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StatewireJSON

@Suite("Path search")
struct PathSearchTests {
  @Test("a reused search gives the same path as a new one, wherever it was before")
  func kept() {
    var random = SeededGenerator(seed: 5)
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

  // Regression: each search began at the start of the text, so that 1 MB kept a loop busy for
  // minutes.
  @Test(
    "a search takes about a thousand steps, however long the text and wherever the last one ended")
  func cost() {
    let elements = (0..<4_000).map { "{\"x\":1,\"y\":\($0)}" }
    let text = Array("{\"k\":[\(elements.joined(separator: ","))]}".utf8)
    var random = SeededGenerator(seed: 6)
    text.withUnsafeBytes { text in
      var search = PathSearch()
      // From start to end with small steps back, as when several types are tried for an element.
      for offset in stride(from: 6, to: text.count, by: 20) {
        _ = search.path(to: offset + 14, in: text)
        _ = search.path(to: offset, in: text)
      }
      for _ in 0..<1_000 {
        _ = search.path(to: Int.random(in: 0..<text.count, using: &random), in: text)
      }
      let paths = 2 * (text.count / 20 + 1) + 1_000
      #expect(search.stepCount <= paths * 1_100)
    }
  }

  @Test("a search keeps a bounded number of positions and still finds the path")
  func bound() {
    let text = Array(
      "[\(Array(repeating: "[[1,22,[333]]]", count: 200_000).joined(separator: ","))]".utf8)
    text.withUnsafeBytes { text in
      var search = PathSearch()
      for element in stride(from: 0, to: 200_000, by: 9_973) {
        let path = search.path(to: 1 + 15 * element + 9, in: text)
        #expect(path.map(\.token) == ["\(element)", "0", "2", "0"])
      }
      #expect(search.placeCount <= 1_024)
      let before = search.stepCount
      #expect(search.path(to: 1 + 15 * 77_777 + 4, in: text).map(\.token) == ["77777", "0", "1"])
      #expect(search.stepCount - before <= 4_200)
    }
  }

  private struct Within: JSONReadable, Decodable {
    init(reading reader: inout JSONReader) throws(JSONError) {
      _ = try TaggedObjectTests.Input(reading: &reader)
    }

    init(from decoder: any Decoder) throws {
      throw JSONError(.value, "must use the direct reader")
    }
  }

  @Test(
    "errors of types with direct readers have complete paths",
    arguments: [
      (#"{"k":[{"type":"cleared"},{"type":"added"}]}"#, "/k/1/title"),
      (#"{"k":[{"type":"cleared"},{"type":"added","title":["x"]}]}"#, "/k/1/title"),
      (#"{"k":[{"type":"cleared"},{"type":"gone"}]}"#, "/k/1/type"),
      (#"{"k":[{"type":"cleared"},7]}"#, "/k/1"),
      (#"{"k":[{"type":"added","a":1,"b":2,"c":3,"d":4,"title":5}]}"#, "/k/0/title"),
    ])
  func within(_ text: String, _ path: String) {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([String: [Within]].self, from: Array(text.utf8))
    }
    #expect(error?.pathDescription == path)
    #expect(error?.pathStart == nil)
  }

  /// An element that is decoded as one of several types, one after the other.
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
        // An error of this type, which needs a path.
        self = .point(try Point(from: decoder))
      }
    }
  }

  @Test("failed attempts to decode a value have no effect, and the last error has a path")
  func lossy() throws {
    let key = String(repeating: "k", count: 20_000)
    let elements = (0..<3_000).map { ["{\"x\":1,\"y\":\($0)}", "\($0)", "\"\($0)\""][$0 % 3] }
    let good = Array("{\"\(key)\":[\(elements.joined(separator: ","))]}".utf8)
    let decoded = try JSON.decode([String: [Lossy]].self, from: good)
    #expect(decoded[key]?.count == 3_000)
    #expect(decoded[key]?[1] == .number(1))
    #expect(decoded[key]?[2_999] == .unknown("2999"))
    let bad = Array("{\"k\":[\(elements.joined(separator: ",")),{\"x\":1,\"y\":{\"z\":1}}]}".utf8)
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([String: [Lossy]].self, from: bad)
    }
    #expect(error?.pathDescription == "/k/3000/y")
    #expect(error?.code == .type)
    let missing = Array("{\"k\":[\(elements.joined(separator: ",")),{\"x\":1}]}".utf8)
    let other = #expect(throws: JSONError.self) {
      try JSON.decode([String: [Lossy]].self, from: missing)
    }
    #expect(other?.pathDescription == "/k/3000/y")
    #expect(other?.code == .missing)
  }
}
