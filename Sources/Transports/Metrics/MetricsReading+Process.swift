// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension MetricsReading {
  /// Adds the metrics of the process, under the names that all programs use.
  ///
  /// - Source: proc(5); https://prometheus.io/docs/instrumenting/writing_clientlibs (process metrics).
  mutating func addProcess() {
    let ticks = Double(sysconf(CInt(_SC_CLK_TCK)))
    // The name of the program, in parentheses, may contain blanks.
    if let stat = Self.contents("/proc/self/stat"), let end = stat.lastIndex(of: ")") {
      // The first of these is field 3.
      let fields = stat[stat.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
      if fields.count > 21, ticks > 0 {
        if let boot = Self.bootTime { add(.processStart, boot + fields[19] / ticks) }
        add(.processCPU, (fields[11] + fields[12]) / ticks)
        add(.processResident, fields[21] * Double(sysconf(CInt(_SC_PAGESIZE))))
        add(.processVirtual, fields[20])
      }
    }
    if let count = Self.openDescriptors { add(.processDescriptors, count) }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      add(.processMaximumDescriptors, limit.rlim_cur)
    }
  }

  /// The start of the machine, in seconds since 1970.
  private static var bootTime: Double? {
    contents("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
      .flatMap { Double($0.dropFirst(6)) }
  }

  private static var openDescriptors: Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Without `.`, `..` and the folder itself.
    return count - 3
  }

  private static func contents(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = fread(&part, 1, part.count, file)
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
