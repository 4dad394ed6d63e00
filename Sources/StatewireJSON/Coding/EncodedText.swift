// SPDX-License-Identifier: Apache-2.0

/// The text that one call of `JSON.write` writes, shared by its encoder and containers.
///
/// The standard library never reports that a container is complete. Here a container is considered
/// complete as soon as a value is written outside it, so the text is written in one pass. If a type
/// writes to a container again after that, the whole value is written a second time, in *patient*
/// mode: every nested container then has its own text, and the texts are joined at the end.
final class EncodedText {
  /// An open container, or the position of a value that a super encoder will write.
  struct Level {
    enum Kind { case object, array, promise }
    let kind: Kind
    /// A number that distinguishes levels that were open at the same depth at different times.
    let id: Int
    /// The offset at which the level starts in the text.
    let start: Int
    var count = 0
  }

  // Unchecked because every access is a plain call that ends before the next one begins: code in
  // `JSONWritable` types gets the writer and never this object.
  @exclusivity(unchecked) var writer: JSONWriter
  @exclusivity(unchecked) private(set) var levels: [Level] = []
  private var lastID = 0
  /// The offset at which the document starts in the text; paths are relative to it.
  private let origin: Int
  /// An error that occurred in a function that cannot throw.
  private var failure: JSONError?
  /// True once a type has written to a container that was considered complete.
  private var wasInterleaved = false
  /// The nested texts of patient mode and the offsets at which they will be inserted.
  private var insertions: [(offset: Int, text: EncodedText)] = []
  let usesNestedTexts: Bool
  /// The members of the previous value of a series; nil if this value is not one of a series.
  let members: EncodedMembers?

  /// Creates a text that is empty after the document's start.
  private init(origin: Int, usesNestedTexts: Bool, members: EncodedMembers? = nil) {
    writer = JSONWriter()
    self.origin = origin
    self.usesNestedTexts = usesNestedTexts
    self.members = members
  }

  static func write<T: Encodable>(
    _ value: T, to writer: inout JSONWriter, _ members: EncodedMembers? = nil
  ) throws(JSONError) {
    let start = writer.count
    let needsComma = writer.needsComma
    do {
      if try attempt(value, to: &writer, usesNestedTexts: false, members) { return }
      members?.forget()
      writer.truncate(to: start)
      writer.needsComma = needsComma
      _ = try attempt(value, to: &writer, usesNestedTexts: true)
    } catch {
      writer.truncate(to: start)
      writer.needsComma = needsComma
      throw error
    }
  }

  /// Writes a value; returns false if it has to be written again in patient mode.
  private static func attempt<T: Encodable>(
    _ value: T, to writer: inout JSONWriter, usesNestedTexts: Bool,
    _ members: EncodedMembers? = nil
  ) throws(JSONError) -> Bool {
    writer.separate()
    writer.needsComma = false
    let text = EncodedText(
      origin: writer.count, usesNestedTexts: usesNestedTexts, members: members)
    swap(&text.writer, &writer)
    defer { swap(&text.writer, &writer) }
    do {
      try text.encode(value)
    } catch {
      if text.wasInterleaved && !usesNestedTexts { return false }
      throw text.translate(error)
    }
    if text.wasInterleaved && !usesNestedTexts { return false }
    text.assemble()
    if let failure = text.failure { throw failure }
    return true
  }
}

// MARK: - Values

extension EncodedText {
  /// Writes a value at the end of the text.
  func encode<T: Encodable>(_ value: T) throws {
    if T.self is any JSONWritable.Type, let direct = value as? any JSONWritable {
      if T.self == Double.self, let double = value as? Double { try check(double) }
      if T.self == Float.self, let float = value as? Float { try check(float) }
      return direct.place(in: &writer)
    }
    let depth = levels.count
    let start = writer.count
    let encoder = TextEncoder(text: self, depth: depth, start: start)
    if StandardForms.contains(T.self), let standard = value as? any StandardEncoding {
      try standard.encodeForm(to: encoder)
    } else {
      try value.encode(to: encoder)
    }
    close(to: depth)
    if writer.count == start { writeNothing() }
  }

  func check(_ number: some BinaryFloatingPoint) throws(JSONError) {
    guard number.isFinite else {
      throw JSONError(
        .number, "the number \(number) cannot be represented in JSON", path: path(to: writer.count))
    }
  }

  /// Writes the empty object that represents a type which encodes no value.
  private func writeNothing() {
    writer.beginObject()
    writer.endObject()
  }
}

// MARK: - Levels

extension EncodedText {
  /// Opens a container at the end of the text.
  /// - Returns: The id of its level, for `enter`.
  func open(_ kind: Level.Kind) -> Int {
    lastID += 1
    levels.append(Level(kind: kind, id: lastID, start: writer.count))
    switch kind {
    case .object: writer.beginObject()
    case .array: writer.beginArray()
    case .promise: break
    }
    return lastID
  }

  /// Closes all levels at a depth and deeper.
  func close(to depth: Int) {
    while levels.count > depth, let level = levels.popLast() {
      switch level.kind {
      case .object: writer.endObject()
      case .array: writer.endArray()
      case .promise: if writer.count == level.start { writeNothing() }
      }
    }
  }

  /// Makes a container the innermost level, so that a value can be written to it, and counts one
  /// entry.
  ///
  /// - Returns: False if the container is already closed; the whole value will then be written
  ///   again in patient mode.
  func enter(depth: Int, id: Int) -> Bool {
    guard depth < levels.count, levels[depth].id == id else {
      wasInterleaved = true
      if usesNestedTexts {
        failure = JSONError(.value, "a container was used after its value was complete")
      }
      return false
    }
    if levels.count > depth + 1 { close(to: depth + 1) }
    levels[depth].count += 1
    return true
  }

  /// Opens a container for the next value: in this text or, in patient mode, in a nested text.
  func openNested(
    _ kind: Level.Kind
  ) -> (text: EncodedText, depth: Int, start: Int, id: Int) {
    let text = usesNestedTexts ? insertion() : self
    let (depth, start) = (text.levels.count, text.writer.count)
    return (text, depth, start, text.open(kind))
  }

  /// Returns a container whose contents are discarded, because the whole value will be written
  /// again.
  static func discarded(
    _ kind: Level.Kind
  ) -> (text: EncodedText, depth: Int, start: Int, id: Int) {
    EncodedText(origin: 0, usesNestedTexts: true).openNested(kind)
  }

  /// Reserves the position of a value that has its own text, which is inserted here at the end.
  private func insertion() -> EncodedText {
    let text = EncodedText(origin: 0, usesNestedTexts: true)
    if writer.leaves != nil { text.writer.leaves = [] }
    insertions.append((writer.count, text))
    writer.needsComma = true
    return text
  }

  /// Closes all levels and inserts the nested texts.
  private func assemble() {
    close(to: 0)
    guard !insertions.isEmpty else { return }
    var whole = JSONWriter(reserving: writer.count)
    if writer.leaves != nil { whole.leaves = [] }
    var from = 0
    for (offset, text) in insertions {
      whole.append(writer, from..<offset)
      text.assemble()
      if let error = text.failure { fail(error) }
      whole.append(text.writer, 0..<text.writer.count)
      from = offset
    }
    whole.append(writer, from..<writer.count)
    whole.needsComma = writer.needsComma
    swap(&writer, &whole)
  }

  /// Lets the value fail. The first error counts; later ones are not made, since each path costs a search.
  func fail(_ error: @autoclosure () -> JSONError) {
    if failure == nil { failure = error() }
  }
}

// MARK: - Paths

extension EncodedText {
  /// Returns the path of the value at an offset of the text, or of the next value at the end.
  func path(to offset: Int) -> [JSONPathElement] {
    writer.withBytes { bytes in
      JSONPathElement.path(to: offset - origin, in: bytes.part(origin..<bytes.count))
    }
  }

  private func translate(_ error: any Error) -> JSONError {
    switch error {
    case let error as JSONError:
      return error
    case EncodingError.invalidValue(_, let context):
      return JSONError(
        .value, context.debugDescription.shortened,
        path: context.codingPath.map(JSONPathElement.init))
    default:
      return JSONError(.value, String(describing: error).shortened)
    }
  }
}

extension JSONWriter {
  /// Appends a range of another writer's text, with the leaves in that range.
  fileprivate mutating func append(_ other: borrowing JSONWriter, _ range: Range<Int>) {
    for leaf in other.leaves ?? [] where range.contains(leaf.offset) {
      leaves?.append(
        JSONLeaf(offset: leaf.offset - range.lowerBound + count, value: leaf.value))
    }
    append(other.storage.part(range))
  }
}

/// An encoder of the value that starts at an offset.
struct TextEncoder: Encoder {
  let text: EncodedText
  /// The number of levels that are open around the value.
  let depth: Int
  let start: Int

  var codingPath: [any CodingKey] { text.path(to: start).map(PathKey.init) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let id = open(.object)
    return KeyedEncodingContainer(
      KeyedEncoding(text: text, depth: depth, id: id, start: start, isPayload: false))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    SequenceEncoding(text: text, depth: depth, id: open(.array), start: start)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SingleEncoding(encoder: self)
  }

  /// Opens the value's container, or returns the open one: a class and its superclass share a
  /// container.
  private func open(_ kind: EncodedText.Level.Kind) -> Int {
    if depth < text.levels.count, text.levels[depth].kind == kind { return text.levels[depth].id }
    if text.writer.count != start { text.fail(twice) }
    return text.open(kind)
  }

  var twice: JSONError {
    JSONError(.value, "a value was encoded twice", path: text.path(to: start))
  }
}
