// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sends to a form of two entries that should be the same.
///
/// - Shape: `{"type": "firstEntryChanged", "value": FormEntry}`,
///   `{"type": "secondEntryChanged", "value": FormEntry}`,
///   `{"type": "entriesChanged", "firstEntry": FormEntry, "secondEntry": FormEntry}` or
///   `{"type": "submitTapped"}`.
public enum FormInput: Codable, Equatable, Sendable {
  case firstEntryChanged(value: FormEntry)
  case secondEntryChanged(value: FormEntry)
  /// Both at once: validated once, published once.
  case entriesChanged(firstEntry: FormEntry, secondEntry: FormEntry)
  /// Ignored while the entries break a rule.
  case submitTapped
}

/// What a frontend sees of a form.
///
/// - Shape: `{"firstEntry": FormEntry, "secondEntry": FormEntry, "validationMessages": [String],
///   "submitAllowed": Bool}`; the messages are 0…2 sentences for people.
public struct FormViewState: Codable, Equatable, Sendable {
  public var firstEntry: FormEntry
  public var secondEntry: FormEntry
  /// One for each rule that the entries break, in the order of the rules.
  public var validationMessages: [String]
  /// Whether there is no message.
  public var submitAllowed: Bool

  public init(
    firstEntry: FormEntry, secondEntry: FormEntry, validationMessages: [String],
    submitAllowed: Bool
  ) {
    self.firstEntry = firstEntry
    self.secondEntry = secondEntry
    self.validationMessages = validationMessages
    self.submitAllowed = submitAllowed
  }
}

/// What happens once in a form and is not state.
///
/// - Shape: `{"type": "submitted"}`; the entries are not in it.
public enum FormEvent: Codable, Equatable, Sendable {
  case submitted
}

// Written by hand beside the synthesized code, since every keystroke in a form ends here.
extension FormInput: JSONReadable, JSONWritable {
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "firstEntryChanged": self = .firstEntryChanged(value: try object.read("value"))
    case "secondEntryChanged": self = .secondEntryChanged(value: try object.read("value"))
    case "entriesChanged":
      self = .entriesChanged(
        firstEntry: try object.read("firstEntry"), secondEntry: try object.read("secondEntry"))
    case "submitTapped": self = .submitTapped
    default: throw object.unknownType()
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .firstEntryChanged(let value):
      writer.value("firstEntryChanged" as StaticString)
      writer.key("value")
      writer.value(value)
    case .secondEntryChanged(let value):
      writer.value("secondEntryChanged" as StaticString)
      writer.key("value")
      writer.value(value)
    case .entriesChanged(let firstEntry, let secondEntry):
      writer.value("entriesChanged" as StaticString)
      writer.key("firstEntry")
      writer.value(firstEntry)
      writer.key("secondEntry")
      writer.value(secondEntry)
    case .submitTapped:
      writer.value("submitTapped" as StaticString)
    }
    writer.endObject()
  }
}

extension FormViewState: JSONWritable {
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("firstEntry")
    writer.value(firstEntry)
    writer.key("secondEntry")
    writer.value(secondEntry)
    writer.key("validationMessages")
    writer.beginArray()
    for message in validationMessages { writer.value(message) }
    writer.endArray()
    writer.key("submitAllowed")
    writer.value(submitAllowed)
    writer.endObject()
  }
}

extension FormEvent: JSONReadable, JSONWritable {
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "submitted": self = .submitted
    default: throw object.unknownType()
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .submitted: writer.value("submitted" as StaticString)
    }
    writer.endObject()
  }
}
