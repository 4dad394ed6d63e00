// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import StateMachines
internal import Transports

/// The service manager that has started the process, for example systemd, and waits for notices.
///
/// A notice is a datagram with lines `NAME=VALUE` to the Unix socket in `NOTIFY_SOCKET`. It is not
/// confirmed, and one that cannot be sent is lost: the server does not depend on its manager.
///
/// After the notice that the server ends, none says that it is ready or reloads.
///
/// - Source: sd_notify(3), sd_watchdog_enabled(3).
final class ServiceManager: Sendable {
  private let address: sockaddr_un
  private let length: socklen_t
  /// Half of the time after which the manager restarts a process that does not respond; nil if it
  /// does not.
  let watchdogInterval: Duration?
  /// True after the notice that the server ends. A notice is sent in the lock, so that none comes after it.
  private let isStopping = Lock(false)

  /// Finds the manager; nil if there is none.
  ///
  /// - Parameters:
  ///   - process: The id of this process.
  ///   - variable: Returns the value of an environment variable.
  init?(process: pid_t = getpid(), variable: (String) -> String? = Environment.variable) {
    guard let path = variable("NOTIFY_SOCKET"), path.first == "/" || path.first == "@" else {
      return nil
    }
    var (address, bytes) = (sockaddr_un(), Array(path.utf8))
    // A name without a file begins with a zero byte (unix(7)).
    if path.first == "@" { bytes[0] = 0 }
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard bytes.count < place.count else { return false }
      place.copyBytes(from: bytes)
      return true
    }
    guard fits, let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else { return nil }
    self.address = address
    length = socklen_t(start + bytes.count)
    watchdogInterval = Self.watchdogInterval(process, variable)
  }

  private static func watchdogInterval(
    _ process: pid_t, _ variable: (String) -> String?
  ) -> Duration? {
    guard let microseconds = variable("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0
    else { return nil }
    // The variables of a manager are inherited by processes that it does not watch.
    if let watched = variable("WATCHDOG_PID"), watched != "\(process)" { return nil }
    return .microseconds(microseconds / 2)
  }

  /// Notifies the service manager that the server serves clients.
  func isReady() { sendUnlessStopping("READY=1") }

  /// Notifies the service manager that the server reads its tokens and certificates again;
  /// `isReady` follows.
  func reloads() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    sendUnlessStopping(
      "RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  /// Notifies the service manager that the server ends.
  func stops() {
    isStopping.withLock { isStopping in
      isStopping = true
      send("STOPPING=1")
    }
  }

  /// Notifies the service manager that all event loops respond.
  func isAlive() { send("WATCHDOG=1") }

  private func sendUnlessStopping(_ lines: String) {
    isStopping.withLock { isStopping in
      if !isStopping { send(lines) }
    }
  }

  private func send(_ lines: String) {
    let kind = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var bytes = Array(lines.utf8)
    withUnsafePointer(to: address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        // Not waiting for a manager that does not read.
        _ = sendto(
          descriptor, &bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT),
          address, length)
      }
    }
  }
}

/// The environment of the process.
enum Environment {
  /// Returns the value of a variable; nil if it is not set.
  static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
