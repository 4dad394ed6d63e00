// SPDX-License-Identifier: Apache-2.0
#include "histogram.h"

// The first STEPS places hold one nanosecond each; each further doubling has STEPS places.
static int place(uint64_t value) {
  if (value < STEPS) return (int)value;
  int doubling = 63 - __builtin_clzll(value);
  return (doubling - 5) * STEPS + (int)((value >> (doubling - 6)) - STEPS);
}

static uint64_t lowest(int place) {
  if (place < STEPS) return (uint64_t)place;
  return ((uint64_t)(place % STEPS) + STEPS) << (place / STEPS - 1);
}

void record(struct histogram *histogram, uint64_t nanoseconds) {
  histogram->count++;
  if (nanoseconds > histogram->longest) histogram->longest = nanoseconds;
  histogram->counts[place(nanoseconds)]++;
}

double quantile(const struct histogram *histogram, double share) {
  uint64_t wanted = (uint64_t)(share * (double)histogram->count), seen = 0;
  for (int place = 0; place < 59 * STEPS; place++) {
    seen += histogram->counts[place];
    if (seen > wanted) return (double)lowest(place) / 1000;
  }
  return (double)histogram->longest / 1000;
}
