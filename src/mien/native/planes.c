/* Between stored samples of 8 or 16 bits and working R'G'B'. Strides count samples or floats from row to row. Every
   function returns 0, or -1 where there is no memory for a few rows. */
#include "pixels.h"

static inline void row_of_samples(float *row, const void *plane, int bytes, ptrdiff_t at, int count) {
    if (bytes == 1) {
        const uint8_t *samples = (const uint8_t *)plane + at;
        for (int i = 0; i < count; i++) row[i] = (float)samples[i];
    } else {
        const uint16_t *samples = (const uint16_t *)plane + at;
        for (int i = 0; i < count; i++) row[i] = (float)samples[i];
    }
}

/* A rectangle of Y'CbCr planes as R'G'B' (height, width, 3), chroma linear between its samples' centres.

   luma          the rectangle's first sample; luma_stride
   cb, cr        whole planes of chroma_height rows and chroma_width columns; chroma_stride
   step_x, step_y pixels that a chroma sample spans
   x, y          the rectangle's first pixel
   affine        (3, 4) from the three samples and 1 to R', G', B' */
MIEN_API int mien_rgb_of_planes(const void *luma, ptrdiff_t luma_stride, const void *cb, const void *cr,
                                ptrdiff_t chroma_stride, int chroma_height, int chroma_width, int bytes, int step_x,
                                int step_y, int x, int y, const float *affine, float *rgb, int height, int width) {
    /* Only the columns of chroma around the rectangle are read. */
    int first = x / step_x - 1, end = (x + width - 1) / step_x + 2;
    first = first > 0 ? first : 0, end = end < chroma_width ? end : chroma_width;
    const size_t cells = (size_t)(end - first), line = (size_t)width;
    float *work = malloc(sizeof(float) * (PIECES(3, 2 * cells) + PIECES(3, line) + TAPS(line) + TAPS(height)));
    if (!work) return -1;
    float *rest = work;
    float *low = take(&rest, 2 * cells), *high = take(&rest, 2 * cells), *row = take(&rest, 2 * cells);
    float *ys = take(&rest, line), *us = take(&rest, line), *vs = take(&rest, line);
    Taps across = take_taps(&rest, line), down = take_taps(&rest, (size_t)height);
    find_taps(&across, x, width, step_x, chroma_width);
    for (int i = 0; i < width; i++) across.low[i] -= first;
    find_taps(&down, y, height, step_y, chroma_height);
    int at_low = -1, at_high = -1;
    for (int i = 0; i < height; i++) {
        row_of_samples(ys, luma, bytes, i * luma_stride, width);
        if (down.low[i] != at_low) {
            at_low = down.low[i];
            row_of_samples(low, cb, bytes, at_low * chroma_stride + first, (int)cells);
            row_of_samples(low + cells, cr, bytes, at_low * chroma_stride + first, (int)cells);
        }
        if (down.low[i] + down.next[i] != at_high) {
            at_high = down.low[i] + down.next[i];
            row_of_samples(high, cb, bytes, at_high * chroma_stride + first, (int)cells);
            row_of_samples(high + cells, cr, bytes, at_high * chroma_stride + first, (int)cells);
        }
        for (size_t c = 0; c < 2 * cells; c++) row[c] = low[c] + (high[c] - low[c]) * down.share[i];
        spread(us, row, across, width);
        spread(vs, row + cells, across, width);
        float *to = rgb + (ptrdiff_t)i * width * 3;
        for (int j = 0; j < width; j++, to += 3) {
            float luminance = ys[j], u = us[j], v = vs[j];
            to[0] = affine[0] * luminance + affine[1] * u + affine[2] * v + affine[3];
            to[1] = affine[4] * luminance + affine[5] * u + affine[6] * v + affine[7];
            to[2] = affine[8] * luminance + affine[9] * u + affine[10] * v + affine[11];
        }
    }
    free(work);
    return 0;
}

static inline void add_row(void *plane, int bytes, ptrdiff_t at, const float *change, int count, float most) {
    if (bytes == 1) {
        uint8_t *samples = (uint8_t *)plane + at;
        for (int i = 0; i < count; i++) samples[i] = (uint8_t)clampf(rintf((float)samples[i] + change[i]), 0, most);
    } else {
        uint16_t *samples = (uint16_t *)plane + at;
        for (int i = 0; i < count; i++) samples[i] = (uint16_t)clampf(rintf((float)samples[i] + change[i]), 0, most);
    }
}

/* Narrows start..stop, pixels of a row, to where two rows of R'G'B' differ; by blocks, so a few equal ones may stay. */
static inline void find_change(const float *one, const float *other, int *start, int *stop) {
    enum { BLOCK = 32 };
    const size_t bytes = BLOCK * 3 * sizeof(float);
    while (*start + BLOCK <= *stop && !memcmp(one + 3 * *start, other + 3 * *start, bytes)) *start += BLOCK;
    while (*start + BLOCK <= *stop && !memcmp(one + 3 * (*stop - BLOCK), other + 3 * (*stop - BLOCK), bytes)) *stop -= BLOCK;
}

/* Adds `after - before`, both (height, width, 3) R'G'B', to a rectangle of Y'CbCr planes in place, rounded to nearest
   and kept within 0..most. A chroma sample takes the mean change of the pixels it spans: those outside the rectangle
   do not change, those outside the frame do not count.

   luma          the whole plane; luma_stride, frame_height and frame_width are its size
   cb, cr        whole planes; chroma_stride
   codes         (3, 3) from a difference of R', G', B' to one of the codes */
MIEN_API int mien_add_to_planes(void *luma, ptrdiff_t luma_stride, int frame_height, int frame_width, void *cb, void *cr,
                                ptrdiff_t chroma_stride, int bytes, int step_x, int step_y, int x, int y,
                                const float *codes, const float *before, const float *after, int height, int width,
                                float most) {
    const int first = x / step_x, end = (x + width - 1) / step_x + 1, cells = end - first;
    const size_t line = (size_t)width;
    float *work = malloc(sizeof(float) * (3 * line + 3 * (size_t)cells));
    if (!work) return -1;
    float *ys = work, *us = ys + line, *vs = us + line, *sum_u = vs + line, *sum_v = sum_u + cells;
    float *parts = sum_v + cells; /* By which the sum over a row of one sample's pixels becomes a mean. */
    for (int c = 0; c < cells; c++) {
        int spans = frame_width - (first + c) * step_x;
        parts[c] = 1.0f / (float)(spans < step_x ? spans : step_x);
    }
    memset(sum_u, 0, sizeof(float) * 2 * (size_t)cells);
    for (int i = 0; i < height; i++) {
        const float *from = before + (ptrdiff_t)i * width * 3, *to = after + (ptrdiff_t)i * width * 3;
        int start = 0, stop = width;
        find_change(from, to, &start, &stop);
        for (int j = start; j < stop; j++) {
            float red = to[3 * j] - from[3 * j], green = to[3 * j + 1] - from[3 * j + 1];
            float blue = to[3 * j + 2] - from[3 * j + 2];
            ys[j] = codes[0] * red + codes[1] * green + codes[2] * blue;
            us[j] = codes[3] * red + codes[4] * green + codes[5] * blue;
            vs[j] = codes[6] * red + codes[7] * green + codes[8] * blue;
        }
        add_row(luma, bytes, (ptrdiff_t)(y + i) * luma_stride + x + start, ys + start, stop - start, most);
        for (int c = (x + start) / step_x - first; c < cells && (first + c) * step_x - x < stop; c++) {
            const int from_x = (first + c) * step_x - x, to_x = from_x + step_x;
            for (int j = from_x > start ? from_x : start; j < to_x && j < stop; j++) sum_u[c] += us[j], sum_v[c] += vs[j];
        }
        if ((y + i + 1) % step_y == 0 || i == height - 1) {
            int row = (y + i) / step_y, spans = frame_height - row * step_y;
            float part = 1.0f / (float)(spans < step_y ? spans : step_y);
            for (int c = 0; c < cells; c++) sum_u[c] *= parts[c] * part, sum_v[c] *= parts[c] * part;
            add_row(cb, bytes, row * chroma_stride + first, sum_u, cells, most);
            add_row(cr, bytes, row * chroma_stride + first, sum_v, cells, most);
            memset(sum_u, 0, sizeof(float) * 2 * (size_t)cells);
        }
    }
    free(work);
    return 0;
}

/* Notes in `differs` whether two arrays of `count` floats have different bytes. */
MIEN_API int mien_compare(const float *one, const float *other, size_t count, uint8_t *differs) {
    *differs = memcmp(one, other, count * sizeof(float)) != 0;
    return 0;
}
