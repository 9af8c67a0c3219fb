/*
 * Markers used by every public declaration.
 */
#ifndef SILT_EXPORT_H
#define SILT_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define SILT_API __attribute__((visibility("default")))
#define SILT_NODISCARD __attribute__((warn_unused_result))
#else
#define SILT_API
#define SILT_NODISCARD
#endif

#endif
