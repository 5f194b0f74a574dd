/* The swap's loops over the pixels of a face, each one pass over memory. Arrays are float32 in C order; colours lie
   pixel by pixel. Every function returns 0, or -1 where there is no memory for a few rows. */
#include "pixels.h"

/* Mean colours of cells of step x step pixels, the last ones maybe smaller, of a picture (height, width, 3). */
MIEN_API int mien_shrink(const float *picture, ptrdiff_t stride, int height, int width, int step, float *means) {
    const int columns = (width + step - 1) / step, rows = (height + step - 1) / step;
    memset(means, 0, sizeof(float) * 3 * (size_t)rows * (size_t)columns);
    for (int row = 0; row < rows; row++) {
        float *cells = means + (ptrdiff_t)row * columns * 3;
        const int top = row * step, high = height - top < step ? height - top : step;
        for (int y = top; y < top + high; y++) {
            const float *from = picture + y * stride;
            for (int column = 0; column < columns; column++) {
                const int wide = width - column * step < step ? width - column * step : step;
                float red = 0, green = 0, blue = 0;
                for (int x = 0; x < wide; x++, from += 3) red += from[0], green += from[1], blue += from[2];
                cells[3 * column] += red, cells[3 * column + 1] += green, cells[3 * column + 2] += blue;
            }
        }
        for (int column = 0; column < columns; column++) {
            const int wide = width - column * step < step ? width - column * step : step;
            const float part = 1.0f / (float)(wide * high);
            for (int channel = 0; channel < 3; channel++) cells[3 * column + channel] *= part;
        }
    }
    return 0;
}

/* Where a row of pixels is looked up: the first of four neighbours, in floats from the first one, and the shares of
   the four: upper left and right, lower left and right. */
typedef struct {
    int32_t *at;
    float *share[4];
} Places;

#define PLACES(count) PIECES(5, count)

static inline Places take_places(float **memory, size_t count) {
    Places places = {(int32_t *)take(memory, count), {0}};
    for (int i = 0; i < 4; i++) places.share[i] = take(memory, count);
    return places;
}

/* Places first..end of x, y (cells; centres at 0, 1, ...) in a field of `channels` floats per cell, at least 2 x 2 cells; beyond
   the rim the rim's. */
static inline void find_places(Places to, const float *restrict x, const float *restrict y, int height, int width, int channels, int first, int end) {
    const float last_x = (float)(width - 1), last_y = (float)(height - 1);
    int32_t *restrict at = to.at;
    float *restrict one = to.share[0], *restrict two = to.share[1], *restrict three = to.share[2], *restrict four = to.share[3];
    for (int i = first; i < end; i++) {
        float s = clampf(x[i], 0.0f, last_x), t = clampf(y[i], 0.0f, last_y);
        int left = (int)s, top = (int)t;
        left = left < width - 2 ? left : width - 2, top = top < height - 2 ? top : height - 2;
        at[i] = (top * width + left) * channels;
        float right = s - (float)left, below = t - (float)top;
        one[i] = (1 - right) * (1 - below), two[i] = right * (1 - below);
        three[i] = (1 - right) * below, four[i] = right * below;
    }
}

/* What lies at place `i`: exactly a neighbour where that has the whole share. */
static inline Four mixed(Four a, Four b, Four c, Four d, Places places, int i) {
    return a * places.share[0][i] + b * places.share[1][i] + c * places.share[2][i] + d * places.share[3][i];
}

/* The colour at place `i` of a picture with three channels; the fourth value means nothing. */
static inline Four colour_at(const float *picture, ptrdiff_t stride, Places places, int i) {
    const float *from = picture + places.at[i];
    return mixed(four(from), four(from + 3), four(from + stride), four(from + stride + 3), places, i);
}

/* The same where four floats from the last pixel would reach beyond the picture. */
static inline Four last_colour_at(const float *picture, ptrdiff_t stride, Places places, int i) {
    const float *from = picture + places.at[i], *end = from + stride + 3;
    Four last = {end[0], end[1], end[2], 0};
    return mixed(four(from), four(from + 3), four(from + stride), last, places, i);
}

/* Colours of `count` pixels as fours. */
static inline void take_colours(float *restrict to, const float *restrict from, int count) {
    for (int x = 0; x < count; x++) *(Four *)(to + 4 * x) = (Four){from[3 * x], from[3 * x + 1], from[3 * x + 2], 0};
}

/* The first three of `count` fours. */
static inline void put_colours(float *to, const float *from, int count) {
    for (int x = 0; x < count - 1; x++) *(Four *)(to + 3 * x) = four(from + 4 * x);
    for (int channel = 0; channel < 3; channel++) to[3 * (count - 1) + channel] = from[4 * (count - 1) + channel];
}

/* Three rows blurred by 1 2 1 both ways and taken from the middle one: the finest band of detail. */
static void finest_band(float *detail, const float *above, const float *row, const float *below, float *sums, int count) {
    for (int x = 0; x < count; x++) sums[x] = above[x] + 2 * row[x] + below[x];
    for (int x = 0; x < count; x++) {
        int left = x ? x - 1 : (count > 1 ? 1 : 0), right = x + 1 < count ? x + 1 : (count > 1 ? count - 2 : 0);
        detail[x] = row[x] - (sums[left] + 2 * sums[x] + sums[right]) * 0.0625f;
    }
}

/* Copies all of a picture (height, width, 3) but a window. */
static void copy_around(float *to, const float *from, int height, int width, int top, int left, int high, int wide) {
    const size_t line = (size_t)width * 3, before = (size_t)left * 3, after = (size_t)(left + wide) * 3;
    for (int y = 0; y < height; y++, to += line, from += line) {
        if (y < top || y >= top + high) {
            memcpy(to, from, line * sizeof(float));
        } else {
            memcpy(to, from, before * sizeof(float));
            memcpy(to + after, from + after, (line - after) * sizeof(float));
        }
    }
}

/* Takes each pixel of a window from where it comes from, x + shift_x, y + shift_y, linear between pixels, and gives
   back the sharpness that this took. The rest of the picture is copied.

   picture   (height, width, 3), at least 2 x 2; what is moved
   shift_x   (rows, columns) pixels, on the window's cells of step x step pixels; likewise shift_y
   top, left the window's first pixel
   moved     (height, width, 3)
   detail    (high, wide) the finest band of the moved window's lightness
   sharpening times how far the place is from a pixel's centre (0 to 1/4 each way) is what is given back of it. */
MIEN_API int mien_move(const float *picture, int height, int width, const float *shift_x, const float *shift_y,
                       int rows, int columns, int step, int top, int left, float *moved, float *detail, int high,
                       int wide, float sharpening) {
    const size_t line = (size_t)wide;
    const size_t rings = PIECES(2, 3 * line) + PIECES(1, 12 * line);
    const size_t pieces = rings + PIECES(4, line) + PIECES(2, columns) + PLACES(line) + TAPS(line) + TAPS(high);
    float *work = malloc(sizeof(float) * pieces);
    if (!work) return -1;
    float *rest = work;
    /* Rings of three rows: a row is done when the one below it is known. */
    float *colours = take(&rest, 12 * line), *grey = take(&rest, 3 * line), *lost = take(&rest, 3 * line);
    float *sums = take(&rest, line), *sharp = take(&rest, line), *at_x = take(&rest, line), *at_y = take(&rest, line);
    float *row_x = take(&rest, (size_t)columns), *row_y = take(&rest, (size_t)columns);
    Places places = take_places(&rest, line);
    Taps across = take_taps(&rest, line), down = take_taps(&rest, (size_t)high);
    find_taps(&across, 0, wide, step, columns);
    find_taps(&down, 0, high, step, rows);
    const ptrdiff_t stride = (ptrdiff_t)width * 3;
    float *out = moved + top * stride + 3 * left;
    copy_around(moved, picture, height, width, top, left, high, wide);
    const int32_t last = (int32_t)((height - 2) * stride + 3 * (width - 2));

    for (int y = 0; y <= high; y++) {
        if (y < high) {
            float *row = colours + (size_t)(y % 3) * 4 * line;
            float *grey_row = grey + (size_t)(y % 3) * line, *lost_row = lost + (size_t)(y % 3) * line;
            row_at(row_x, shift_x, columns, down, y, columns);
            row_at(row_y, shift_y, columns, down, y, columns);
            spread(at_x, row_x, across, wide);
            spread(at_y, row_y, across, wide);
            /* Only what moves is looked up. */
            int start = 0, stop = columns;
            while (start < stop && row_x[start] == 0 && row_y[start] == 0) start++;
            while (stop > start && row_x[stop - 1] == 0 && row_y[stop - 1] == 0) stop--;
            stop = start < stop ? (stop + 1) * step : 0, start = (start - 1) * step;
            stop = stop < wide ? stop : wide, start = start < 0 ? 0 : start < stop ? start : stop;
            take_colours(row, picture + (top + y) * stride + 3 * left, start);
            take_colours(row + 4 * stop, picture + (top + y) * stride + 3 * (left + stop), wide - stop);
            memset(lost_row, 0, line * sizeof(float));
            for (int x = start; x < stop; x++) at_x[x] += (float)(left + x), at_y[x] += (float)(top + y);
            find_places(places, at_x, at_y, height, width, 3, start, stop);
            for (int x = start; x < stop; x++) {
                float right = places.share[1][x] + places.share[3][x], below = places.share[2][x] + places.share[3][x];
                lost_row[x] = sharpening * (right - right * right + below - below * below);
            }
            for (int x = start; x < stop; x++)
                *(Four *)(row + 4 * x) = places.at[x] < last ? colour_at(picture, stride, places, x)
                                                             : last_colour_at(picture, stride, places, x);
            for (int x = 0; x < wide; x++)
                grey_row[x] = 0.299f * row[4 * x] + 0.587f * row[4 * x + 1] + 0.114f * row[4 * x + 2];
        }
        if (y > 0) {
            const int middle = y - 1, above = middle > 0 ? middle - 1 : (high > 1 ? 1 : 0);
            const int below = y < high ? y : (high > 1 ? high - 2 : 0);
            float *row = colours + (size_t)(middle % 3) * 4 * line, *band = detail + (ptrdiff_t)middle * wide;
            const float *lost_row = lost + (size_t)(middle % 3) * line;
            finest_band(band, grey + (size_t)(above % 3) * line, grey + (size_t)(middle % 3) * line,
                        grey + (size_t)(below % 3) * line, sums, wide);
            for (int x = 0; x < wide; x++) sharp[x] = lost_row[x] * band[x];
            for (int x = 0; x < wide; x++) *(Four *)(row + 4 * x) = four(row + 4 * x) + sharp[x];
            put_colours(out + middle * stride, row, wide);
        }
    }
    free(work);
    return 0;
}

/* Draws a texture at each pixel of a window in its new light: texture(u, v) * factor + base.

   texture   (side, side, 4)
   u, v      (rows, columns) places in the texture, 0..1, on cells of step x step pixels
   factor, base (rows, columns, 4)
   drawn     (high, wide, 4); grey (high, wide) its lightness */
MIEN_API int mien_draw(const float *texture, int side, const float *u, const float *v, const float *factor,
                       const float *base, int rows, int columns, int step, float *drawn, float *grey, int high, int wide) {
    const size_t cells = (size_t)columns, line = (size_t)wide;
    float *work = malloc(sizeof(float) * (PIECES(2, cells) + PIECES(2, 4 * cells) + PIECES(2, line) + PLACES(line) + TAPS(line) + TAPS(high)));
    if (!work) return -1;
    float *rest = work;
    float *row_u = take(&rest, cells), *row_v = take(&rest, cells);
    float *row_factor = take(&rest, 4 * cells), *row_base = take(&rest, 4 * cells);
    float *at_u = take(&rest, line), *at_v = take(&rest, line);
    Places places = take_places(&rest, line);
    Taps across = take_taps(&rest, line), down = take_taps(&rest, (size_t)high);
    find_taps(&across, 0, wide, step, columns);
    find_taps(&down, 0, high, step, rows);
    for (int y = 0; y < high; y++) {
        row_at(row_u, u, columns, down, y, columns);
        row_at(row_v, v, columns, down, y, columns);
        for (int c = 0; c < columns; c++) {
            row_u[c] = row_u[c] * (float)side - 0.5f;
            row_v[c] = row_v[c] * (float)side - 0.5f;
        }
        row_at(row_factor, factor, 4 * (ptrdiff_t)columns, down, y, 4 * columns);
        row_at(row_base, base, 4 * (ptrdiff_t)columns, down, y, 4 * columns);
        spread(at_u, row_u, across, wide);
        spread(at_v, row_v, across, wide);
        find_places(places, at_u, at_v, side, side, 4, 0, wide);
        float *to = drawn + (ptrdiff_t)y * wide * 4, *grey_row = grey + (ptrdiff_t)y * wide;
        for (int x = 0; x < wide; x++) {
            const float *at = texture + places.at[x];
            Four colour = mixed(four(at), four(at + 4), four(at + 4 * side), four(at + 4 * side + 4), places, x);
            *(Four *)(to + 4 * x) = colour * spread_four(row_factor, across, x) + spread_four(row_base, across, x);
        }
        for (int x = 0; x < wide; x++)
            grey_row[x] = 0.299f * to[4 * x] + 0.587f * to[4 * x + 1] + 0.114f * to[4 * x + 2];
    }
    free(work);
    return 0;
}

/* The product of two fields, each on cells of its own step, at every pixel of a window (high, wide). */
MIEN_API int mien_enlarge_product(const float *one, int rows, int columns, int step, const float *other, int other_rows,
                                  int other_columns, int other_step, float *product, int high, int wide) {
    const size_t line = (size_t)wide;
    const size_t pieces = PIECES(1, columns) + PIECES(1, other_columns) + PIECES(2, line) + 2 * (TAPS(line) + TAPS(high));
    float *work = malloc(sizeof(float) * pieces);
    if (!work) return -1;
    float *rest = work;
    float *row = take(&rest, (size_t)columns), *other_row = take(&rest, (size_t)other_columns);
    float *values = take(&rest, line), *factors = take(&rest, line);
    Taps across = take_taps(&rest, line), down = take_taps(&rest, (size_t)high);
    Taps other_across = take_taps(&rest, line), other_down = take_taps(&rest, (size_t)high);
    find_taps(&across, 0, wide, step, columns);
    find_taps(&down, 0, high, step, rows);
    find_taps(&other_across, 0, wide, other_step, other_columns);
    find_taps(&other_down, 0, high, other_step, other_rows);
    for (int y = 0; y < high; y++) {
        row_at(row, one, columns, down, y, columns);
        row_at(other_row, other, other_columns, other_down, y, other_columns);
        spread(values, row, across, wide);
        spread(factors, other_row, other_across, wide);
        float *to = product + (ptrdiff_t)y * wide;
        for (int x = 0; x < wide; x++) to[x] = values[x] * factors[x];
    }
    free(work);
    return 0;
}

/* Where a band of detail is quiet: 1 up to a mean size of `limit` over 6 x 6 pixels, 0 from twice that.

   band  (high, wide), stride floats from row to row
   quiet (ceil(high / 2), ceil(wide / 2)) on cells of 2 x 2 pixels */
MIEN_API int mien_quiet(const float *band, ptrdiff_t stride, int high, int wide, float limit, float *quiet) {
    const int rows = (high + 1) / 2, columns = (wide + 1) / 2;
    const float part = 1.0f / (36.0f * limit);
    float *work = malloc(sizeof(float) * PIECES(4, columns));
    if (!work) return -1;
    float *rest = work;
    /* Sums over cells of the last three rows, and over these rows. */
    float *sums[3] = {take(&rest, (size_t)columns), take(&rest, (size_t)columns), take(&rest, (size_t)columns)};
    float *total = take(&rest, (size_t)columns);
    for (int row = 0; row <= rows; row++) {
        if (row < rows) {
            /* Beyond an odd end its last line counts twice. */
            const float *upper = band + 2 * row * stride, *lower = 2 * row + 1 < high ? upper + stride : upper;
            float *sum = sums[row % 3];
            for (int c = 0; c < wide / 2; c++)
                sum[c] = fabsf(upper[2 * c]) + fabsf(upper[2 * c + 1]) + fabsf(lower[2 * c]) + fabsf(lower[2 * c + 1]);
            if (wide % 2) sum[columns - 1] = 2 * (fabsf(upper[wide - 1]) + fabsf(lower[wide - 1]));
        }
        if (row > 0) {
            const int middle = row - 1, above = middle > 0 ? middle - 1 : 0, below = row < rows ? row : middle;
            const float *one = sums[above % 3], *two = sums[middle % 3], *three = sums[below % 3];
            float *to = quiet + (ptrdiff_t)middle * columns;
            for (int c = 0; c < columns; c++) total[c] = one[c] + two[c] + three[c];
            for (int c = 0; c < columns; c++) {
                const float left = total[c > 0 ? c - 1 : 0], right = total[c + 1 < columns ? c + 1 : c];
                to[c] = clampf(2.0f - (left + total[c] + right) * part, 0.0f, 1.0f);
            }
        }
    }
    free(work);
    return 0;
}

/* Lays what is drawn over a window of the picture, its finest detail matched to the picture's.

   out       (high, wide, 3), out_stride floats from row to row: the picture, changed in place
   drawn     (high, wide, 4)
   opacity   (high, wide) 0..1
   detail    (high, wide), detail_stride floats from row to row: the picture's grain, of which goes on top
   quiet     (quiet_rows, quiet_columns) on cells of 2 x 2 pixels, times
   share     (rows, columns) on cells of step x step pixels
   fine      (high, wide) or null: what is drawn loses soften of it
   skin      (high, wide) or null: and smooth of it where parts (rows, columns) is 0 */
MIEN_API int mien_lay_over(float *out, ptrdiff_t out_stride, const float *drawn, const float *opacity,
                           const float *detail, ptrdiff_t detail_stride, const float *quiet, int quiet_rows,
                           int quiet_columns, const float *share, const float *parts, int rows, int columns, int step,
                           const float *fine, float soften, const float *skin, float smooth, int high, int wide) {
    const size_t line = (size_t)wide;
    const size_t pieces = PIECES(1, columns) + PIECES(1, quiet_columns) + PIECES(2, line) + 2 * (TAPS(line) + TAPS(high));
    float *work = malloc(sizeof(float) * pieces);
    if (!work) return -1;
    float *rest = work;
    float *row = take(&rest, (size_t)columns), *quiet_row = take(&rest, (size_t)quiet_columns);
    float *change = take(&rest, line), *factors = take(&rest, line);
    Taps across = take_taps(&rest, line), down = take_taps(&rest, (size_t)high);
    Taps quiet_across = take_taps(&rest, line), quiet_down = take_taps(&rest, (size_t)high);
    find_taps(&across, 0, wide, step, columns);
    find_taps(&down, 0, high, step, rows);
    find_taps(&quiet_across, 0, wide, 2, quiet_columns);
    find_taps(&quiet_down, 0, high, 2, quiet_rows);
    for (int y = 0; y < high; y++) {
        row_at(quiet_row, quiet, quiet_columns, quiet_down, y, quiet_columns);
        spread(change, quiet_row, quiet_across, wide);
        row_at(row, share, columns, down, y, columns);
        spread(factors, row, across, wide);
        const float *grain = detail + y * detail_stride;
        for (int x = 0; x < wide; x++) change[x] *= factors[x] * grain[x];
        if (fine) {
            const float *band = fine + (ptrdiff_t)y * wide;
            for (int x = 0; x < wide; x++) change[x] -= soften * band[x];
        }
        if (skin) {
            const float *band = skin + (ptrdiff_t)y * wide;
            row_at(row, parts, columns, down, y, columns);
            spread(factors, row, across, wide);
            for (int x = 0; x < wide; x++) change[x] -= smooth * (1.0f - factors[x]) * band[x];
        }
        const float *over = opacity + (ptrdiff_t)y * wide, *from = drawn + (ptrdiff_t)y * wide * 4;
        float *to = out + y * out_stride;
        for (int x = 0; x < wide; x++, from += 4, to += 3) {
            float part = over[x];
            if (part == 0.0f) continue;
            for (int channel = 0; channel < 3; channel++)
                to[channel] += part * (from[channel] + change[x] - to[channel]);
        }
    }
    free(work);
    return 0;
}
