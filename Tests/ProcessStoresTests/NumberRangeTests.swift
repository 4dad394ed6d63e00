// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("The range of numbers")
struct NumberRangeTests {
  private static let digits = String(repeating: "9", count: 309)

  @Test(
    "a number beyond Double is found",
    arguments: [
      #"{"a":1e400}"#, #"[1,-2E999]"#, #"{"a\"b":"\\","c":\#(digits)}"#, #"["\\\"",1e309]"#,
      #"{"a":[1e999],"a":1}"#,
    ])
  func beyond(text: String) {
    #expect(throws: JSONError.self) {
      try Array(text.utf8).withUnsafeBytes { try JSON.checkNumbers($0) }
    }
  }

  // An id with a digit before an e made each message a tree of values.
  @Test(
    "the content of strings is no number, and costs no second reading",
    arguments: [
      #"{"id":"7e3f-12E400"}"#, #"{"7e400":"\"9e9\\"}"#, #"["\#(digits)",12.5,-3]"#,
    ])
  func strings(text: String) throws {
    let mayBeBeyond = Array(text.utf8).withUnsafeBytes { JSON.mayHaveLargeNumber($0) }
    #expect(!mayBeBeyond)
    try Array(text.utf8).withUnsafeBytes { try JSON.checkNumbers($0) }
  }

  @Test("numbers beyond Double are found at each offset")
  func offsets() {
    for length in 0..<20 {
      let space = String(repeating: " ", count: length)
      for number in ["1e999", "\(Self.digits)", "1E+400", "[9e400]", "{\"\":5e999}"] {
        for text in [space + number, "[\"\(space)\",\(number)]", number + space] {
          #expect(throws: JSONError.self, "\(text.prefix(60))") {
            try Array(text.utf8).withUnsafeBytes { try JSON.checkNumbers($0) }
          }
        }
      }
    }
  }
}
