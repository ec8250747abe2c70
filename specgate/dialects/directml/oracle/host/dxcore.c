/* A stub of DXCore with one adapter, for DirectML builds that look their device's adapter up by its LUID. */
#include <stdint.h>
#include <string.h>

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#define OK 0
#define NOT_IMPLEMENTED ((int32_t)0x80004001)
#define INVALID ((int32_t)0x80070057)

enum { SLOTS = 32 };

typedef void (*function)(void);
typedef struct { function *slots; } object;

static int32_t query_interface(object *self, const void *iid, void **out) {
    (void)iid;
    if (!out) return INVALID;
    *out = self;
    return OK;
}
static uint32_t one(void) { return 1; }
static uint32_t none(void) { return 0; }
static int32_t not_implemented(void) { return NOT_IMPLEMENTED; }

static const char DESCRIPTION[] = "specgate stub";

/* DXCoreAdapterProperty: how long each value is; 0 where the stub has none. */
static size_t property_size(uint32_t property) {
    static const size_t sizes[] = {8, 8, sizeof DESCRIPTION, 16, 4, 0, 0, 8, 8, 8, 1, 1, 1, 1, 20, 4};
    return property < sizeof sizes / sizeof *sizes ? sizes[property] : 0;
}

static uint8_t is_property_supported(object *self, uint32_t property) {
    (void)self;
    return property_size(property) != 0;
}

static int32_t get_property_size(object *self, uint32_t property, size_t *size) {
    (void)self;
    if (!size || !property_size(property)) return INVALID;
    *size = property_size(property);
    return OK;
}

static int32_t get_property(object *self, uint32_t property, size_t size, void *data) {
    size_t needed = property_size(property);
    (void)self;
    if (!data || !needed || size < needed) return INVALID;
    memset(data, 0, size);
    switch (property) {
    case 0: *(uint64_t *)data = 1; break;             /* InstanceLuid, as the device reports it */
    case 1: *(uint64_t *)data = 1ull << 48; break;    /* DriverVersion */
    case 2: memcpy(data, DESCRIPTION, needed); break; /* DriverDescription */
    case 3:
    case 14: *(uint32_t *)data = 0x1414; break; /* HardwareID, HardwareIDParts: the vendor of software adapters */
    case 7:
    case 8:
    case 9: *(uint64_t *)data = 1ull << 32; break; /* memory, in bytes */
    case 11: *(uint8_t *)data = 1; break;          /* IsHardware */
    case 15: *(uint32_t *)data = 1; break;         /* PhysicalAdapterCount */
    default: break;
    }
    return OK;
}

static function adapter_slots[SLOTS], factory_slots[SLOTS];
static object adapter = {adapter_slots}, factory = {factory_slots};

static int32_t adapter_by_luid(object *self, const void *luid, const void *iid, void **out) {
    (void)self;
    (void)luid;
    return query_interface(&adapter, iid, out);
}

static int32_t get_factory(object *self, const void *iid, void **out) {
    (void)self;
    return query_interface(&factory, iid, out);
}

static void fill(function *slots) {
    for (int i = 0; i < SLOTS; i++) slots[i] = (function)not_implemented;
    slots[0] = (function)query_interface;
    slots[1] = slots[2] = (function)one; /* AddRef, Release */
}

EXPORTED int32_t DXCoreCreateAdapterFactory(const void *iid, void **out) {
    fill(adapter_slots);
    fill(factory_slots);
    factory_slots[4] = (function)adapter_by_luid;
    adapter_slots[3] = adapter_slots[4] = (function)one; /* IsValid, IsAttributeSupported */
    adapter_slots[5] = (function)is_property_supported;
    adapter_slots[6] = (function)get_property;
    adapter_slots[7] = (function)get_property_size;
    adapter_slots[8] = adapter_slots[10] = (function)none; /* IsQueryStateSupported, IsSetStateSupported */
    adapter_slots[12] = (function)get_factory;
    return query_interface(&factory, iid, out);
}
