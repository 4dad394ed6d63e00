// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Transports

@Suite("Limits of threads")
struct ThreadLimitsTests {
  @Test("the loads of the machine have the number of all tasks")
  func tasks() {
    #expect(ThreadLimits.allTasks("0.05 0.97 2.41 1/234 5678\n") == 234)
    #expect(ThreadLimits.allTasks("0.05 0.97 2.41 234 5678\n") == 234)
    #expect(ThreadLimits.allTasks("0.05 0.97\n") == nil)
    #expect(ThreadLimits.allTasks("a b c d/e f\n") == nil)
    #expect(ThreadLimits.allTasks("0.00 0.00 0.00 0/0 0\n") == nil)
  }

  @Test(
    "the control groups of the process and those that contain them must leave room",
    arguments: [
      ("0::/", [""], [:], true),
      ("0::/a/b", ["", "a/", "a/b/"], [:], true),
      ("0::/a/b", ["", "a/", "a/b/"], ["a/b/pids.max": "max", "a/pids.max": "max\n"], true),
      ("0::/a/b", ["", "a/", "a/b/"], ["a/b/pids.max": "100", "a/b/pids.current": "91\n"], false),
      ("0::/a/b", ["", "a/", "a/b/"], ["a/b/pids.max": "100", "a/b/pids.current": "90\n"], true),
      ("0::/a/b", ["", "a/", "a/b/"], ["a/pids.max": "100", "a/pids.current": "95"], false),
      // Without the number of tasks it is unknown.
      ("0::/a/b", ["", "a/", "a/b/"], ["a/b/pids.max": "100"], false),
      // Groups that are not there, and no groups at all.
      ("0::/a/b", ["", "a/"], [:], false), ("0::/", [], [:], false),
      // The groups of a container are within others, which it does not see.
      ("0::/", [""], ["pids.max": "max"], false), ("0::/", [""], ["cgroup.events": ""], false),
      ("0::/../a", ["", "a/"], [:], false),
      // The first version of control groups counts.
      (
        "3:cpu:/x\n2:pids:/a\n0::/b", ["", "b/", "pids/", "pids/a/"],
        ["pids/a/pids.max": "9", "pids/a/pids.current": "1"], false
      ),
      (
        "3:cpu:/x\n2:hugetlb,pids:/a\n0::/b", ["pids/", "pids/a/"], ["pids/a/pids.max": "max"],
        true
      ),
      ("3:cpu:/x", [""], [:], false), ("broken", [""], [:], false), ("", [""], [:], false),
    ] as [(String, [String], [String: String], Bool)])
  func groups(
    groups: String, folders: [String], files: [String: String], hasRoom: Bool
  ) throws {
    let root = try TestFolder()
    let processes = folders.map { ("\($0)cgroup.procs", "") }
    for (path, text) in processes + files.map({ ($0.key, $0.value) }) {
      let file = root.url.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: false, encoding: .utf8)
    }
    #expect(ThreadLimits.groupsLeaveRoom(for: 10, groups + "\n", folder: root.path) == hasRoom)
  }
}
