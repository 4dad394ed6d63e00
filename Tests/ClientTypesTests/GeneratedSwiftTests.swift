// SPDX-License-Identifier: Apache-2.0

import StatewireClient
import Testing

/// Tests of `GeneratedOdd.swift`, the types in Swift for `Golden/odd.json`.
@Suite("Generated types in Swift")
struct GeneratedSwiftTests {
  private static let state: JSONValue = [
    "columns": [["title": "To do", "cards": [["id": "1", "title": "a", "due": nil]]]],
    "tree": ["name": "root", "children": [["name": "leaf", "children": []]]],
    "linked": ["value": 1, "next": ["value": 2, "next": nil]],
    "expression": [
      "type": "sum", "left": ["type": "number", "value": 1.5],
      "right": [
        "type": "sum", "left": ["type": "number", "value": 2],
        "right": ["type": "number", "value": 3],
      ],
    ],
    "nested": [[], [[]]], "prices": ["a": ["amount": "1.50"]], "changed": "2026-01-01T00:00:00Z",
    "picture": "AAEC", "anything": ["x": [1, nil]], "settings": ["y": true],
    "levels": [["low"], ["high", "low"]], "range": [1, nil],
    "entries": [["key": 1, "value": "a"]], "id": 7, "choice": ["x": 1, "y": 2],
    "operation": ["op": "add", "path": "/a", "value": nil], "int": 1, "str": "s",
    "__private": true, "naïve": false, "2nd": true, "a-b": ["x": true], "aB": ["y": false],
    "": true, "priority": -3, "mixed": "a", "version": 7, "color": "dark-red", "open": "any",
    "both": ["one": "1", "two": "2"],
  ]

  @Test("read a state and write the same one")
  func roundTrip() throws {
    let state = try JSON.decode(OddKindState.self, from: Self.state)
    #expect(state.columns[0].cards[0].title == "a")
    #expect(state.linked?.next?.value == 2)
    #expect(state.color == .darkRed)
    #expect(state.priority == .valueMinus3)
    #expect(state.choice == .x2(OddKindStateChoiceX2(x: 1, y: 2)))
    #expect(state.operation == .add(path: "/a", value: nil))
    #expect(try JSONValue(parsing: JSON.encode(state)) == Self.state)
  }

  @Test(
    "select the alternative of a union that fits",
    arguments: [
      (["x": 1], .x(OddKindStateChoiceX(x: 1))),
      (["x": 1, "y": 2], .x2(OddKindStateChoiceX2(x: 1, y: 2))),
      ([1, 2], .list([1, 2])), ("text", .text("text")),
    ] as [(JSONValue, OddKindStateChoice)])
  func alternatives(_ json: JSONValue, _ value: OddKindStateChoice) throws {
    #expect(try JSON.decode(OddKindStateChoice.self, from: json) == value)
    #expect(try JSONValue(parsing: JSON.encode(value)) == json)
  }

  @Test(
    "create inputs in the form of the schema",
    arguments: [
      (
        .cardAdded(card: OddKindStateColumnCard(id: "1", title: "a")),
        [
          "type": "cardAdded", "card": ["id": "1", "title": "a", "due": nil], "before": nil,
        ]
      ),
      (.undoTapped, ["type": "undo-tapped"]),
      (
        .class(class: "c", someKey: 1, type: true, _0: 2.5, self_: ["s"]),
        [
          "type": "class", "class": "c", "some key": 1, "_type": true, "_0": 2.5, "self": ["s"],
        ]
      ),
      (
        .moved(OddKindInputMovedValue(to: "a"), 7),
        ["type": "moved", "_0": ["to": "a"], "_1": 7]
      ),
      (.list(list: nil), ["type": "list", "list": nil]),
      (.empty(), ["type": "$\"\\\n", "$ref": nil]),
    ] as [(OddKindInput, JSONValue)])
  func inputs(_ input: OddKindInput, _ json: JSONValue) throws {
    #expect(try JSONValue(parsing: JSON.encode(input)) == json)
    #expect(try JSON.decode(OddKindInput.self, from: json) == input)
  }

  @Test("have constants for the kinds")
  func kinds() {
    let kind: Kind<OddKindInput, OddKindState> = .oddKind
    #expect(kind.name == "odd-kind")
    #expect(Kind.oddKind2.name == "oddKind")
    #expect(Kind.kind2048Game.name == "2048 \"game\"")
  }
}
