/* A coarse pattern, smoothly enlarged, added to stored samples of 8 or 16 bits. */
#include "pixels.h"

/* Weights of the four neighbours at a place `way` (0..1) beyond the second: cubic convolution (Keys 1981) with
   a = -3/4, as OpenCV has it. */
static inline void cubic(float way, float *weights) {
    const float a = -0.75f, far = way + 1, back = 1 - way;
    weights[0] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
    weights[1] = ((a + 2) * way - (a + 3)) * way * way + 1;
    weights[2] = ((a + 2) * back - (a + 3)) * back * back + 1;
    weights[3] = 1 - weights[0] - weights[1] - weights[2];
}

/* The second of four neighbours of pixel `i`, of `count` pixels over `cells`, and their weights. */
static inline int neighbours(int i, int count, int cells, float *weights) {
    const float at = ((float)i + 0.5f) * (float)cells / (float)count - 0.5f, below = floorf(at);
    cubic(at - below, weights);
    return (int)below;
}

static inline int within(int cell, int cells) { return cell < 0 ? 0 : cell < cells ? cell : cells - 1; }

/* A row of the pattern, less `nothing`, at every pixel across; `out` has room for BEYOND floats more. */
static void across_row(float *restrict out, const uint8_t *restrict row, float *restrict padded, int columns,
                       const int32_t *restrict first, const float *restrict weights, size_t apart, int width, float nothing) {
    for (int c = -2; c < columns + 2; c++) padded[c + 2] = (float)row[within(c, columns)] - nothing;
    for (int x = 0; x < width;) {
        const float *at = padded + first[x];
        int end = x + 1;
        while (end < width && first[end] == first[x]) end++;
        /* Eight pixels at once: what lies beyond those of the same cells is written again. */
        for (int i = x; i < end; i += 8) {
            const float *share = weights + i;
            *(Eight *)(out + i) = at[0] * *(const Eight *)share + at[1] * *(const Eight *)(share + apart) +
                                  at[2] * *(const Eight *)(share + 2 * apart) + at[3] * *(const Eight *)(share + 3 * apart);
        }
        x = end;
    }
}

static inline void mix_rows(float *restrict out, const float *restrict one, const float *restrict two,
                            const float *restrict three, const float *restrict four, const float *weights, int width) {
    const float a = weights[0], b = weights[1], c = weights[2], d = weights[3];
    for (int x = 0; x < width; x++) out[x] = a * one[x] + b * two[x] + c * three[x] + d * four[x];
}

static inline float add_changes(void *restrict samples, int bytes, float *restrict total, int width, float most) {
    if (bytes == 1) {
        uint8_t *restrict at = samples;
        for (int x = 0; x < width; x++) {
            float old = (float)at[x], now = clampf(rintf(old + total[x]), 0, most);
            at[x] = (uint8_t)now, total[x] = (now - old) * (now - old);
        }
    } else {
        uint16_t *restrict at = samples;
        for (int x = 0; x < width; x++) {
            float old = (float)at[x], now = clampf(rintf(old + total[x]), 0, most);
            at[x] = (uint16_t)now, total[x] = (now - old) * (now - old);
        }
    }
    Eight sums = {0};
    memset(total + width, 0, BEYOND * sizeof(float));
    for (int x = 0; x < width; x += 8) sums += *(const Eight *)(total + x);
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

/* Adds (pattern - nothing) * share to samples (height, width) in place, rounded to nearest and kept within 0..most.

   pattern (rows, columns), enlarged by cubic convolution
   squares is given the sum of the squares of all changes */
MIEN_API int mien_add_pattern(void *samples, ptrdiff_t stride, int bytes, int height, int width, const uint8_t *pattern,
                              int rows, int columns, float nothing, float share, float most, double *squares) {
    const size_t line = (size_t)width;
    const size_t apart = line + BEYOND; /* From row to row of the ring and of the weights. */
    float *work = malloc(sizeof(float) * (PIECES(2, 4 * apart) + PIECES(2, line) + PIECES(1, columns + 4)));
    if (!work) return -1;
    float *rest = work;
    float *ring = take(&rest, 4 * apart), *weights = take(&rest, 4 * apart), *total = take(&rest, line);
    memset(weights, 0, 4 * apart * sizeof(float));
    int32_t *first = (int32_t *)take(&rest, line);
    float *padded = take(&rest, (size_t)columns + 4);
    for (int x = 0; x < width; x++) {
        float four[4];
        first[x] = neighbours(x, width, columns, four) + 1; /* Two cells of padding less the one before. */
        for (int i = 0; i < 4; i++) weights[(size_t)i * apart + (size_t)x] = four[i];
    }
    *squares = 0;
    int known = -3; /* The ring holds rows known - 3 .. known of the pattern, each at its number's rest by 4. */
    for (int y = 0; y < height; y++) {
        float four[4];
        const int second = neighbours(y, height, rows, four);
        if (known < second - 2) known = second - 2;
        while (known < second + 2) {
            known++;
            const uint8_t *row = pattern + (ptrdiff_t)within(known, rows) * columns;
            across_row(ring + (size_t)((known + 4) % 4) * apart, row, padded, columns, first, weights, apart, width, nothing);
        }
        const float *near[4];
        for (int i = 0; i < 4; i++) near[i] = ring + (size_t)((second + 3 + i) % 4) * apart, four[i] *= share;
        mix_rows(total, near[0], near[1], near[2], near[3], four, width);
        *squares += add_changes((uint8_t *)samples + y * stride * bytes, bytes, total, width, most);
    }
    free(work);
    return 0;
}
