// SPDX-License-Identifier: Apache-2.0
//
// The files that `statewire serve --web` serves, so that the program is all a machine needs. C, since
// `#embed` takes no time, where SwiftPM's resources in code cost the compiler half a minute for 60 KB,
// and the build notices by itself when one of them changes.

#ifndef C_WEB_FILES_H
#define C_WEB_FILES_H

#include <stddef.h>

struct web_file {
  // Where it is served, without the first slash.
  const char *path;
  const unsigned char *bytes;
  size_t count;
};

// The i-th file; its path is NULL behind the last one.
struct web_file web_file(size_t i);

#endif
