// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Canonical form")
struct CanonicalTests {
  @Test("the examples of RFC 8785 have their documented canonical form")
  func examples() throws {
    let cases = [
      (
        #"""
        {"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
         "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
         "literals": [null, true, false]}
        """#,
        #"{"literals":[null,true,false],"#
          + #""numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
          + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#
      ),
      (
        #"""
        {"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
         "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
         "\u00f6": "Latin Small Letter O With Diaeresis"}
        """#,
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\","
          + "\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\","
          + "\"😀\":\"Emoji: Grinning Face\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
      ),
      (#"[56,{"d":true,"10":null,"1":[]}]"#, #"[56,{"1":[],"10":null,"d":true}]"#),
    ]
    for (text, expected) in cases {
      #expect(try JSON.canonical(JSONValue(parsing: text)).text == expected)
      #expect(try digest(ofText: text) == JSON.digest(Array(expected.utf8)))
    }
  }

  @Test(
    "numbers are written as in RFC 8785, appendix B",
    arguments: [
      (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
      (0x8000_0000_0000_0001, "-5e-324"), (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
      (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"),
      (0x4340_0000_0000_0000, "9007199254740992"),
      (0xC340_0000_0000_0000, "-9007199254740992"),
      (0x4430_0000_0000_0000, "295147905179352830000"),
      (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
      (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"),
      (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
      (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"), (0x444B_1AE4_D6E2_EF50, "1e+21"),
      (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"), (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
      (0x41B3_DE43_5555_5553, "333333333.3333332"), (0x41B3_DE43_5555_5554, "333333333.33333325"),
      (0x41B3_DE43_5555_5555, "333333333.3333333"), (0x41B3_DE43_5555_5556, "333333333.3333334"),
      (0x41B3_DE43_5555_5557, "333333333.33333343"),
      (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
      (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
    ] as [(UInt64, String)])
  func numbers(_ bits: UInt64, _ expected: String) throws {
    let number = try #require(JSONNumber(Double(bitPattern: bits)))
    #expect(try JSON.canonical(.number(number)).text == expected)
    #expect(try digest(ofText: number.description) == JSON.digest(Array(expected.utf8)))
  }

  @Test("a number outside the range of `Double` is refused with its path")
  func overflow() throws {
    let value = try JSONValue(parsing: #"{"a":[1,1e400]}"#)
    let error = #expect(throws: JSONError.self) { try JSON.canonical(value) }
    #expect(error?.code == .number && error?.pathDescription == "/a/1")
  }

  @Test("a text and its tree have the same digest, with escapes, duplicate keys and any order")
  func texts() throws {
    for text in [
      #"{"b":1,"a":{"z":[],"y":"\u0041\n"},"b":2}"#, #"[-0,-0.0,0,12345678901234567890,1E2]"#,
      #"{"\u0062":1,"a":2,"b":3}"#, #"{"":0,"a":1,"aa":2,"A":3}"#, " [ true , null, false ] ",
      #"["a","b",1,"\u0063",{"k":["v","w"],"l":"x"},"é",[],"d"]"#, #"[-1,1e5,"é"]"#,
    ] {
      #expect(try digest(ofText: text) == JSON.digest(of: JSONValue(parsing: text)))
    }
    for text in ["[1", "[1]]", #"{"a":1e400}"#] {
      #expect(throws: JSONError.self) { try digest(ofText: text) }
    }
  }

  @Test("a text with many or repeated keys has the same digest as its tree")
  func manyKeys() throws {
    let falling = (0..<20_000).reversed().map { "\"\($0)\":\($0)" }
    let twice = (0..<2_000).map { "\"\($0 * 7_919 % 500)\":{\"b\":\($0),\"a\":[]}" }
    for members in [falling, twice] {
      let text = "{\(members.joined(separator: ","))}"
      #expect(try digest(ofText: text) == JSON.digest(of: JSONValue(parsing: text)))
    }
  }

  private func digest(ofText text: String) throws -> UInt32 {
    try Array(text.utf8).withUnsafeBytes { try JSON.digest(ofText: $0) }
  }

  @Test("the digest is CRC-32 of the canonical form")
  func digest() throws {
    #expect(JSON.digest([]) == 0)
    #expect(JSON.digest(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(JSON.digest(Array("The quick brown fox jumps over the lazy dog".utf8)) == 0x414F_A339)
    let one = try JSONValue(parsing: #"{"b":1.0,"a":[1e2]}"#)
    let other = try JSONValue(parsing: #"{"a":[100],"b":1}"#)
    #expect(try JSON.digest(of: one) == JSON.digest(of: other))
    #expect(try JSON.digest(of: one) == JSON.digest(Array(#"{"a":[100],"b":1}"#.utf8)))
  }
}
