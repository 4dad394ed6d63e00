// SPDX-License-Identifier: Apache-2.0

extension JSONPathElement {
  /// The path of the value that an offset of a text lies in.
  ///
  /// This is how errors get their paths at no cost to those who make none: the text is walked from
  /// its start. What comes before `offset` is expected to be well formed; if it is not, the path is
  /// merely a worse hint.
  ///
  /// - Parameter ofContainer: Whether the path is to end with the innermost container and not with
  ///   the member or element of it that was come to last.
  static func path(
    to offset: Int, in text: UnsafeRawBufferPointer, ofContainer: Bool = false
  ) -> [JSONPathElement] {
    /// A container that is open at the place reached so far.
    enum Step {
      case object(key: Range<Int>?)
      case array(index: Int)
    }
    var steps: [Step] = []
    var wantsKey = false
    var at = 0
    let limit = min(offset, text.count)
    while at < limit {
      switch text[at] {
      case UInt8(ascii: "{"):
        steps.append(.object(key: nil))
        wantsKey = true
      case UInt8(ascii: "["):
        steps.append(.array(index: 0))
        wantsKey = false
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = steps.popLast()
        wantsKey = false
      case UInt8(ascii: ","):
        switch steps.popLast() {
        case .object?:
          steps.append(.object(key: nil))
          wantsKey = true
        case .array(let index)?:
          steps.append(.array(index: index + 1))
        case nil:
          break
        }
      case UInt8(ascii: "\""):
        let start = at + 1
        at = start
        while at < text.count, text[at] != UInt8(ascii: "\"") {
          at += text[at] == UInt8(ascii: "\\") ? 2 : 1
        }
        if wantsKey, at < limit {
          _ = steps.popLast()
          steps.append(.object(key: start..<at))
          wantsKey = false
        }
      default:
        break
      }
      at += 1
    }
    if ofContainer { _ = steps.popLast() }
    return steps.compactMap { step in
      switch step {
      case .object(let key?):
        .key(Unescaping.string(of: text.part(key)))
      case .object(nil):
        nil
      case .array(let index):
        .index(index)
      }
    }
  }
}
