// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ClientTypes

@Suite("Names of types and members")
struct NameTests {
  @Test(
    "become parts of type names",
    arguments: [
      ("kanban", "Kanban"), ("addTodo", "AddTodo"), ("card-added", "CardAdded"),
      ("my.kind/2", "MyKind2"), ("URL", "URL"), ("größe", "Größe"), ("2048", "Kind2048"),
      ("", "Kind"), ("🎲", "Kind"), ("_", "Kind_"), ("a b", "AB"),
    ])
  func typeNames(_ text: String, _ name: String) { #expect(text.typeName(else: "Kind") == name) }

  @Test(
    "stay as they are if they are identifiers",
    arguments: [
      ("title", "title"), ("_type", "_type"), ("URL", "URL"), ("card-added", "cardAdded"),
      ("2nd", "_2nd"), ("", "empty"), ("🎲", "empty"), ("$ref", "ref"), ("a\nb", "aB"),
    ])
  func memberNames(_ text: String, _ name: String) { #expect(text.memberName == name) }

  @Test(
    "are written with underscores",
    arguments: [
      ("addTodo", "add_todo"), ("HTTPServer", "http_server"), ("my-kind", "my_kind"),
      ("card2Moved", "card2_moved"), ("already_snake", "already_snake"), ("2048", "_2048"),
    ])
  func snakeCase(_ text: String, _ name: String) { #expect(text.snakeCased == name) }

  @Test(
    "have a singular for the elements of lists",
    arguments: [
      ("cards", "card"), ("entries", "entry"), ("boxes", "box"), ("classes", "class"),
      ("children", "child"), ("openChildren", "openChild"), ("status", "statusItem"),
      ("data", "dataItem"), ("address", "addressItem"), ("", "Item"), ("s", "sItem"),
    ])
  func singulars(_ text: String, _ name: String) { #expect(text.singular == name) }

  @Test("get a number if they are taken, also with other capitals")
  func uniqueNames() {
    var names = UniqueNames(taken: ["Json"])
    #expect(names.unique("Card") == "Card")
    #expect(names.unique("Card") == "Card2")
    #expect(names.unique("CARD") == "CARD3")
    #expect(names.unique("json") == "json2")
  }
}
