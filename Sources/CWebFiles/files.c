// SPDX-License-Identifier: Apache-2.0
//
// Written by Scripts/embed-page.

#include "CWebFiles.h"

static const unsigned char file_0[] = {
#embed "../../clients/web/index.html"
};

static const unsigned char file_1[] = {
#embed "../../clients/web/page.css"
};

static const unsigned char file_2[] = {
#embed "../../clients/web/page.js"
};

static const struct web_file files[] = {
  {"index.html", file_0, sizeof file_0},
  {"page.css", file_1, sizeof file_1},
  {"page.js", file_2, sizeof file_2},
  {NULL, NULL, 0},
};

struct web_file web_file(size_t i) { return files[i]; }
