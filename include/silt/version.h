/* silt/version.h: the version of the library that these headers belong to.
 *
 * A program compares SILT_VERSION_STRING, fixed when it was compiled, with what the library that it
 * runs with reports, if it cares. SILT_ABI_VERSION changes only when a program compiled against
 * earlier headers can no longer run with the library; plug-in vtables carry it in their `abi` field.
 * The build reads the three numbers below: this is the only place where they are written down.
 */
#ifndef SILT_VERSION_H
#define SILT_VERSION_H

#define SILT_VERSION_MAJOR 0
#define SILT_VERSION_MINOR 1
#define SILT_VERSION_PATCH 0

#define SILT_VERSION_STRING "0.1.0"

/* One number that grows with every version: 0.1.0 is 100, 1.2.3 is 10203. */
#define SILT_VERSION_NUMBER (SILT_VERSION_MAJOR * 10000 + SILT_VERSION_MINOR * 100 + SILT_VERSION_PATCH)

#define SILT_ABI_VERSION 1

#endif
