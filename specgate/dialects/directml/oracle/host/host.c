/* Asks a DirectML build whether IDMLDevice::CreateOperator takes an operator description.
 *
 *   host LIBRARY [NAME=NUMBER ...]        numbers switch what the stub device reports; see capability.h
 *
 * The device behind it is a stub: CreateOperator only validates, so nothing is ever compiled or executed.
 * Linux builds are loaded with dlopen, Windows builds with LoadLibrary (on Windows or under Wine); the protocol is
 * the same, all numbers little-endian:
 *
 *   hello     "SGDM", protocol version, HRESULT of creating the device, feature level that the device confirms
 *   question  sequence number, image size, number of pointers, offset of the DML_OPERATOR_DESC,
 *             the pointers' offsets, the image. Each pointer holds the offset in the image that it points to.
 *   answer    the question's sequence number, the HRESULT; where the number has the bit TIMED: how many nanoseconds of
 *             the processor creating the operator and releasing it take, once of ROUNDS times
 *
 * All fields are 32 bits wide. The host ends when its input ends.
 */
#include "capability.h"
#include "common.h"

#include <time.h>

#define PROTOCOL 1u
#define TIMED 0x80000000u

enum { SLOTS = 128, ROUNDS = 20000 };

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
    if (feature == 0 || feature == 8 || feature == 23) memset(data, 0, size); /* the others hold a question */
    if (feature == 0) {
        words[4] = 3;  /* resource binding tier */
        words[9] = 40; /* address bits of a resource */
        words[14] = 2; /* resource heap tier */
    }
    if (feature == 8) {
        words[1] = words[2] = 32; /* lanes of a wave */
        words[3] = 1024;
    }
    return report(feature, words) ? OK : NOT_IMPLEMENTED;
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

static uint32_t created(object *directml, const void *root) {
    void *made = NULL;
    uint32_t code = (uint32_t)((create_operator)directml->slots[8])(directml, root, &IID_OPERATOR, &made);
    if (made) ((release)((object *)made)->slots[2])(made);
    return code;
}

static uint32_t timed(object *directml, const void *root) {
    clock_t start = clock();
    for (int i = 0; i < ROUNDS; i++) created(directml, root);
    return (uint32_t)((double)(clock() - start) / CLOCKS_PER_SEC / ROUNDS * 1e9);
}

static void serve(object *directml) {
    image description = new_image();
    for (;;) {
        uint32_t head[4], answer[2];
        take(head, sizeof head);
        const void *root = take_image(description, head[1], head[2], head[3]);
        answer[0] = head[0];
        answer[1] = head[0] & TIMED ? timed(directml, root) : created(directml, root);
        put(answer, sizeof answer);
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
