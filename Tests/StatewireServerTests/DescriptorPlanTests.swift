// SPDX-License-Identifier: Apache-2.0

import ServerCore
import Testing
import Transports

@testable import StatewireServer

@Suite("Descriptor plan")
struct DescriptorPlanTests {
  private let needs = DescriptorPlan.Needs(listeners: 3, stdio: true, hosts: 2, files: 1)

  @Test("the plan grants the requested numbers if there are enough descriptors")
  func enough() throws {
    let plan = try DescriptorPlan(needs, limit: 1 << 20, open: 6, wanted: ServerLimits())
    #expect(plan.connections == ServerLimits().connections)
    #expect(plan.refusedConnections == ServerLimits().refusedConnections)
    #expect(plan.connectionsPerHost == 256)
    #expect(plan.openFiles == 64)
  }

  @Test(
    "the plan never exceeds the limit of descriptors, and reserves some",
    arguments: [60, 64, 256, 1024, 10_000])
  func few(limit: Int) throws {
    let open = 6
    let needs = DescriptorPlan.Needs(listeners: 2, files: 1)
    let plan = try DescriptorPlan(needs, limit: limit, open: open, wanted: ServerLimits())
    let given = plan.connections + plan.refusedConnections + 2 * plan.openFiles
    #expect(given <= limit - open - 20)
    #expect(plan.connections >= 1)
    #expect(plan.refusedConnections >= 1)
    #expect(plan.openFiles >= 1)
    #expect(plan.connections > given / 2)
  }

  @Test("the error states the remedy if there are too few descriptors")
  func tooFew() throws {
    for limit in 0..<24 {
      let error = #expect(throws: StartupError.self) {
        try DescriptorPlan(
          DescriptorPlan.Needs(listeners: 1), limit: limit, open: 6, wanted: ServerLimits())
      }
      #expect(error?.message.contains("raise the limit (ulimit -n)") == true)
    }
  }
}
