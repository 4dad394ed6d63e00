// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import VersionedList

/// The place of a child's state, or of several children's states, in the state of the parent.
protocol ChildPlace<Parent, Part>: Sendable {
  associatedtype Parent
  associatedtype Part
  /// The key of one child among those at this place.
  associatedtype Key: Hashable & Sendable

  /// Returns the state of a child; nil if it is absent.
  func state(_ key: Key, in parent: Parent) -> Part?
  /// Changes the state of a child in place. Does nothing if it is absent.
  func change(_ key: Key, in parent: inout Parent, _ change: (inout Part) -> Void)
  /// Returns the keys of the children that are present.
  func keys(in parent: Parent) -> [Key]
  /// Returns the number of children that are present.
  func count(in parent: Parent) -> Int
  /// Returns the text that follows the child's name in effect ids. It differs for each key, and none
  /// is the beginning of another one.
  func suffix(_ key: Key) -> String
  /// Returns a sentence that says that a child is absent.
  func absence(_ key: Key, of name: String) -> String
  /// True if children can be absent.
  var canBeAbsent: Bool { get }
}

/// The key of the only child at a place.
struct OnlyKey: Hashable, Sendable {}

/// A state that is always present.
struct SingleState<Parent, Part>: ChildPlace {
  let member: StateMember<Parent, Part>
  let canBeAbsent = false

  func state(_ key: OnlyKey, in parent: Parent) -> Part? { member.value(in: parent) }
  func change(_ key: OnlyKey, in parent: inout Parent, _ change: (inout Part) -> Void) {
    member.change(in: &parent, change)
  }
  func keys(in parent: Parent) -> [OnlyKey] { [OnlyKey()] }
  func count(in parent: Parent) -> Int { 1 }
  func suffix(_ key: OnlyKey) -> String { "/" }
  func absence(_ key: OnlyKey, of name: String) -> String { "\(name) is absent" }
}

/// A state that is nil while the child is absent.
struct OptionalState<Parent, Part>: ChildPlace {
  let member: StateMember<Parent, Part?>
  let canBeAbsent = true

  func state(_ key: OnlyKey, in parent: Parent) -> Part? { member.value(in: parent) }
  func change(_ key: OnlyKey, in parent: inout Parent, _ change: (inout Part) -> Void) {
    member.change(in: &parent) { part in
      if part != nil { change(&part!) }
    }
  }
  func keys(in parent: Parent) -> [OnlyKey] { count(in: parent) == 0 ? [] : [OnlyKey()] }
  func count(in parent: Parent) -> Int { member.value(in: parent) == nil ? 0 : 1 }
  func suffix(_ key: OnlyKey) -> String { "/" }
  func absence(_ key: OnlyKey, of name: String) -> String { "\(name) is absent" }
}

/// The elements of a list, each with its id as its key.
struct ElementState<Parent, Part: Identifiable & Sendable>: ChildPlace
where Part.ID: KeyedListID & Sendable {
  let member: StateMember<Parent, KeyedList<Part>>
  let canBeAbsent = true

  func state(_ key: Part.ID, in parent: Parent) -> Part? { member.value(in: parent)[id: key] }
  func change(_ key: Part.ID, in parent: inout Parent, _ change: (inout Part) -> Void) {
    member.change(in: &parent) { $0.update(id: key, change) }
  }
  func keys(in parent: Parent) -> [Part.ID] { member.value(in: parent).map(\.id) }
  func count(in parent: Parent) -> Int { member.value(in: parent).count }
  func suffix(_ key: Part.ID) -> String {
    // One token of a JSON Pointer, so that an id with a slash cannot be that of another child
    // followed by a part of an effect id.
    let id = key.keyText
    let isPlain = !id.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "~") }
    return (isPlain ? "/" + id : JSONPointer([id]).description) + "/"
  }
  func absence(_ key: Part.ID, of name: String) -> String {
    "\(name) has no element \(key.keyText.quoted(upTo: 64))"
  }
}
