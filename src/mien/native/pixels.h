/* What the kernels share: four floats as one value, and fields on coarse grids seen at pixels. */
#ifndef MIEN_PIXELS_H
#define MIEN_PIXELS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* Four and eight floats at any address. */
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));

static inline Four four(const float *at) { return *(const Four *)at; }

static inline float clampf(float value, float low, float high) {
    value = value < low ? low : value;
    return value > high ? high : value;
}

/* The cells around pixels: the first of two, the way to the second one (0 at the rim), and how much that one has. */
typedef struct {
    int32_t *low, *next, *runs; /* Runs are the first pixels of those between the same two cells, and the end. */
    float *share;
    int run_count;
} Taps;

/* `spread` works on eight pixels at a time: what it reads and writes may reach this far beyond the last one. */
#define BEYOND 8

/* A piece of `count` floats, and room beyond it, of memory that is handed out piece by piece. */
static inline float *take(float **memory, size_t count) {
    float *piece = *memory;
    *memory += count + BEYOND;
    return piece;
}

#define PIECES(count, floats) ((size_t)(count) * ((size_t)(floats) + BEYOND))
#define TAPS(count) PIECES(4, (count) + 1)

static inline Taps take_taps(float **memory, size_t count) {
    int32_t *low = (int32_t *)take(memory, count), *next = (int32_t *)take(memory, count);
    int32_t *runs = (int32_t *)take(memory, count + 1);
    return (Taps){low, next, runs, take(memory, count), 0};
}

/* Taps of `count` pixels from pixel `first` on, over `cells` cells of `step` pixels each: linear between the centres
   of cells, level beyond the outermost. */
static inline void find_taps(Taps *taps, int first, int count, int step, int cells) {
    const float part = 1.0f / (float)step;
    taps->run_count = 0;
    for (int i = 0; i < count; i++) {
        float at = clampf(((float)(first + i) + 0.5f) * part - 0.5f, 0.0f, (float)(cells - 1));
        int low = (int)at;
        taps->low[i] = low, taps->next[i] = low + 1 < cells, taps->share[i] = at - (float)low;
        if (i == 0 || low != taps->low[i - 1]) taps->runs[taps->run_count++] = i;
    }
    taps->runs[taps->run_count] = count;
    memset(taps->share + count, 0, BEYOND * sizeof(float)); /* Read, though of no effect. */
}

/* The row of a field, `length` floats, at tap `i`. */
static inline void row_at(float *restrict row, const float *restrict field, ptrdiff_t stride, Taps taps, int i, int length) {
    const float *low = field + taps.low[i] * stride, *high = low + taps.next[i] * stride;
    const float share = taps.share[i];
    for (int c = 0; c < length; c++) row[c] = low[c] + (high[c] - low[c]) * share;
}

/* A row of cells at all taps; `out` has room for BEYOND floats more. */
static inline void spread(float *restrict out, const float *restrict row, Taps taps, int count) {
    const int32_t *restrict low = taps.low, *restrict next = taps.next;
    const float *restrict share = taps.share;
    if (3 * taps.run_count > 2 * count) { /* Cells of one pixel. */
        for (int i = 0; i < count; i++) out[i] = row[low[i]] + (row[low[i] + next[i]] - row[low[i]]) * share[i];
        return;
    }
    for (int run = 0; run < taps.run_count; run++) {
        const int start = taps.runs[run], end = taps.runs[run + 1];
        const float first = row[low[start]], way = row[low[start] + next[start]] - first;
        /* What this writes beyond the run, the next one writes again. */
        for (int i = start; i < end; i += 8) *(Eight *)(out + i) = first + way * *(const Eight *)(share + i);
    }
}

/* As `spread` for one pixel of a row with four floats a cell. */
static inline Four spread_four(const float *row, Taps taps, int i) {
    Four low = four(row + 4 * taps.low[i]);
    return low + (four(row + 4 * (taps.low[i] + taps.next[i])) - low) * taps.share[i];
}

#endif
