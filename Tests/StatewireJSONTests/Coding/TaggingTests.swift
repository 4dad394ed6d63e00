// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@Suite("Tagging")
struct TaggingTests {
  enum Filter: String, Codable { case all, done }

  enum Inner: Codable, Equatable {
    case point(x: Int, y: Int)
    case label(type: String, _type: Int)
    case nothing
  }

  struct Item: Codable, Equatable {
    var type: String
    var inner: Inner
  }

  indirect enum Input: Codable, Equatable {
    case todoAdded(title: String, note: String? = nil)
    case cleared
    case filtered(filter: Filter)
    case moved(id: String, before: String?)
    case nested(inner: Inner, others: [Inner])
    case item(item: Item)
    case unlabelled(Int, Inner)
    case batch(inputs: [Input])
    case table(rows: [String: Inner], maybe: Inner?)
    case type(type: Int)
  }

  @Test(
    "the case of an enum is encoded as the member `type`",
    arguments: [
      (Input.todoAdded(title: "Milk"), #"{"type":"todoAdded","title":"Milk","note":null}"#),
      (.cleared, #"{"type":"cleared"}"#),
      (.filtered(filter: .done), #"{"type":"filtered","filter":"done"}"#),
      (.moved(id: "a", before: nil), #"{"type":"moved","id":"a","before":null}"#),
      (
        .nested(inner: .point(x: 1, y: -2), others: [.nothing, .label(type: "t", _type: 3)]),
        #"{"type":"nested","inner":{"type":"point","x":1,"y":-2},"#
          + #""others":[{"type":"nothing"},{"type":"label","_type":"t","__type":3}]}"#
      ),
      (
        .item(item: Item(type: "x", inner: .nothing)),
        #"{"type":"item","item":{"type":"x","inner":{"type":"nothing"}}}"#
      ),
      (.unlabelled(7, .nothing), #"{"type":"unlabelled","_0":7,"_1":{"type":"nothing"}}"#),
      (
        .batch(inputs: [.cleared, .batch(inputs: [])]),
        #"{"type":"batch","inputs":[{"type":"cleared"},{"type":"batch","inputs":[]}]}"#
      ),
      (
        .table(rows: ["type": .nothing], maybe: .nothing),
        #"{"type":"table","rows":{"type":{"type":"nothing"}},"maybe":{"type":"nothing"}}"#
      ),
      (.table(rows: [:], maybe: nil), #"{"type":"table","rows":{},"maybe":null}"#),
      (.type(type: 5), #"{"type":"type","_type":5}"#),
    ])
  func flattens(_ input: Input, _ text: String) throws {
    #expect(try JSON.encode(input).text == text)
    #expect(try JSON.decode(Input.self, from: Array(text.utf8)) == input)
    #expect(try JSON.decode(Input.self, from: JSON.value(input)) == input)
    #expect(try JSON.decode([Input].self, from: JSON.encode([input, input])) == [input, input])
  }

  @Test(
    "any order of members, escapes, missing optionals and unknown members are accepted",
    arguments: [
      #"{"title":"Milk","type":"todoAdded"}"#, #"{"title":"Milk","note":null,"type":"todoAdded"}"#,
      #" { "t\u0079pe" : "todo\u0041dded" , "\u0074itle" : "Milk" } "#,
      #"{"type":"cleared","x":[{}],"title":"Milk","type":"todoAdded"}"#,
      #"{"todoAdded":{"title":"no"},"type":"todoAdded","title":"Milk"}"#,
    ])
  func lenient(_ text: String) throws {
    #expect(try JSON.decode(Input.self, from: Array(text.utf8)) == .todoAdded(title: "Milk"))
  }

  @Test(
    "an unknown or missing type is an error with its path",
    arguments: [
      (#"{"type":"nope","title":"x"}"#, "/type", JSONError.Code.value, "\"nope\""),
      (#"{"title":"x"}"#, "/type", .missing, "\"type\""),
      (#"{}"#, "/type", .missing, "\"type\""),
      (#"{"type":7}"#, "/type", .type, "string"),
      (#"{"type":null,"title":"x"}"#, "/type", .type, "string"),
      (#"{"todoAdded":{"title":"x"}}"#, "/type", .missing, "\"type\""),
      (#"{"cleared":{}}"#, "/type", .missing, "\"type\""),
      (
        #"{"type":"nested","inner":{"type":"circle"},"others":[]}"#, "/inner/type", .value, "circle"
      ),
      (
        #"{"type":"batch","inputs":[{"type":"cleared"},{"x":1}]}"#, "/inputs/1/type", .missing,
        "type"
      ),
      (#"{"type":"todoAdded"}"#, "/title", .missing, ""),
      (#"{"type":"todoAdded","title":1}"#, "/title", .type, "a string"),
      (#"{"type":"filtered","filter":"some"}"#, "/filter", .value, "not one of the allowed"),
      (#"{"type":"label"}"#, "/type", .value, "label"),
      (#"{"type":"type"}"#, "/_type", .missing, ""),
      (
        #"{"type":"unlabelled","_0":1,"_1":{"type":"point","x":1,"y":1.5}}"#, "/_1/y", .number,
        "Int"
      ),
      (#"[]"#, "", .type, "an object"), (#""cleared""#, "", .type, "an object"),
    ])
  func errors(_ text: String, _ path: String, _ code: JSONError.Code, _ part: String) {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode(Input.self, from: Array(text.utf8))
    }
    #expect(error?.pathDescription == path)
    #expect(error?.code == code)
    #expect(error?.message.contains(part) == true, "\(error as Any)")
    let treeError = #expect(throws: JSONError.self) {
      try JSON.decode(Input.self, from: JSONValue(parsing: text))
    }
    #expect(treeError?.path == error?.path && treeError?.code == error?.code)
  }

  /// A type with its own coding code and a nested container, as is common for flattening responses.
  struct Place: Codable, Equatable {
    var name: String
    var latitude: Double

    enum CodingKeys: String, CodingKey { case name, position, type }
    enum PositionKeys: String, CodingKey { case latitude }

    init(name: String, latitude: Double) {
      self.name = name
      self.latitude = latitude
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      let position = try container.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
      latitude = try position.decode(Double.self, forKey: .latitude)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      var position = container.nestedContainer(keyedBy: PositionKeys.self, forKey: .position)
      try position.encode(latitude, forKey: .latitude)
      try container.encode("position", forKey: .type)
    }
  }

  @Test("nested containers of types with their own coding code are not changed")
  func handWritten() throws {
    let place = Place(name: "x", latitude: 1.5)
    let text = #"{"name":"x","position":{"latitude":1.5},"type":"position"}"#
    #expect(try JSON.encode(place).text == text)
    #expect(try JSON.decode(Place.self, from: Array(text.utf8)) == place)
  }

  @Test("random inputs are unchanged after encoding and decoding")
  func roundTrip() throws {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<2_000 {
      let input = Self.input(&random, depth: 3)
      let bytes = try JSON.encode(input)
      #expect(try JSON.decode(Input.self, from: bytes) == input)
      #expect(try JSON.value(input) == JSONValue(parsing: bytes))
    }
  }

  private static func input(_ random: inout SeededGenerator, depth: Int) -> Input {
    let texts = ["", "type", "é\n\"", "a/b~c", "𝄞"]
    func text() -> String { texts.randomElement(using: &random) ?? "" }
    func inner() -> Inner {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: .point(x: .random(in: .min ... .max, using: &random), y: 0)
      case 1: .label(type: text(), _type: 1)
      default: .nothing
      }
    }
    switch Int.random(in: 0..<(depth > 0 ? 10 : 9), using: &random) {
    case 0: return .todoAdded(title: text(), note: Bool.random(using: &random) ? text() : nil)
    case 1: return .cleared
    case 2: return .filtered(filter: .all)
    case 3: return .moved(id: text(), before: text())
    case 4: return .nested(inner: inner(), others: [inner(), inner()])
    case 5: return .item(item: Item(type: text(), inner: inner()))
    case 6: return .unlabelled(1, inner())
    case 7: return .table(rows: [text(): inner(), "x": inner()], maybe: inner())
    case 8: return .type(type: 2)
    default: return .batch(inputs: (0..<3).map { _ in input(&random, depth: depth - 1) })
    }
  }
}
