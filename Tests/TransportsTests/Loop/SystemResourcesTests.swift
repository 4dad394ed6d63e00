// SPDX-License-Identifier: Apache-2.0

import Testing
import TransportSupport

@testable import Transports

@Suite("Resources of the system")
struct SystemResourcesTests {
  @Test(
    "the affinity mask of a status file gives the number of processors",
    arguments: [
      ("Name:\tserver\nCpus_allowed:\t1\nCpus_allowed_list:\t0\n", 1),
      ("Cpus_allowed:\tf0\n", 4),
      ("Threads:\t3\nCpus_allowed:\tffffffff,00000001\nMems_allowed:\t1\n", 33),
      ("Cpus_allowed_list:\t0-3\n", nil),
      ("Cpus_allowed:\t0\n", nil),
      ("", nil),
    ] as [(String, Int?)])
  func mask(status: String, count: Int?) {
    #expect(SystemResources.allowedProcessors(inStatus: status) == count)
  }

  @Test("the status file of this thread has a mask, which bounds the number of processors")
  func own() throws {
    let status = try WholeFile("/proc/thread-self/status").bytes
    let text = String(decoding: status, as: UTF8.self)
    let allowed = try #require(SystemResources.allowedProcessors(inStatus: text))
    #expect((1...allowed).contains(SystemResources.processors))
  }
}
