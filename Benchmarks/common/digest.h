// SPDX-License-Identifier: Apache-2.0
//
// The digest of a state as PROTOCOL.md defines it: CRC-32 of its text in RFC 8785 form.
#ifndef DIGEST_H
#define DIGEST_H

#include "bytes.h"

/// Returns the CRC-32 as in zlib (IEEE 802.3).
uint32_t digest(const struct bytes *text);

/// Appends one todo in that form; the title is JSON text without its quotation marks.
void add_canonical_todo(
    struct bytes *text, struct part id, struct part title, bool is_completed);

#endif
