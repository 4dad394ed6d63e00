// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Changes of a program's schemas")
struct SchemaChangeTests {
  private func description(input: String, view: String) throws -> ProgramDescription {
    let text = #"{"protocol":1,"schemas":{"input":\#(input),"viewState":\#(view)}}"#
    return try text.utf8Span.span.withUnsafeBytes { bytes throws(JSONError) in
      try ProgramDescription(bytes)
    }
  }

  private let input = """
    {"oneOf": [
      {"properties": {"type": {"const": "add"}, "by": {"type": "integer"}}, "required": ["type", "by"]},
      {"$ref": "#/$defs/Reset"}
    ], "$defs": {"Reset": {"properties": {"type": {"const": "reset"}}, "required": ["type"]}}}
    """
  private let view = #"{"type": "object", "properties": {"count": {"type": "integer"}}}"#

  @Test(
    "changes for which clients are not prepared are named, others are not",
    arguments: [
      ("reset", "again", ["\"reset\" was removed from the cases of input"]),
      (
        #"{"type": "integer"}}, "required": ["type", "by"]"#,
        #"{"type": "string"}}, "required": ["type", "by"]"#, ["the type of input add/by changed"]
      ),
      (
        #""required": ["type", "by"]"#, #""required": ["type", "by", "at"]"#,
        ["input add now requires member \"at\""]
      ),
      (#""required": ["type", "by"]"#, #""required": ["type"]"#, []),
      (
        ##"{"$ref": "#/$defs/Reset"}"##,
        ##"{"$ref": "#/$defs/Reset"}, {"properties": {"type": {"const": "more"}}}"##, []
      ),
    ])
  func inputs(old: String, new: String, faults: [String]) throws {
    let changed = input.replacing(old, with: new)
    #expect(changed != input)
    #expect(
      SchemaChange.faults(
        from: try description(input: input, view: view),
        to: try description(input: changed, view: view)) == faults)
  }

  @Test(
    "schemas that refer to themselves many times are compared in a short time",
    arguments: [
      // The references of both meet.
      (##"{"$ref": "#/$defs/Node"}"##, ##"{"$ref": "#/$defs/Node"}"##),
      // They do not.
      (##"{"$ref": "#/$defs/Node"}"##, ##"{"properties": {"left": {"$ref": "#/$defs/Node"}}}"##),
    ])
  func recursion(oldRoot: String, newRoot: String) throws {
    func schema(_ root: String, _ type: String) -> String {
      let pair = { (child: String) in #"{"properties":{"left":\#(child),"right":\#(child)}}"# }
      let node = pair(pair(##"{"$ref": "#/$defs/Node"}"##))
      return #"{"properties": {"tree": \#(root), "last": {"type": "\#(type)"}},"#
        + #""$defs": {"Node": \#(node)}}"#
    }
    let faults = SchemaChange.faults(
      from: try description(input: input, view: schema(oldRoot, "integer")),
      to: try description(input: input, view: schema(newRoot, "string")))
    #expect(oldRoot != newRoot || faults == ["the type of view state/last changed"])
  }

  @Test("a member of the view state that is gone is named")
  func views() throws {
    let changed = view.replacing("count", with: "number")
    #expect(
      SchemaChange.faults(
        from: try description(input: input, view: view),
        to: try description(input: input, view: changed))
        == ["member \"count\" was removed from view state"])
  }
}
