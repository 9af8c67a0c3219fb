/*
 * silt: Delta Lake in C. Includes the whole public API.
 */
#ifndef SILT_SILT_H
#define SILT_SILT_H

#include "silt/arrow.h"
#include "silt/cache.h"
#include "silt/changes.h"
#include "silt/checkpoint.h"
#include "silt/commands.h"
#include "silt/committer.h"
#include "silt/deletion_vector.h"
#include "silt/doctor.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/expr.h"
#include "silt/log_maintenance.h"
#include "silt/scan.h"
#include "silt/schema.h"
#include "silt/session.h"
#include "silt/snapshot.h"
#include "silt/status.h"
#include "silt/storage.h"
#include "silt/table.h"
#include "silt/transaction.h"
#include "silt/variant.h"
#include "silt/version.h"

#endif
