/* What a device reports of itself, as far as a DirectML build asks; each is an argument NAME=NUMBER. */
#ifndef CAPABILITY_H
#define CAPABILITY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *name; uint32_t value; } capability[] = {
    {"double", 1},
    {"native16", 1},
    {"int64", 1},
    {"typed_uav_load", 1},
    {"min_precision", 0},
    {"wave_ops", 1},
    {"shader_model", 0x65},
    {"feature_level", 0xc100},
};
enum { HAS_DOUBLE, HAS_16BIT, HAS_INT64, HAS_TYPED_LOAD, HAS_MIN_PRECISION, HAS_WAVES, SHADER_MODEL, FEATURE_LEVEL, CAPABILITIES };

static void read_capabilities(int count, char **arguments) {
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(arguments[i], "=");
        for (int c = 0; c < CAPABILITIES; c++)
            if (strlen(capability[c].name) == length && !strncmp(capability[c].name, arguments[i], length))
                capability[c].value = (uint32_t)strtoul(arguments[i] + length + 1, NULL, 0);
    }
}

/* Writes what depends on these into the answer to CheckFeatureSupport; returns whether any of it does. */
static int report(uint32_t feature, uint32_t *words) {
    switch (feature) {
    case 0: /* D3D12_OPTIONS */
        words[0] = capability[HAS_DOUBLE].value;
        words[2] = capability[HAS_MIN_PRECISION].value;
        words[6] = capability[HAS_TYPED_LOAD].value;
        return 1;
    case 2: /* FEATURE_LEVELS: a count, a pointer, and the answer */
        words[4] = capability[FEATURE_LEVEL].value;
        return 1;
    case 7: /* SHADER_MODEL: the caller asks with the highest that it knows */
        if (words[0] > capability[SHADER_MODEL].value) words[0] = capability[SHADER_MODEL].value;
        return 1;
    case 8: /* D3D12_OPTIONS1 */
        words[0] = capability[HAS_WAVES].value;
        words[5] = capability[HAS_INT64].value;
        return 1;
    case 23: /* D3D12_OPTIONS4 */
        words[2] = capability[HAS_16BIT].value;
        return 1;
    default:
        return 0;
    }
}

#endif
