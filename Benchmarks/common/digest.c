// SPDX-License-Identifier: Apache-2.0
#include "digest.h"

uint32_t digest(const struct bytes *text) {
  static uint32_t table[256];
  if (!table[1])
    for (uint32_t byte = 0; byte < 256; byte++) {
      uint32_t value = byte;
      for (int bit = 0; bit < 8; bit++) value = value & 1 ? 0xEDB88320u ^ (value >> 1) : value >> 1;
      table[byte] = value;
    }
  uint32_t crc = ~0u;
  for (size_t at = 0; at < text->count; at++)
    crc = table[(crc ^ (uint8_t)text->start[at]) & 255] ^ (crc >> 8);
  return ~crc;
}

void add_canonical_todo(
    struct bytes *text, struct part id, struct part title, bool is_completed) {
  ADD(text, "{\"completed\":");
  if (is_completed)
    ADD(text, "true");
  else
    ADD(text, "false");
  ADD(text, ",\"id\":\"");
  add(text, id.start, id.count);
  ADD(text, "\",\"title\":\"");
  add(text, title.start, title.count);
  ADD(text, "\"}");
}
