/* Which variant of the library this is, and which one this processor can run. */
#include "api.h"

/* The name that the build gave to this variant. */
MIEN_API const char *mien_variant(void) { return MIEN_VARIANT; }

#if defined(__x86_64__)
#include <cpuid.h>

/* Bits of the CPUID leaves as Intel's and AMD's manuals number them. */
enum { FMA = 1 << 12, MOVBE = 1 << 22, OSXSAVE = 1 << 27, AVX = 1 << 28, F16C = 1 << 29 }; /* leaf 1, ECX */
enum { BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8 };                                      /* leaf 7, EBX */
enum { LZCNT = 1 << 5 };                                                           /* leaf 0x80000001, ECX */
enum { XMM_AND_YMM = 6 }; /* XCR0: the system keeps both halves of the vector registers. */

static int has(unsigned int bits, unsigned int wanted) { return (bits & wanted) == wanted; }

/* Valid only after OSXSAVE was seen. */
static unsigned int registers_kept(void) {
    unsigned int low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* 1 if processor and system have all of x86-64-v3, else 0. The compilers' own __builtin_cpu_supports is not used: one
   of them, Zig, answers no to everything. */
MIEN_API int mien_has_x86_64_v3(void) {
    unsigned int eax, ebx, ecx, edx;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !has(ecx, FMA | MOVBE | OSXSAVE | AVX | F16C)) return 0;
    if (!has(registers_kept(), XMM_AND_YMM)) return 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !has(ebx, BMI1 | AVX2 | BMI2)) return 0;
    return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && has(ecx, LZCNT);
}
#else
MIEN_API int mien_has_x86_64_v3(void) { return 0; }
#endif
