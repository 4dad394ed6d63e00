// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateMachines
import StatewireJSON

/// A state with a member of each type that docs/reference/types.md lists.
///
/// The numbers are those that JavaScript reads exactly.
struct AllTypes: Codable, Sendable {
  enum Column: String, Codable, CaseIterable {
    case todo = "to do"
    case doing, done
  }
  enum Level: Int, Codable {
    case low = 1
    case high = 10
  }
  enum Plain: Codable { case one, two }
  enum Place: Codable {
    case shelf(number: Int, label: String?)
    case box(Int, Bool)
    case nowhere
  }
  struct Point: Codable, Hashable { var x = 1, y = 2 }
  struct Name: Codable, Hashable {
    var text = "name"
    init() {}
    init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }
  struct Card: Codable, Identifiable {
    let id: UUID
    var title: String
  }

  var bool = true
  var string = "é\u{0}\"😀"
  var int = -9_007_199_254_740_991
  var int8 = Int8.min
  var int16 = Int16.min
  var int32 = Int32.min
  var int64: Int64 = 9_007_199_254_740_991
  var int128 = Int128.min
  var uint: UInt = 1
  var uint8 = UInt8.max
  var uint16 = UInt16.max
  var uint32 = UInt32.max
  var uint64: UInt64 = 9_007_199_254_740_991
  var uint128 = UInt128.max
  var double = 0.1
  var float: Float = 0.1
  var float16: Float16 = 1.5
  var cgFloat: CGFloat = 2.5
  var decimal = Decimal(sign: .minus, exponent: -2, significand: 1_234_567_890_123_456_789)
  var date = Date(timeIntervalSince1970: 1_795_690_219.25)
  var dateInterval = DateInterval(start: Date(timeIntervalSince1970: 0), duration: 60)
  var dateComponents = DateComponents(year: 2026, month: 11)
  var duration = Duration(secondsComponent: 1, attosecondsComponent: 500_000_000_000_000_001)
  var uuid = AllTypes.uuid
  var url = URL(filePath: "/tmp/a b", directoryHint: .notDirectory)
  var data = Data([0, 1, 254, 255])
  var locale = Locale(identifier: "de_DE")
  var timeZone = TimeZone.gmt
  var calendar = Calendar(identifier: .gregorian)
  var measurement = Measurement(value: 3, unit: UnitLength.meters)
  var indexSet: IndexSet = [1, 2, 5]
  var indexPath = IndexPath(indexes: [1, 2])
  var vector = SIMD2<Double>(1, 2)
  var optional: Int? = 1
  var absent: Date?
  var array = [1, 2]
  var contiguousArray: ContiguousArray = ["a"]
  var keyedList: KeyedList = [Card(id: AllTypes.uuid, title: "Milk")]
  var set: Set = ["b", "a"]
  var range = 1..<3
  var closedRange = Date(timeIntervalSince1970: 0)...Date(timeIntervalSince1970: 1)
  var rangeFrom = PartialRangeFrom(1)
  var rangeUpTo = PartialRangeUpTo(1)
  var rangeThrough = PartialRangeThrough(1)
  var byString = ["a": 1]
  var byInt = [1: true]
  var byColumn = [Column.todo: 1]
  var byLevel = [Level.high: 1]
  var byUUID = [AllTypes.uuid: 1]
  var byDate = [Date(timeIntervalSince1970: 0): 1]
  var byName = [Name(): 1]
  var byPoint = [Point(): "a"]
  var column = Column.todo
  var level = Level.low
  var plain = Plain.one
  var place = Place.shelf(number: 1, label: nil)
  var unlabelled = Place.box(1, true)
  var point = Point()
  var name = Name()
  var json: JSONValue = ["any": [1, .null]]

  private static let uuid = UUID(
    uuid: (
      0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F
    ))
}
