// SPDX-License-Identifier: Apache-2.0

// The fast path for *plain* text: no escapes, only ASCII in strings, only whole numbers. Nearly all
// text from clients is plain. For other text these functions return -1, whether it is valid or not,
// and the strict reader reads it again and reports errors. Each byte of a plain message is
// therefore read once, eight bytes at a time, with all state in registers.

extension JSONReader {
  /// Returns the offset after a plain string's closing quotation mark.
  ///
  /// - Parameter start: The offset after the opening quotation mark.
  @inline(__always)
  func plainStringEnd(from start: Int) -> Int {
    #if FUZZING
      if FastPaths.areOff { return -1 }
    #endif
    var offset = start
    while offset &+ 8 <= end {
      let word = UInt64(
        littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let stops = Self.stops(in: word)
      guard stops != 0 else {
        offset &+= 8
        continue
      }
      offset &+= stops.trailingZeroBitCount >> 3
      return text[offset] == UInt8(ascii: "\"") ? offset &+ 1 : -1
    }
    while offset < end {
      let byte = text[offset]
      offset &+= 1
      if byte == UInt8(ascii: "\"") { return offset }
      if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\\") { return -1 }
    }
    return -1
  }

  /// Returns the offset after any plain value that starts at an offset.
  func plainValueEnd(from start: Int) -> Int {
    #if FUZZING
      if FastPaths.areOff { return -1 }
    #endif
    var offset = start
    // One bit for each open container; 1 for an object.
    var objects: UInt64 = 0
    var open = 0
    let room = min(Int(maximumDepth &- depth), 63)
    while true {
      offset = plainSpaceEnd(from: offset)
      guard offset < end else { return -1 }
      let byte = text[offset]
      switch byte {
      case UInt8(ascii: "\""):
        offset = plainStringEnd(from: offset &+ 1)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        guard open < room else { return -1 }
        let isObject = byte == UInt8(ascii: "{")
        offset = plainSpaceEnd(from: offset &+ 1)
        guard offset < end else { return -1 }
        // In ASCII, the code of a closing bracket is the code of its opening bracket plus 2.
        if text[offset] == byte &+ 2 {
          offset &+= 1
          break
        }
        open &+= 1
        objects = objects &<< 1 | (isObject ? 1 : 0)
        if isObject { offset = plainKeyEnd(from: offset) }
        guard offset >= 0 else { return -1 }
        continue
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        offset = plainNumberEnd(from: offset)
      case UInt8(ascii: "t"):
        offset = plainEnd(of: 0x6575_7274, from: offset)
      case UInt8(ascii: "n"):
        offset = plainEnd(of: 0x6C6C_756E, from: offset)
      case UInt8(ascii: "f"):
        // Compares the last four letters of `false`.
        offset = plainEnd(of: 0x6573_6C61, from: offset &+ 1)
      default:
        return -1
      }
      guard offset >= 0 else { return -1 }
      // Leave the containers that end here, until one has another value or the outermost value is
      // complete.
      while open > 0 {
        offset = plainSpaceEnd(from: offset)
        guard offset < end else { return -1 }
        let byte = text[offset]
        offset &+= 1
        if byte == UInt8(ascii: ",") {
          if objects & 1 == 1 { offset = plainKeyEnd(from: plainSpaceEnd(from: offset)) }
          guard offset >= 0 else { return -1 }
          break
        }
        guard byte == (objects & 1 == 1 ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return -1 }
        open &-= 1
        objects = objects &>> 1
      }
      if open == 0 { return offset }
    }
  }

  /// Returns the offset after a plain key and its colon.
  @inline(__always)
  private func plainKeyEnd(from start: Int) -> Int {
    guard start < end, text[start] == UInt8(ascii: "\"") else { return -1 }
    let offset = plainStringEnd(from: start &+ 1)
    guard offset >= 0 else { return -1 }
    let colon = plainSpaceEnd(from: offset)
    return colon < end && text[colon] == UInt8(ascii: ":") ? colon &+ 1 : -1
  }

  /// Returns the offset of the first byte that is not white space.
  @inline(__always)
  private func plainSpaceEnd(from start: Int) -> Int {
    var offset = start
    while offset < end, text[offset] <= 0x20 {
      let byte = text[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
      offset &+= 1
    }
    return offset
  }

  /// Returns the offset after a whole number.
  @inline(__always)
  private func plainNumberEnd(from start: Int) -> Int {
    var offset = text[start] == UInt8(ascii: "-") ? start &+ 1 : start
    let digits = offset
    while offset < end, text[offset] &- UInt8(ascii: "0") < 10 { offset &+= 1 }
    guard offset > digits else { return -1 }
    if offset > digits &+ 1, text[digits] == UInt8(ascii: "0") { return -1 }
    guard offset < end else { return offset }
    let byte = text[offset]
    return byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") ? -1 : offset
  }

  /// Returns the offset after four letters, which are given in memory order, lowest byte first.
  @inline(__always)
  private func plainEnd(of letters: UInt32, from start: Int) -> Int {
    guard start &+ 4 <= end else { return -1 }
    let word = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: start, as: UInt32.self))
    return word == letters ? start &+ 4 : -1
  }
}
