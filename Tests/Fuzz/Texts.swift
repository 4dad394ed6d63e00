// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON

/// Texts that may be JSON, through every way of reading them.
///
/// The plain reader and the strict reader must agree on each value and each error. All ways must
/// agree on whether a text is JSON. A value must not change when it is written and read again.
/// Decoding a type from a text must give the same result as decoding it from the text's value.
enum Texts {
  static func run(_ bytes: [UInt8]) {
    let read = try? bothWays("reading") {
      Result { () throws(JSONError) in try JSONValue(parsing: bytes) }
    }.get()
    expect((read != nil) == skips(bytes, JSONLimits()), "reading and skipping disagree")
    // Few texts of random bytes exceed the usual limit of depth.
    _ = skips(bytes, JSONLimits(maximumDepth: 3))
    if let read { writes(read) }
    decode(TodoInput.self, bytes, read)
    decode(FormInput.self, bytes, read)
    decode(LoadingInput.self, bytes, read)
    decode(TodoConfiguration.self, bytes, read)
    decode(LoaderConfiguration.self, bytes, read)
    decode(LoadedValue.self, bytes, read)
    decode(DecimalNumber.self, bytes, read)
    decode(Seconds.self, bytes, read)
    decode(Double.self, bytes, read)
    decode([Int?].self, bytes, read)
    decode(Shape.self, bytes, read)
    decode(Initialize.Params.self, bytes, read)
  }

  private static func skips(_ bytes: [UInt8], _ limits: JSONLimits) -> Bool {
    let value = bothWays("skipping") {
      bytes.withUnsafeBytes { bytes in
        Result { () throws(JSONError) in
          var reader = JSONReader(bytes, limits: limits)
          let value = try reader.skipValue()
          try reader.finish()
          return value
        }
      }
    }
    return (try? value.get()) != nil
  }

  private static func writes(_ read: JSONValue) {
    let text = read.bytes
    let again = value(text)
    expect(again == read, "a value changes when it is written and read again")
    expect(again?.bytes == text, "written twice, a value has two texts")
    guard let canonical = try? JSON.canonical(read) else { return }
    let digest = text.withUnsafeBytes { try? JSON.digest(ofText: $0) }
    expect(digest == JSON.digest(canonical), "a text has another digest than its tree")
    let back = value(canonical)
    expect(back != nil, "the canonical form is not JSON")
    expect(
      back.flatMap { try? JSON.canonical($0) } == canonical,
      "the canonical form of a canonical form differs from it")
  }

  /// Decodes a type from a text, and from the value of the text.
  private static func decode<T: Decodable>(_ type: T.Type, _ bytes: [UInt8], _ read: JSONValue?) {
    func decoding() -> Result<T, JSONError> {
      Result { () throws(JSONError) in try JSON.decode(type, from: bytes) }
    }
    let decoded = decoding()
    _ = bothWays("\(type)") { decoding().map(encoded) }
    switch decoded {
    case .success: expect(read != nil, "\(type) was decoded from text that is not JSON")
    case .failure(let error): expect(!error.description.isEmpty, "an error has no description")
    }
    guard let read else { return }
    let fromTree = try? JSON.decode(type, from: read)
    expect((fromTree != nil) == ((try? decoded.get()) != nil), "\(type): text and tree disagree")
    guard let encoded = encoded(fromTree) else { return }
    expect(encoded == self.encoded(try? decoded.get()), "\(type): text and tree differ")
    let again = try? JSON.decode(type, from: encoded)
    expect(self.encoded(again) == encoded, "\(type): encoded and decoded, it is another one")
  }

  private static func encoded(_ value: Any?) -> [UInt8]? {
    (value as? any Encodable).flatMap { try? JSON.encode($0) }
  }
}

/// A type with the features of synthesized coders: nesting, payloads, dictionaries and absent
/// members.
indirect enum Shape: Codable {
  case nothing
  case point(x: Int8, y: Double?)
  case text(_ type: String, flags: [String: Bool?])
  case many(of: [Shape], last: Shape?)
}
