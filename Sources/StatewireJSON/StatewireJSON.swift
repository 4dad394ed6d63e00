// SPDX-License-Identifier: Apache-2.0

// StatewireJSON: reads, writes, compares and describes JSON text.
//
// One reader serves the whole program, so all parts interpret a text in the same way:
//
//     bytes -> JSONReader -> JSONReadable types      (hot types read themselves)
//                         -> Codable types           (JSON.decode; enums flattened to "type")
//                         -> JSONValue               (any JSON)
//     ...   -> JSONWriter -> bytes                   (the same three in the other direction)
//     two encoded states  -> JSONPatchWriter         (RFC 6902, by comparing the texts)
//
// Rules that hold in the whole module:
//
// - The reader accepts RFC 8259 and nothing else: no byte order mark, no trailing commas, valid
//   UTF-8. It checks bounds before each byte that it reads, and nests no deeper than `JSONLimits`
//   allows.
// - Strings compare by their UTF-8 bytes, never by Swift's canonical equivalence.
// - The last of several duplicate keys counts. A lone surrogate escape becomes U+FFFD.
// - A number that is not a 64-bit integer keeps its text, so no number is rounded between reading
//   and writing.
// - Errors have an offset in the text and a path. The path costs nothing until an error occurs; it
//   is then found by reading the text up to the offset.
//
// The module must never contain JSON-RPC or a second way to read JSON. Only the forms of types of
// Foundation (`Forms`) import FoundationEssentials.
