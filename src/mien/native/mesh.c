/* Triangles drawn onto a small grid, in order. */
#include "pixels.h"

/* Barycentric slack, so that a cell on an edge shared by two triangles is never left out. */
#define SLACK 1e-4f

/* Draws `count` triangles, corners (count, 3) of points (.., 2) in cells with the first cell's centre at 0, 0, and
   carries the points' values (.., channels) to the cells they cover: field (rows, columns, channels). Later triangles
   lie over earlier ones; other cells stay as they are. */
MIEN_API int mien_draw_triangles(const float *points, const int32_t *corners, int count, const float *values,
                                 int channels, float *field, int rows, int columns) {
    for (int t = 0; t < count; t++, corners += 3) {
        const float *a = points + 2 * corners[0], *b = points + 2 * corners[1], *c = points + 2 * corners[2];
        const float area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if (!(fabsf(area) > 1e-9f)) continue;
        const float low_x = fminf(fminf(a[0], b[0]), c[0]), high_x = fmaxf(fmaxf(a[0], b[0]), c[0]);
        const float low_y = fminf(fminf(a[1], b[1]), c[1]), high_y = fmaxf(fmaxf(a[1], b[1]), c[1]);
        const int left = (int)ceilf(fmaxf(low_x, 0)), right = (int)floorf(fminf(high_x, (float)(columns - 1)));
        const int top = (int)ceilf(fmaxf(low_y, 0)), bottom = (int)floorf(fminf(high_y, (float)(rows - 1)));
        const float one = 1.0f / area;
        const float u_x = (c[1] - a[1]) * one, u_y = (a[0] - c[0]) * one;
        const float v_x = (a[1] - b[1]) * one, v_y = (b[0] - a[0]) * one;
        const float *at_a = values + corners[0] * channels, *at_b = values + corners[1] * channels;
        const float *at_c = values + corners[2] * channels;
        for (int y = top; y <= bottom; y++) {
            for (int x = left; x <= right; x++) {
                const float dx = (float)x - a[0], dy = (float)y - a[1];
                const float u = dx * u_x + dy * u_y, v = dx * v_x + dy * v_y, w = 1 - u - v;
                if (u < -SLACK || v < -SLACK || w < -SLACK) continue;
                float *cell = field + ((ptrdiff_t)y * columns + x) * channels;
                for (int i = 0; i < channels; i++) cell[i] = w * at_a[i] + u * at_b[i] + v * at_c[i];
            }
        }
    }
    return 0;
}
