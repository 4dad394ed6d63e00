// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@Suite("Values")
struct ValueTests {
  @Test("values are equal independently of the order of members and the text of numbers")
  func equality() throws {
    let one: JSONValue = ["a": 1, "b": [1.5, nil, true], "c": ["x": "y"]]
    let other = try JSONValue(
      parsing: #"{"c":{"\u0078":"y"},"b":[15e-1,null,true],"a":1.00}"#)
    #expect(one == other)
    for (left, right) in [
      ("{\"a\":1}", "{\"a\":2}"), ("{\"a\":1}", "{\"b\":1}"), ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
      ("[1,2]", "[2,1]"), ("null", "false"), ("\"1\"", "1"), ("[]", "{}"), ("0", "false"),
      ("\"é\"", "\"e\u{301}\""), ("{\"é\":1}", "{\"e\u{301}\":1}"),
    ] {
      #expect(try JSONValue(parsing: left) != JSONValue(parsing: right))
    }
  }

  @Test("values are accessed by key, index and pointer")
  func access() throws {
    let value: JSONValue = ["a": ["x", 2, 2.5, true, nil], "n": 1]
    #expect(value["a"]?[0]?.string == "x" && value["a"]?[1]?.int == 2)
    #expect(value["a"]?[2]?.double == 2.5 && value["a"]?[3]?.bool == true)
    #expect(value["a"]?[4]?.isNull == true && value["n"]?.isNull == false)
    #expect(value["a"]?[5] == nil && value["a"]?[-1] == nil && value["b"] == nil)
    #expect(value[0] == nil && value["a"]?["x"] == nil && value["n"]?.number?.text == "1")
    #expect(value["a"]?.array?.count == 5 && value.object?.count == 2)
    #expect(value.string == nil && value.number == nil && value.bool == nil && value.array == nil)
    #expect(value["n"]?.object == nil)
    #expect(try value[JSONPointer(parsing: "/a/0")] == "x")
  }

  @Test("canonically equivalent keys are different")
  func bytewise() {
    var object = JSONObject()
    object["\u{E9}"] = 1
    object["e\u{301}"] = 2
    #expect(object.count == 2 && object["\u{E9}"] == 1 && object["e\u{301}"] == 2)
  }

  @Test("of several members with one key the last counts, at the position of the first")
  func duplicates() throws {
    let value = try JSONValue(parsing: #"{"a":1,"b":2,"\u0061":3}"#)
    #expect(value.description == #"{"a":3,"b":2}"#)
  }

  @Test(
    "members keep their order when others are set and removed", arguments: [3, 16, 17, 18, 100])
  func objects(_ size: Int) {
    var random = SeededGenerator(seed: UInt64(size))
    var object = JSONObject()
    var model: [(key: String, value: Int)] = []
    for step in 0..<2_000 {
      let key = "key\(Int.random(in: 0..<size, using: &random))"
      let place = model.firstIndex { $0.key == key }
      #expect(object[key]?.int == place.map { model[$0].value })
      if Bool.random(using: &random) {
        object[key] = .number(JSONNumber(step))
        if let place { model[place].value = step } else { model.append((key, step)) }
      } else {
        #expect(object.removeValue(forKey: key)?.int == place.map { model[$0].value })
        if let place { model.remove(at: place) }
      }
      #expect(object.count == model.count && object.isEmpty == model.isEmpty)
      if step % 50 == 0 {
        #expect(object.keys == model.map(\.key))
        #expect(object.map(\.value.int) == model.map(\.value))
      }
    }
    object["key0"] = nil
    #expect(object["key0"] == nil)
  }

  @Test("an object of 100,000 members is read, searched and emptied without quadratic cost")
  func large() throws {
    let count = 100_000
    let text = "{" + (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}"
    guard case .object(var object) = try JSONValue(parsing: text) else { return }
    #expect(object.count == count && object["k99999"]?.int == 99_999)
    for key in 0..<count { object["k\(key)"] = nil }
    #expect(object.isEmpty)
  }

  @Test("an object with the same keys a hundred thousand times is read without quadratic cost")
  func hostileDuplicates() throws {
    let members = (0..<100_000).map { "\"k\($0 % 30)\":\($0)" }.joined(separator: ",")
    let value = try JSONValue(parsing: "{\(members)}")
    #expect(value.object?.count == 30 && value["k9"]?.int == 99_999)
    let decoded = try JSON.decode([String: Int].self, from: Array("{\(members)}".utf8))
    #expect(decoded.count == 30 && decoded["k9"] == 99_999)
  }

  @Test("removing and setting one member repeatedly has constant cost")
  func churn() {
    var object = JSONObject((0..<10_000).map { ("k\($0)", .null) })
    for step in 0..<20_000 {
      object["k5"] = nil
      object["k5"] = .number(JSONNumber(step))
    }
    #expect(object.count == 10_000 && object["k5"] == 19_999 && object.keys.last == "k5")
  }
}
