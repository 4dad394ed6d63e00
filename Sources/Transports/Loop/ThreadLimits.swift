// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import TransportSupport

/// The limits of threads, as far as they are read faster than threads are started.
enum ThreadLimits {
  /// True if the limits leave so much room that `count` threads can be started for sure; false if they do
  /// not, or if that is unknown.
  ///
  /// - Source: getrlimit(2), proc(5), and "PID" in the kernel's description of control groups.
  static func leaveRoom(for count: Int) -> Bool {
    let now = ContinuousClock.now
    let isKnown = lastRoom.withLock { last in
      guard let found = last, count <= found.count, now - found.time < .seconds(1) else {
        return false
      }
      last?.count -= count
      return true
    }
    if isKnown { return true }
    guard limitsAdmit(count + reserve) else { return false }
    lastRoom.withLock { $0 = (count, now) }
    return true
  }

  /// The threads of the present start that have room: the server checks all its threads, and then
  /// those of its loops, which are among them.
  private static let lastRoom = Mutex<(count: Int, time: ContinuousClock.Instant)?>(nil)

  private static func limitsAdmit(_ wanted: Int) -> Bool {
    // The stack of a thread counts as address space and as data, and is reserved without overcommitment.
    guard limit(RLIMIT_AS) == nil, limit(RLIMIT_DATA) == nil,
      let overcommitment = file("/proc/sys/vm/overcommit_memory").flatMap(number),
      overcommitment < 2,
      let maximumTasks = file("/proc/sys/kernel/threads-max").flatMap(number),
      let maximumID = file("/proc/sys/kernel/pid_max").flatMap(number),
      let tasks = file("/proc/loadavg").flatMap(allTasks),
      min(limit(__RLIMIT_NPROC) ?? .max, maximumTasks, maximumID) - tasks >= wanted,
      let groups = file("/proc/self/cgroup")
    else { return false }
    return groupsLeaveRoom(for: wanted, groups, folder: "/sys/fs/cgroup")
  }

  /// Threads that other processes may start meanwhile.
  private static let reserve = 256

  /// Returns the number of all tasks of the machine, which is not less than that of the user.
  ///
  /// - Parameter loads: The text of `/proc/loadavg`.
  static func allTasks(_ loads: String) -> Int? {
    let words = loads.utf8.split(separator: UInt8(ascii: " "))
    // Some sandboxes report 0.
    guard words.count > 3,
      let tasks = words[3].split(separator: UInt8(ascii: "/")).last.flatMap({ Int(Substring($0)) }),
      tasks > 0
    else { return nil }
    return tasks
  }

  /// True if all control groups of the process leave room for more tasks.
  ///
  /// - Parameters:
  ///   - wanted: The number of tasks.
  ///   - groups: The text of `/proc/self/cgroup`.
  ///   - folder: The folder of the control groups.
  static func groupsLeaveRoom(for wanted: Int, _ groups: String, folder: String) -> Bool {
    var unified: Substring?
    // Bytes are divided faster than characters.
    for line in groups.utf8.split(separator: UInt8(ascii: "\n")) {
      let fields = line.split(
        separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return false }
      let controllers = fields[1].split(separator: UInt8(ascii: ","))
      if controllers.contains(where: { $0.elementsEqual("pids".utf8) }) {
        return groupsLeaveRoom(for: wanted, at: Substring(fields[2]), in: "\(folder)/pids")
      }
      if fields[0].elementsEqual("0".utf8), fields[1].isEmpty { unified = Substring(fields[2]) }
    }
    return unified.map { groupsLeaveRoom(for: wanted, at: $0, in: folder) } ?? false
  }

  /// Checks a group and those that contain it.
  private static func groupsLeaveRoom(
    for wanted: Int, at path: Substring, in folder: String
  ) -> Bool {
    // A process may be outside of the groups that it sees.
    guard !path.split(separator: "/").contains("..") else { return false }
    var path = path.drop { $0 == "/" }
    while true {
      let group = path.isEmpty ? folder : "\(folder)/\(path)"
      guard access("\(group)/cgroup.procs", F_OK) == 0 else { return false }
      let limit = file("\(group)/pids.max")
      // The root has neither, so this is the group of a container, and those that contain it are not seen.
      if path.isEmpty, limit != nil || access("\(group)/cgroup.events", F_OK) == 0 { return false }
      if let limit {
        // "max" is not a number.
        if let limit = number(limit) {
          guard let tasks = file("\(group)/pids.current").flatMap(number), limit - tasks >= wanted
          else { return false }
        }
      }
      guard !path.isEmpty else { return true }
      path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    }
  }

  private static func number(_ text: String) -> Int? {
    Int(Substring(text.utf8.prefix { $0 > UInt8(ascii: " ") }))
  }

  private static func file(_ path: String) -> String? {
    (try? WholeFile(path).bytes).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the limit of a resource; nil for none.
  private static func limit(_ resource: __rlimit_resource) -> Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return 0 }
    return limit.rlim_cur == .max ? nil : Int(clamping: limit.rlim_cur)
  }
}
