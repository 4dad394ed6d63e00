// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// A source that loads a file in a folder of the operator.
///
/// - Value: the JSON of the file if its name ends in `.json`, otherwise its UTF-8 text as a string.
/// - Progress: 0 to 100 by the size of the file, each number once.
/// - Failure: not a regular file, a link, or more bytes than allowed.
/// - Change: a file that grows is read up to its first size. A file that shrinks is a failure,
///   since its content would be a mixture.
/// - Cancellation: checked before each part is read.
public struct FileSource: LoadingSource {
  /// Number of bytes that are read in one call: 128 KiB. Small enough that the thread is soon free
  /// for other work.
  static let chunkBytes = 128 << 10
  /// The default number of files that are read at the same time; a large one counts as several.
  public static let openFiles = 64
  /// A file takes one more permit for each 512 KiB of its size.
  private static let bytesPerPermit = 512 << 10

  private let folder: String
  private let name: FileName
  private let maximumBytes: Int
  /// The permits of open files: one for each, and more for large ones.
  private let permits: AsyncSemaphore
  private let openFiles: Int
  /// Called with the number of bytes after each part, for tests.
  private let observe: @Sendable (Int) -> Void

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder; absolute or relative to the current folder. It may be a
  ///     link.
  ///   - name: The path of the file, relative to the folder; no component may be `..` or a link.
  ///   - maximumBytes: The largest size of the file, in bytes.
  /// - Throws: `SourceError` if the folder does not exist, or if the file can never be read. A file
  ///   that does not exist yet is not an error.
  public init(
    folder: String, name: String, maximumBytes: Int = HTTPSource.maximumBytes
  ) throws(SourceError) {
    try self.init(folder: folder, name: FileName(name), maximumBytes: maximumBytes)
  }

  init(
    folder: String, name: FileName, maximumBytes: Int,
    openFiles: Int = Self.openFiles, permits: AsyncSemaphore = AsyncSemaphore(Self.openFiles),
    observe: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(SourceError) {
    self.folder = folder
    self.name = name
    self.maximumBytes = maximumBytes
    self.openFiles = openFiles
    self.permits = permits
    self.observe = observe
    guard OpenFile.isFolder(folder) else {
      throw SourceError("the folder \(folder) does not exist or cannot be read")
    }
    do {
      _ = try OpenFile(name, in: folder)
    } catch {
      switch error {
      case .missing: break
      case .unreadable: throw SourceError("the file \(name) in \(folder) cannot be read")
      default:
        throw SourceError("\(name) in \(folder) is not a regular file, or its path contains a link")
      }
    }
  }

  /// Loads the file, after waiting for permits.
  ///
  /// - Parameter report: Called with each new progress.
  /// - Throws: `LoadingFailure`, or `CancellationError`.
  public func load(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    let outcome = await permits.withPermits(permitCount) { () -> Result<LoadedValue, any Error> in
      do {
        return .success(try await loaded(report))
      } catch let failure as RemoteFailure {
        return .failure(LoadingFailure(failure))
      } catch {
        return .failure(error)
      }
    }
    guard let outcome else { throw CancellationError() }
    return try outcome.get()
  }

  private var permitCount: Int {
    let size = (try? OpenFile(name, in: folder).size) ?? 0
    return min(openFiles, 1 + min(size, maximumBytes) / Self.bytesPerPermit)
  }

  // Not on the caller's actor, since reading blocks a thread.
  @concurrent
  private func loaded(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    let file = try OpenFile(name, in: folder)
    let size = file.size
    guard size <= maximumBytes else { throw RemoteFailure.tooLarge(maximumBytes: maximumBytes) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    var meter = ProgressMeter()
    while true {
      if let change = meter.change(count: bytes.count, of: size) { await report(change) }
      try Task.checkCancellation()
      guard bytes.count < size else { break }
      guard try file.read(min(size - bytes.count, Self.chunkBytes), to: &bytes) > 0 else {
        throw RemoteFailure.changed
      }
      observe(bytes.count)
      await Task.yield()
    }
    return try LoadedContent(fileName: name.last).value(of: bytes)
  }
}
