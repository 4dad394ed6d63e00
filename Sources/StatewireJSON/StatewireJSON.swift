// SPDX-License-Identifier: Apache-2.0

// StatewireJSON: JSON text and what the rest of Statewire needs of it.
//
// One reader serves the whole program, so that no two parts disagree about what a text says:
//
//     bytes -> JSONReader -> JSONReadable types      (hot types read themselves)
//                         -> Codable types           (JSON.decode; enums flattened to "type")
//                         -> JSONValue               (anything at all)
//     ...   -> JSONWriter -> bytes                   (the same three ways back)
//     two encoded states  -> JSONPatchWriter         (RFC 6902, by comparing the texts)
//
// What holds everywhere:
//
// - The reader takes RFC 8259 and nothing else: no byte order mark, no trailing commas, valid UTF-8.
//   It reads every byte behind a check of its bounds, and nests no deeper than `JSONLimits` allows.
// - Strings compare by their UTF-8 bytes, never by Swift's canonical equivalence.
// - Of duplicate keys the last one counts. A lone surrogate escape becomes U+FFFD.
// - A number that is no 64-bit integer keeps its text, so nothing is rounded on the way through.
// - Errors know where they happened: an offset in the text and a path. Nothing is paid for the path
//   while all goes well; it is found by walking the text once there is an error to report.
//
// What must never be here: Foundation, JSON-RPC, and a second way to read JSON.
