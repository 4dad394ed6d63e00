// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import TestSupport
import Testing

@testable import RemoteSources

@Suite("Redirect", .timeLimit(.minutes(20)))
struct RedirectTests {
  @Test(
    "a redirect on the same server is followed",
    arguments: [
      "301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect",
      "308 Permanent Redirect",
    ])
  func followed(status: String) async throws {
    let heads = Record<String>()
    try await withClient { client in
      try await TestServer.serving { visitor in
        let head = await visitor.request()
        heads.add(head)
        try await visitor.send(
          head.hasPrefix("GET /new?a=b ")
            ? "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnew"
            : "HTTP/1.1 \(status)\r\nLocation: new?a=b\r\nSet-Cookie: a=b\r\n"
              + "Content-Length: 0\r\n\r\n"
        )
      } while: { server in
        let loaded = try await HTTPSource(server.address("/old"), client: client).loaded()
        #expect(loaded.value == #""new""#)
      }
    }
    #expect(heads.all.count == 2)
    #expect(heads.all.allSatisfy { $0.hasPrefix("GET /") && !$0.lowercased().contains("cookie:") })
  }

  @Test("the number of redirects is bounded")
  func bounded() async throws {
    let heads = Record<String>()
    try await withClient { client in
      try await TestServer.serving { visitor in
        heads.add(await visitor.request())
        try await visitor.send("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
      } while: { server in
        let loaded = try await HTTPSource(server.address(), client: client).loaded()
        #expect(loaded == Loaded(percents: [], failure: "source.redirected"))
      }
    }
    #expect(heads.all.count == 1 + HTTPFetch.maximumRedirects)
  }

  @Test("a redirect to another server is not followed, and that server sees no connection")
  func otherServer() async throws {
    let visits = Record<String>()
    try await withClient { client in
      try await TestServer.serving { visitor in
        visits.add(await visitor.request())
      } while: { other in
        try await TestServer.serving { visitor in
          try await visitor.respond(
            "302 Found\r\nLocation: http://127.0.0.1:\(other.port)/", text: "")
        } while: { server in
          let loaded = try await HTTPSource(server.address(), client: client).loaded()
          #expect(loaded == Loaded(percents: [], failure: "source.redirected"))
          let result = await HTTPBalanceService(try server.address(), client: client).fetchBalance()
          #expect(result == .failed)
        }
      }
    }
    #expect(visits.all.isEmpty)
  }

  @Test("a redirect without a location is a failure")
  func noLocation() async throws {
    try await withClient { client in
      try await TestServer.serving { visitor in
        try await visitor.respond("302 Found", text: "")
      } while: { server in
        let loaded = try await HTTPSource(server.address(), client: client).loaded()
        #expect(loaded == Loaded(percents: [], failure: "source.redirected"))
      }
    }
  }

  /// The base URL is `http://example.com/a/b?c`.
  @Test(
    "a location on the same server is resolved by RFC 3986",
    arguments: [
      ("/x", "/x"), ("x", "/a/x"), ("x/y?z", "/a/x/y?z"), ("?z", "/a/b?z"), ("", "/a/b?c"),
      ("#f", "/a/b?c"), ("x#f", "/a/x"), (".", "/a/"), ("./x", "/a/x"), ("..", "/"),
      ("../x", "/x"), ("../../../x", "/x"), ("/x/../y", "/y"), ("/x/./y/..", "/x/"),
      ("x?../y", "/a/x?../y"), ("/x:y", "/x:y"), ("//example.com/x", "/x"),
      ("http://example.com/x", "/x"), ("HTTP://EXAMPLE.com:80/x", "/x"),
      ("http://example.com", "/"), ("http://example.com?q", "/?q"),
    ] as [(String, String)])
  func leads(location: String, target: String) throws {
    let address = try HTTPAddress("http://example.com/a/b?c")
    let next = try #require(address.redirected(to: location))
    #expect(next.url == "http://example.com:80" + target)
  }

  @Test(
    "a location on another server or an invalid one is refused",
    arguments: [
      "http://example.org/", "https://example.com/", "http://example.com:81/", "//example.org/x",
      "http://example.com.evil.org/", "http://example.com@evil.org/",
      "http://evil.org#@example.com/",
      #"http://evil.org\@example.com/"#, #"\\evil.org/x"#, "http:\\\\evil.org", "http:/x", "http:x",
      "file:///etc/passwd", "javascript:1", "unix:/x", "x y", "/x\r\nHost: evil.org", "/\u{E9}",
      ":",
      "http://", "//", "///x", "http://user@example.com/",
    ])
  func nowhereElse(location: String) throws {
    let address = try HTTPAddress("http://example.com/a/b?c")
    #expect(address.redirected(to: location) == nil)
  }
}
