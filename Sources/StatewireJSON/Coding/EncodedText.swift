// SPDX-License-Identifier: Apache-2.0

/// The text that one call of `JSON.write` writes, shared by its encoder and containers.
///
/// Containers of the standard library are never told that they are complete. Here one is as soon as
/// something is written outside it, so the text comes about in one go. Should a type go back to a
/// container that was taken for complete, all is written once more, *patiently*: every nested
/// container then has a text of its own, and they are put together at the end.
final class EncodedText {
  /// A container that is open, or the place of a value that has been promised.
  struct Level {
    enum Kind { case object, array, promise }
    let kind: Kind
    /// Tells levels apart that have come and gone at one depth.
    let id: Int
    /// Where it starts in the text.
    let start: Int
    var count = 0
  }

  // Unchecked because every access is a plain call that ends before the next one begins: what is
  // written through `JSONWritable` gets the writer and never sees this object.
  @exclusivity(unchecked) var writer: JSONWriter
  @exclusivity(unchecked) private(set) var levels: [Level] = []
  private var lastID = 0
  /// Where the document starts in the text, for paths.
  private let origin: Int
  /// An error that happened where none can be thrown.
  private var failure: JSONError?
  /// Whether a type has gone back to a container that was complete.
  private var wasInterleaved = false
  /// While patient, the texts to be inserted and where.
  private var insertions: [(offset: Int, text: EncodedText)] = []
  let isPatient: Bool

  /// A text that is empty up to the document's start.
  private init(origin: Int, isPatient: Bool) {
    writer = JSONWriter()
    self.origin = origin
    self.isPatient = isPatient
  }

  static func write<T: Encodable>(
    _ value: T, to writer: inout JSONWriter
  ) throws(JSONError) {
    let start = writer.count
    let needsComma = writer.needsComma
    do {
      if try attempt(value, to: &writer, isPatient: false) { return }
      writer.truncate(to: start)
      writer.needsComma = needsComma
      _ = try attempt(value, to: &writer, isPatient: true)
    } catch {
      writer.truncate(to: start)
      writer.needsComma = needsComma
      throw error
    }
  }

  /// Writes a value; false if that has to be done patiently.
  private static func attempt<T: Encodable>(
    _ value: T, to writer: inout JSONWriter, isPatient: Bool
  ) throws(JSONError) -> Bool {
    writer.separate()
    writer.needsComma = false
    let text = EncodedText(origin: writer.count, isPatient: isPatient)
    swap(&text.writer, &writer)
    defer { swap(&text.writer, &writer) }
    do {
      try text.encode(value)
    } catch {
      if text.wasInterleaved && !isPatient { return false }
      throw text.translate(error)
    }
    if text.wasInterleaved && !isPatient { return false }
    text.assemble()
    if let failure = text.failure { throw failure }
    return true
  }
}

// MARK: - Values

extension EncodedText {
  /// Writes a value where the text stands.
  func encode<T: Encodable>(_ value: T) throws {
    if T.self is any JSONWritable.Type, let direct = value as? any JSONWritable {
      if let double = value as? Double { try check(double) }
      if let float = value as? Float { try check(float) }
      return direct.place(in: &writer)
    }
    let depth = levels.count
    let start = writer.count
    try value.encode(to: TextEncoder(text: self, depth: depth, start: start))
    close(to: depth)
    if writer.count == start { writeNothing() }
  }

  func check(_ number: some BinaryFloatingPoint) throws(JSONError) {
    guard number.isFinite else {
      throw JSONError(.number, "JSON has no number for \(number)", path: path(to: writer.count))
    }
  }

  /// What a type comes to that encodes nothing at all.
  private func writeNothing() {
    writer.beginObject()
    writer.endObject()
  }
}

// MARK: - Levels

extension EncodedText {
  /// Opens a container where the text stands.
  /// - Returns: What identifies it to `isReady`.
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

  /// Completes all levels from a depth on.
  func close(to depth: Int) {
    while levels.count > depth, let level = levels.popLast() {
      switch level.kind {
      case .object: writer.endObject()
      case .array: writer.endArray()
      case .promise: if writer.count == level.start { writeNothing() }
      }
    }
  }

  /// Makes a container the innermost one, so that it can be written to; counts one entry more.
  ///
  /// - Returns: Whether that was possible. If not, all will be written once more.
  func enter(depth: Int, id: Int) -> Bool {
    guard depth < levels.count, levels[depth].id == id else {
      wasInterleaved = true
      if isPatient {
        failure = JSONError(.value, "a container was used after its value was complete")
      }
      return false
    }
    if levels.count > depth + 1 { close(to: depth + 1) }
    levels[depth].count += 1
    return true
  }

  /// Opens a container for the value that comes next, in this text or, while patient, in its own.
  func openNested(
    _ kind: Level.Kind
  ) -> (text: EncodedText, depth: Int, start: Int, id: Int) {
    let text = isPatient ? insertion() : self
    let (depth, start) = (text.levels.count, text.writer.count)
    return (text, depth, start, text.open(kind))
  }

  /// A container for what will be written once more anyway.
  static func discarded(
    _ kind: Level.Kind
  ) -> (text: EncodedText, depth: Int, start: Int, id: Int) {
    EncodedText(origin: 0, isPatient: true).openNested(kind)
  }

  /// Promises a value that stands in a text of its own, inserted here at the end.
  private func insertion() -> EncodedText {
    let text = EncodedText(origin: 0, isPatient: true)
    if writer.leaves != nil { text.writer.leaves = [] }
    insertions.append((writer.count, text))
    writer.needsComma = true
    return text
  }

  /// Completes the text and puts the insertions in.
  private func assemble() {
    close(to: 0)
    guard !insertions.isEmpty else { return }
    var whole = JSONWriter(reserving: writer.count)
    if writer.leaves != nil { whole.leaves = [] }
    var from = 0
    for (offset, text) in insertions {
      whole.append(writer, from..<offset)
      text.assemble()
      if let error = text.failure { failure = error }
      whole.append(text.writer, 0..<text.writer.count)
      from = offset
    }
    whole.append(writer, from..<writer.count)
    whole.needsComma = writer.needsComma
    swap(&writer, &whole)
  }

  func fail(_ error: JSONError) { failure = error }
}

// MARK: - Paths

extension EncodedText {
  /// The path of what stands, or is to stand, at an offset of the text.
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
  /// Writes a part of what another writer holds, values put aside included.
  fileprivate mutating func append(_ other: borrowing JSONWriter, _ range: Range<Int>) {
    for leaf in other.leaves ?? [] where range.contains(leaf.offset) {
      leaves?.append(
        JSONLeaf(offset: leaf.offset - range.lowerBound + count, value: leaf.value))
    }
    append(other.storage.part(range))
  }
}

/// An encoder of the value that is to stand at an offset.
struct TextEncoder: Encoder {
  let text: EncodedText
  /// How many levels are open around the value.
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

  /// Opens the value's container, or finds it open: a class and its superclass share one.
  private func open(_ kind: EncodedText.Level.Kind) -> Int {
    if depth < text.levels.count, text.levels[depth].kind == kind { return text.levels[depth].id }
    if text.writer.count != start { text.fail(twice) }
    return text.open(kind)
  }

  var twice: JSONError {
    JSONError(.value, "a value was encoded twice", path: text.path(to: start))
  }
}
