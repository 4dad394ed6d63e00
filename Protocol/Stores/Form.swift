// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An input of a form with two entries that should be equal.
///
/// - Shape: `{"type": "firstEntryChanged", "value": FormEntry}`, `{"type": "secondEntryChanged",
///   "value": FormEntry}`, `{"type": "entriesChanged", "firstEntry": FormEntry, "secondEntry":
///   FormEntry}` or `{"type": "submitTapped"}`.
public enum FormInput: Codable, Equatable, Sendable {
  /// Changes the first entry.
  case firstEntryChanged(value: FormEntry)
  /// Changes the second entry.
  case secondEntryChanged(value: FormEntry)
  /// Changes both entries: validates them once and publishes one update.
  case entriesChanged(firstEntry: FormEntry, secondEntry: FormEntry)
  /// Submits the form; ignored while the entries violate a rule.
  case submitTapped
}

/// The view state of a form.
///
/// - Shape: `{"firstEntry": FormEntry, "secondEntry": FormEntry, "validationMessages": [String],
///   "submitAllowed": Bool}`; the messages are 0 to 2 sentences for users.
public struct FormViewState: Codable, Equatable, Sendable {
  /// The first entry.
  public var firstEntry: FormEntry
  /// The second entry.
  public var secondEntry: FormEntry
  /// The messages, one for each violated rule, in the order of the rules.
  public var validationMessages: [String]
  /// True if there are no messages.
  public var submitAllowed: Bool

  /// Creates a view state.
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

/// An event of a form.
///
/// - Shape: `{"type": "submitted"}`; it does not contain the entries.
public enum FormEvent: Codable, Equatable, Sendable {
  /// The form was submitted.
  case submitted
}

// Hand-written in addition to the synthesized code, because the server reads and writes these
// values for every keystroke in a form.
extension FormInput: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
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

  /// Writes the value as JSON; the type documents its shape.
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
  /// Writes the value as JSON; the type documents its shape.
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
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "submitted": self = .submitted
    default: throw object.unknownType()
    }
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .submitted: writer.value("submitted" as StaticString)
    }
    writer.endObject()
  }
}
