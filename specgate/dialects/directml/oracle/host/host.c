/* Asks a DirectML build whether IDMLDevice::CreateOperator takes an operator description.
 *
 *   host LIBRARY [NAME=NUMBER ...]        numbers switch what the stub device reports; see `capability`
 *
 * The device behind it is a stub: CreateOperator only validates, so nothing is ever compiled or executed.
 * Linux builds are loaded with dlopen, Windows builds with LoadLibrary (on Windows or under Wine); the protocol is
 * the same, all numbers little-endian:
 *
 *   hello     "SGDM", protocol version, HRESULT of creating the device, feature level that the device confirms
 *   question  sequence number, image size, number of pointers, offset of the DML_OPERATOR_DESC,
 *             the pointers' offsets, the image. Each pointer holds the offset in the image that it points to.
 *   answer    the question's sequence number, the HRESULT
 *
 * All fields are 32 bits wide. The host ends when its input ends.
 */
#include "common.h"

#define PROTOCOL 1u

enum { SLOTS = 128 };

/* What the device reports; each is an argument NAME=NUMBER. */
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

/* ---- the stub ID3D12Device, all versions ---- */

static int32_t query_interface(object *self, const guid *iid, void **out) {
    (void)iid;
    if (!out) return INVALID;
    *out = self;
    return OK;
}
static uint32_t one(void) { return 1; }
static int32_t fine(void) { return OK; }
static int32_t not_implemented(void) { return NOT_IMPLEMENTED; }

static int32_t check_feature_support(object *self, uint32_t feature, void *data, uint32_t size) {
    uint32_t *words = data;
    (void)self;
    switch (feature) {
    case 0: /* D3D12_OPTIONS */
        memset(data, 0, size);
        words[0] = capability[HAS_DOUBLE].value;
        words[2] = capability[HAS_MIN_PRECISION].value;
        words[4] = 3; /* resource binding tier */
        words[6] = capability[HAS_TYPED_LOAD].value;
        words[9] = 40; /* address bits of a resource */
        words[14] = 2; /* resource heap tier */
        return OK;
    case 2: /* FEATURE_LEVELS: a count, a pointer, and the answer */
        words[4] = capability[FEATURE_LEVEL].value;
        return OK;
    case 7: /* SHADER_MODEL: the caller asks with the highest that it knows */
        if (words[0] > capability[SHADER_MODEL].value) words[0] = capability[SHADER_MODEL].value;
        return OK;
    case 8: /* D3D12_OPTIONS1 */
        memset(data, 0, size);
        words[0] = capability[HAS_WAVES].value;
        words[1] = words[2] = 32; /* lanes of a wave */
        words[3] = 1024;
        words[5] = capability[HAS_INT64].value;
        return OK;
    case 23: /* D3D12_OPTIONS4 */
        memset(data, 0, size);
        words[2] = capability[HAS_16BIT].value;
        return OK;
    default:
        return NOT_IMPLEMENTED;
    }
}

/* A structure comes back through a hidden pointer on Windows, in a register elsewhere. */
#ifdef _WIN32
static void *adapter_luid(object *self, uint64_t *out) {
    (void)self;
    *out = 1;
    return out;
}
#else
static uint64_t adapter_luid(object *self) {
    (void)self;
    return 1;
}
#endif

static int32_t enumerate_meta_commands(object *self, uint32_t *count, void *found) {
    (void)self;
    (void)found;
    if (count) *count = 0;
    return OK;
}

static function device_slots[SLOTS];
static object device = {device_slots};

static void fill_device(void) {
    for (int i = 0; i < SLOTS; i++) device_slots[i] = (function)not_implemented;
    device_slots[0] = (function)query_interface;
    device_slots[1] = device_slots[2] = (function)one; /* AddRef, Release */
    device_slots[7] = (function)one;                   /* GetNodeCount */
    device_slots[13] = (function)check_feature_support;
    device_slots[37] = (function)fine; /* GetDeviceRemovedReason */
    device_slots[43] = (function)adapter_luid;
    device_slots[59] = (function)enumerate_meta_commands;
}

/* ---- the process ---- */

static void serve(object *directml) {
    image description = new_image();
    for (;;) {
        uint32_t head[4], answer[2];
        void *made = NULL;
        take(head, sizeof head);
        const void *root = take_image(description, head[1], head[2], head[3]);
        answer[0] = head[0];
        answer[1] = (uint32_t)((create_operator)directml->slots[8])(directml, root, &IID_OPERATOR, &made);
        if (made) ((release)((object *)made)->slots[2])(made);
        put(answer, sizeof answer);
    }
}

static void read_capabilities(int count, char **arguments) {
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(arguments[i], "=");
        for (int c = 0; c < CAPABILITIES; c++)
            if (strlen(capability[c].name) == length && !strncmp(capability[c].name, arguments[i], length))
                capability[c].value = (uint32_t)strtoul(arguments[i] + length + 1, NULL, 0);
    }
}

int main(int count, char **arguments) {
    uint32_t hello[4] = {0x4D444753u, PROTOCOL, (uint32_t)NOT_LOADED, 0};
    object *directml = NULL;
    if (count < 2) return 2;
    prepare_process();
    read_capabilities(count - 2, arguments + 2);
    fill_device();
    create_device create = load(arguments[1]);
    if (create) hello[2] = (uint32_t)create(&device, 0, 0x1000, &IID_DEVICE, (void **)&directml);
    if (hello[2] == OK && directml) hello[3] = confirmed_level(directml);
    put(hello, sizeof hello);
    if (hello[2] != OK || !directml) return 1;
    serve(directml);
}
