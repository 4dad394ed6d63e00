// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateMachines
import StateMachinesTesting
import StatewireJSON
import Testing

struct Parcel: Codable, Identifiable, Equatable, Sendable {
  var id = UUID()
  var content: String
  var grams: Int?
  var sent: Date?
  var destination: PostalCode?
}

struct PostalCode: Codable, Equatable, Sendable {
  let digits: String

  init(from decoder: any Decoder) throws {
    digits = try decoder.singleValueContainer().decode(String.self)
    guard digits.utf8.count == 5 else { throw JSONError(.value, "five digits are needed") }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(digits)
  }
}

extension PostalCode: JSONDescribed {
  static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(pattern: "^[0-9]{5}$", example: "10115")
  }
}

extension Parcel: SchemaDocumented {
  static let schemaDescription: String? = "Something that is on its way."
  static let memberDescriptions = ["sent": "The time at which it left the shop."]
}

struct Parcels: StateMachine {
  enum Input: Codable, Sendable {
    case ordered(content: String)
    case weighed(id: UUID, grams: Int)
    case preferred(id: UUID)
    case delivered(id: UUID)
  }
  struct State: Codable, Sendable { var parcels: KeyedList<Parcel> = [] }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .ordered(let content): state.parcels.append(Parcel(content: content))
    case .weighed(let id, let grams): state.parcels[id: id]?.grams = grams
    case .preferred(let id): state.parcels.move(id: id, before: state.parcels.first?.id)
    case .delivered(let id): state.parcels[id: id] = nil
    }
  }
}

@Suite("The examples of the page about types")
struct TypesExampleTests {
  @Test("the list of parcels is changed by id")
  func parcels() {
    let machine = Parcels()
    var state = machine.initialState
    machine.reduce(&state, .ordered(content: "Milk"))
    machine.reduce(&state, .ordered(content: "Bread"))
    let ids = state.parcels.map(\.id)
    machine.reduce(&state, .weighed(id: ids[1], grams: 500))
    machine.reduce(&state, .preferred(id: ids[1]))
    #expect(state.parcels.map(\.content) == ["Bread", "Milk"])
    #expect(state.parcels[id: ids[1]]?.grams == 500)
    machine.reduce(&state, .delivered(id: ids[0]))
    #expect(state.parcels.map(\.id) == [ids[1]])
  }

  @Test("the types have the schemas that they describe")
  func schemas() throws {
    let schemas = JSONSchemas()
    _ = schemas.written(Parcels.State.self)
    #expect(schemas.takeWarnings() == [])
    let definitions = schemas.finished([:], prefix: "#/").definitions
    #expect(definitions["Parcel"]?["description"] == "Something that is on its way.")
    #expect(definitions["PostalCode"]?["pattern"] == "^[0-9]{5}$")
  }
}
