/* What the kernels share: four floats as one value, and fields on coarse grids seen at pixels. */
#ifndef MIEN_PIXELS_H
#define MIEN_PIXELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* Four floats at any address. */
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));

static inline Four four(const float *at) { return *(const Four *)at; }

static inline Four alike(float value) { return (Four){value, value, value, value}; }

static inline float clampf(float value, float low, float high) {
    value = value < low ? low : value;
    return value > high ? high : value;
}

/* The cells around pixels: the first of two, the way to the second one (0 at the rim), and how much it has. */
typedef struct {
    int32_t *low, *next;
    float *share;
} Taps;

#define TAPS_BYTES(count) ((size_t)(count) * 3 * sizeof(float))

static inline Taps taps_in(void *memory, size_t count) {
    int32_t *low = memory;
    return (Taps){low, low + count, (float *)(low + 2 * count)};
}

/* Taps of `count` pixels from pixel `first` on, over `cells` cells of `step` pixels each: linear between the centres
   of cells, level beyond the outermost. */
static inline void find_taps(Taps taps, int first, int count, int step, int cells) {
    const float part = 1.0f / (float)step;
    for (int i = 0; i < count; i++) {
        float at = clampf(((float)(first + i) + 0.5f) * part - 0.5f, 0.0f, (float)(cells - 1));
        int low = (int)at;
        taps.low[i] = low, taps.next[i] = low + 1 < cells, taps.share[i] = at - (float)low;
    }
}

/* The row of a field, `length` floats, at tap `i`. */
static inline void row_at(float *restrict row, const float *restrict field, ptrdiff_t stride, Taps taps, int i, int length) {
    const float *low = field + taps.low[i] * stride, *high = low + taps.next[i] * stride;
    const float share = taps.share[i];
    for (int c = 0; c < length; c++) row[c] = low[c] + (high[c] - low[c]) * share;
}

/* A row of cells at all taps. */
static inline void spread(float *restrict out, const float *restrict row, Taps taps, int count) {
    const int32_t *restrict low = taps.low, *restrict next = taps.next;
    const float *restrict share = taps.share;
    for (int i = 0; i < count; i++) out[i] = row[low[i]] + (row[low[i] + next[i]] - row[low[i]]) * share[i];
}

/* As `spread` for one pixel of a row with four floats a cell. */
static inline Four spread_four(const float *row, Taps taps, int i) {
    Four low = four(row + 4 * taps.low[i]);
    return low + (four(row + 4 * (taps.low[i] + taps.next[i])) - low) * taps.share[i];
}

#endif
