// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// Loads a file below a folder of the operator's.
///
/// - Value: the JSON in it where its name ends in `.json`, else its UTF-8 text as a string.
/// - Progress: 0 to 100 by the size of the file, each once.
/// - Failure: no regular file, a link to one, more bytes than allowed.
/// - Change: a file that grows is read as far as it went at first; one that shrinks is a failure,
///   since what was read of it would be a mixture.
/// - Cancellation: looked at before each part that is read.
public struct FileSource: LoadingSource {
  /// How many bytes are read at once: short enough that the thread is soon free for other work.
  static let chunkBytes = 128 << 10
  /// How many files are read at the same time, where nothing else was said; a large one counts as several.
  public static let openFiles = 64
  /// A file counts as one more for each of so many bytes.
  private static let bytesPerPermit = 512 << 10

  private let folder: String
  private let name: FileName
  private let maximumBytes: Int
  /// One for each file that is open, and more for large ones.
  private let permits: AsyncSemaphore
  private let openFiles: Int
  /// Told how many bytes are there after each part; for tests.
  private let observe: @Sendable (Int) -> Void

  /// - Parameters:
  ///   - folder: May be a link; relative to the current folder.
  ///   - name: From the folder on; no part of it may be `..` or a link.
  ///   - maximumBytes: How many bytes the file may have.
  /// - Throws: `SourceError` if the folder is not there, or if what is there under that name can
  ///   never be read. A file that is not there yet is no error: it may come.
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
      throw SourceError("the folder \(folder) is not there, or may not be read")
    }
    do {
      _ = try OpenFile(name, in: folder)
    } catch {
      switch error {
      case .missing: break
      case .unreadable: throw SourceError("the file \(name) in \(folder) may not be read")
      default:
        throw SourceError("\(name) in \(folder) is no regular file, or is reached through a link")
      }
    }
  }

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

  // Offload than the caller's actor, since reading takes a thread.
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
      if let news = meter.news(count: bytes.count, of: size) { await report(news) }
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
