/*
 * The kinds of planted faults, in the order of plants.def.
 */
#ifndef SILT_CONTRACT_PLANTS_H
#define SILT_CONTRACT_PLANTS_H

enum plant_kind {
#define PLANT(kind, name, ...) PLANT_##kind,
#include "plants.def"
#undef PLANT
};

#endif
