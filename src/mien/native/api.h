/* What a function needs to be seen from outside the library; everything else stays hidden in it. */
#ifndef MIEN_API
#if defined(_WIN32)
#define MIEN_API __declspec(dllexport)
#else
#define MIEN_API __attribute__((visibility("default")))
#endif
#endif
