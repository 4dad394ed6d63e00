// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

extension Loader {
  /// Creates the loader that a configuration describes.
  ///
  /// - Parameters:
  ///   - configuration: The tree of policies and sources.
  ///   - sources: The sources that the tree may name.
  ///   - cache: The cache and the semaphores that the loaders of the session share.
  /// - Throws: `ConfigurationError` if the tree names an unknown source.
  public init(
    _ configuration: LoaderConfiguration, sources: LoadingSources, cache: LoaderCache
  ) throws(ConfigurationError) {
    let building = Building(configuration, sources, cache)
    self = try building.loader(configuration, Place())
  }
}

/// The position of a node in its tree.
private struct Place {
  /// The names of the members from the root to the node.
  var path: [String] = []
  /// The concurrency limits around the node, the outermost first.
  var limits: [Int] = []

  func inner(_ members: String...) -> Place {
    var place = self
    place.path += members
    return place
  }
}

private final class Building {
  private let sources: LoadingSources
  private let cache: LoaderCache
  private let tree: LoaderConfiguration
  private lazy var permits = cache.permits(of: tree)

  init(_ tree: LoaderConfiguration, _ sources: LoadingSources, _ cache: LoaderCache) {
    self.tree = tree
    self.sources = sources
    self.cache = cache
  }

  func loader(_ node: LoaderConfiguration, _ place: Place) throws(ConfigurationError) -> Loader {
    switch node {
    case .source(let name):
      guard let source = sources[name] else {
        throw ConfigurationError("there is no source with this name", at: place.path + ["name"])
      }
      return .source(source, named: name).sharing(sources.values)
    case .mock(let states):
      return .mock(states)
    case .debounce(let interval, let executeFirstImmediately, let inner):
      return try loader(inner, place.inner("of"))
        .debounced(for: interval, executeFirstImmediately: executeFirstImmediately)
    case .retry(let maxAttempts, let backoff, let inner):
      return try loader(inner, place.inner("of"))
        .retried(
          attempts: maxAttempts,
          backoff: .exponential(base: backoff.base, factor: backoff.factor, maximum: backoff.max))
    case .timeout(let interval, let inner):
      return try loader(inner, place.inner("of")).timeout(after: interval)
    case .cache(let key, let ttl, let inner):
      return try loader(inner, place.inner("of")).cached(key, for: ttl, in: cache)
    case .concurrencyLimit(let limit, let inner):
      var place = place
      place.limits.append(limit)
      return try loader(inner, place.inner("of"))
        .limited { [permits, limits = place.limits] in permits.semaphores.permits(under: limits) }
    case .all(let inner):
      return .all(try loaders(inner, place)).sharing(sources.values)
    case .sequence(let inner):
      return .sequence(try loaders(inner, place))
    }
  }

  private func loaders(
    _ nodes: [LoaderConfiguration], _ place: Place
  ) throws(ConfigurationError) -> [Loader] {
    var loaders: [Loader] = []
    for (index, node) in nodes.enumerated() {
      loaders.append(try loader(node, place.inner("of", "\(index)")))
    }
    return loaders
  }
}
