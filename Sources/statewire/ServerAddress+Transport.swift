// SPDX-License-Identifier: Apache-2.0

import ClientTransports

extension ServerAddress {
  /// True if a connection to the address uses TLS.
  var isSecure: Bool {
    switch self {
    case .tls, .secureWeb: true
    case .tcp, .web, .unix: false
    }
  }

  /// True if messages are those of a WebSocket.
  var isWeb: Bool {
    switch self {
    case .web, .secureWeb: true
    case .tcp, .tls, .unix: false
    }
  }
}
