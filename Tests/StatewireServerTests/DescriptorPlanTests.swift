// SPDX-License-Identifier: Apache-2.0

import Admin
import RemoteSources
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

  @Test(
    "with few descriptors the plan gives no more than there are, and each source can be used",
    arguments: [
      DescriptorPlan.Needs(listeners: 1), DescriptorPlan.Needs(listeners: 1, files: 1),
      DescriptorPlan.Needs(listeners: 1, perConnection: 2, admin: true),
      DescriptorPlan.Needs(listeners: 3, stdio: true, hosts: 2, files: 1),
      DescriptorPlan.Needs(listeners: 1, hosts: 100), DescriptorPlan.Needs(hosts: 1, files: 3),
    ])
  func fewest(needs: DescriptorPlan.Needs) throws {
    let open = 6
    var plans = 0
    for limit in 0..<needs.minimum + 512 {
      guard
        let plan = try? DescriptorPlan(needs, limit: limit, open: open, wanted: ServerLimits())
      else {
        #expect(plans == 0, "no plan with \(limit) descriptors, but one with fewer")
        continue
      }
      plans += 1
      // With two for sockets that are closed immediately; a server that does not listen has none.
      let clients = plan.connections * needs.perConnection + plan.refusedConnections
      var given = needs.listeners > 0 ? clients + 2 : 0
      given += 2 * needs.hosts * plan.connectionsPerHost
      if needs.files > 0 { given += 2 * plan.openFiles }
      #expect(given <= limit - open - needs.minimum)
      #expect(plan.connections >= 1 && plan.refusedConnections >= 1)
      #expect(plan.connectionsPerHost >= 1 && plan.openFiles >= 1)
    }
    #expect(plans > 100)
  }

  @Test("the largest limits do not overflow")
  func largest() throws {
    var wanted = ServerLimits()
    wanted.connections = .max
    wanted.refusedConnections = .max
    let plan = try DescriptorPlan(needs, limit: 1024, open: 6, wanted: wanted)
    #expect(plan.connections < 1024 && plan.refusedConnections < 1024)
  }

  @Test("a connection that can be sent a file of a folder has a descriptor for it")
  func webFolder() throws {
    var configuration = ServerConfiguration(kinds: [])
    configuration.listeners = [.web(host: "127.0.0.1", port: 0)]
    configuration.limits.connections = .max
    let connections = try DescriptorPlan(for: configuration).connections
    configuration.site.folder = "page"
    #expect(try DescriptorPlan(for: configuration).connections <= connections / 2 + 1)
  }

  @Test("the admin interface needs a descriptor for each of its connections")
  func admin() {
    let needs = (DescriptorPlan.Needs(admin: true).minimum, DescriptorPlan.Needs().minimum)
    #expect(needs.0 - needs.1 == AdminInterface.descriptors)
    #expect(AdminInterface.descriptors > AdminInterface.maximumConnections)
  }

  // SwiftNIO ends the process if it cannot start them with the first file that a client requests.
  @Test("the threads that read the files of a folder are counted at the start")
  func threadsOfFolder() {
    let needs = DescriptorPlan.Needs(listeners: 1, perConnection: 2)
    #expect(needs.threads > DescriptorPlan.Needs(listeners: 1).threads)
  }

  @Test("HTTP sources of one server use the descriptors of one")
  func origins() throws {
    var configuration = ServerConfiguration(kinds: [])
    configuration.listeners = [.tcp(host: "127.0.0.1", port: 0)]
    configuration.kinds = .builtin
    configuration.builtin.sources = try (0..<100_000).map {
      try SourceArgument("source\($0)=http://127.0.0.1/\($0)")
    }
    #expect(throws: Never.self) { try DescriptorPlan(for: configuration) }
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
