/*
 * Random UUIDs (version 4) from the environment's random bytes.
 */
#ifndef SL_BASE_UUID_H
#define SL_BASE_UUID_H

#include "silt/env.h"
#include "silt/status.h"

#define SL_UUID_TEXT_SIZE 37

/* Writes "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx" and a NUL. */
silt_status sl_uuid_make(const silt_env *env, char out[SL_UUID_TEXT_SIZE], silt_error *err);

#endif
