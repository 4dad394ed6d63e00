// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Patch writer")
struct PatchWriterTests {
  @Test("each operation is written without spaces and with the usual order of members")
  func operations() {
    var patch = JSONPatchWriter()
    #expect(patch.isEmpty && patch.bytes().text == "[]")
    patch.replace { $0.null() }
    patch.enter("todos")
    patch.add { $0.value(1) }
    patch.add(at: 0) { $0.value("x") }
    patch.replace(at: 1) { $0.value(true) }
    patch.remove(at: 2)
    patch.move(from: 3, to: 4)
    patch.enter(index: 12)
    patch.enter("a/b~\"c\n" as String)
    patch.remove()
    patch.leave()
    patch.leave()
    patch.leave()
    patch.remove()
    let expected =
      #"[{"op":"replace","path":"","value":null},{"op":"add","path":"/todos","value":1},"#
      + #"{"op":"add","path":"/todos/0","value":"x"},{"op":"replace","path":"/todos/1","value":true},"#
      + #"{"op":"remove","path":"/todos/2"},{"op":"move","from":"/todos/3","path":"/todos/4"},"#
      + #"{"op":"remove","path":"/todos/12/a~1b~0\"c\n"},{"op":"remove","path":""}]"#
    #expect(patch.bytes().text == expected && patch.count == 8)
    // Reading the bytes does not end the patch.
    patch.remove()
    #expect(
      patch.withBytes { $0.count } == expected.utf8.count
        + #",{"op":"remove","path":""}"#.utf8.count)
    patch.removeAll(keepingCapacity: true)
    #expect(patch.isEmpty && patch.bytes().text == "[]")
  }

  @Test("the written patch has the intended effect for all keys")
  func reading() throws {
    var patch = JSONPatchWriter()
    for key in RandomJSON.keys {
      patch.enter(key)
      patch.add { $0.value(key) }
      patch.leave()
    }
    let document = try JSONPatch(JSONValue(parsing: patch.bytes())).apply(to: [:])
    for key in RandomJSON.keys { #expect(document[key] == .string(key)) }
  }
}
