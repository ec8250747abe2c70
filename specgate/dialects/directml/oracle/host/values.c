/* Executes operators with a DirectML build on a real D3D12 device: compile once, dispatch many inputs.
 *
 *   values LIBRARY [OTHER ...]        the others are loaded first, for what the library imports
 *
 * It runs on Windows, or under a Wine whose d3d12.dll sits on a Vulkan driver, which may be a software one. Two methods
 * of the device are replaced, so that the build asks for nothing that Wine's translator of shaders does not know. The
 * protocol, all numbers little-endian, 32 bits wide unless it says otherwise:
 *
 *   hello     "SGDV", protocol version, HRESULT of creating the devices, feature level that DirectML confirms
 *   compile   1, image size, number of pointers, offset of the DML_OPERATOR_DESC, number of inputs, number of outputs;
 *             the pointers' offsets, the image; then for each tensor, inputs first, two 64-bit numbers: its size in
 *             bytes (0: not bound) and whether DirectML owns it (its bytes go to the initialiser)
 *   answer    where it ended (see `stage`), HRESULT, number of descriptors, 0;
 *             64 bits each: size of the temporary and of the persistent resource
 *   dispatch  2, a byte that the outputs are filled with beforehand; then the bytes of each bound input
 *   answer    where it ended, HRESULT; if that is 0 the bytes of each bound output
 *
 * A compiled operator is kept until the next one. The host ends when its input ends.
 */
#include "device.h"

#define PROTOCOL 1u

enum { MAX_TENSORS = 4096 };

/* Where a question ended. */
enum stage { DONE, CREATE, COMPILE, INITIALISE, ALLOCATE, EXECUTE };

/* ---- DirectML's interfaces, as far as they are used ---- */

static const GUID IID_COMPILED = {0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};
static const GUID IID_INITIALISER = {0x427c1113, 0x435c, 0x469c, {0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13}};
static const GUID IID_RECORDER = {0xe6857a76, 0x2e3e, 0x4fdd, {0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53}};
static const GUID IID_TABLE = {0x29c687dc, 0xde74, 0x4e3b, {0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc}};

enum { /* slots of IDMLDevice, IDMLDispatchable, IDMLBindingTable and IDMLCommandRecorder */
    CREATE_OPERATOR = 8, COMPILE_OPERATOR, CREATE_INITIALISER, CREATE_RECORDER, CREATE_TABLE, REMOVED_REASON = 15,
    BINDING_PROPERTIES = 8,
    BIND_INPUTS = 8, BIND_OUTPUTS, BIND_TEMPORARY, BIND_PERSISTENT,
    RECORD_DISPATCH = 8,
};

typedef struct { uint32_t descriptors; uint64_t temporary, persistent; } properties;
typedef struct { ID3D12Resource *buffer; uint64_t offset, size; } buffer_binding;
typedef struct { uint32_t count; const buffer_binding *bindings; } array_binding;
typedef struct { uint32_t type; const void *description; } binding;
typedef struct {
    object *dispatchable;
    D3D12_CPU_DESCRIPTOR_HANDLE cpu;
    D3D12_GPU_DESCRIPTOR_HANDLE gpu;
    uint32_t size;
} table_description;
enum { BIND_NONE, BIND_BUFFER, BIND_ARRAY };

typedef int32_t (*compile_operator)(object *, object *, uint32_t, const GUID *, void **);
typedef int32_t (*create_initialiser)(object *, uint32_t, object *const *, const GUID *, void **);
typedef int32_t (*create_recorder)(object *, const GUID *, void **);
typedef int32_t (*create_table)(object *, const table_description *, const GUID *, void **);
typedef int32_t (*removed_reason)(object *);
typedef properties *(*binding_properties)(object *, properties *); /* a structure comes back by a hidden pointer */
typedef void (*bind_many)(object *, uint32_t, const binding *);
typedef void (*bind_one)(object *, const binding *);
typedef void (*record_dispatch)(object *, ID3D12CommandList *, object *, object *);

static void let_go(void *thing) {
    if (thing) ((release)((object *)thing)->slots[2])(thing);
}

/* ---- the D3D12 device ---- */

static ID3D12CommandAllocator *allocator;
static ID3D12GraphicsCommandList *list;
static ID3D12Fence *fence;
static uint64_t fence_value;

static HRESULT WINAPI check_feature_support(ID3D12Device *self, D3D12_FEATURE feature, void *data, UINT size) {
    uint32_t *words = data;
    if (feature == 7) { /* SHADER_MODEL: later ones have instructions that are not translated */
        if (words[0] > 0x62) words[0] = 0x62;
        return S_OK;
    }
    if (feature == 23) { /* OPTIONS4: no native 16-bit arithmetic */
        memset(data, 0, size);
        return S_OK;
    }
    HRESULT result = real_check(self, feature, data, size);
    if (feature == D3D12_FEATURE_D3D12_OPTIONS && SUCCEEDED(result)) words[2] = 0; /* no minimum precision */
    return result;
}

static HRESULT make_device(void) {
    HRESULT result = create_device_and_queue((function)check_feature_support);
    if (FAILED(result)) return result;
    if (FAILED(result = ID3D12Device_CreateCommandAllocator(device, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                            &IID_ID3D12CommandAllocator, (void **)&allocator)) ||
        FAILED(result = ID3D12Device_CreateCommandList(device, 0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator, NULL,
                                                       &IID_ID3D12GraphicsCommandList, (void **)&list)) ||
        FAILED(result = ID3D12Device_CreateFence(device, 0, 0, &IID_ID3D12Fence, (void **)&fence)))
        return result;
    return S_OK;
}

/* Runs what was recorded to its end and opens the list again. */
static HRESULT execute(void) {
    ID3D12CommandList *lists[] = {(ID3D12CommandList *)list};
    HRESULT result = ID3D12GraphicsCommandList_Close(list);
    if (SUCCEEDED(result)) {
        ID3D12CommandQueue_ExecuteCommandLists(queue, 1, lists);
        result = ID3D12CommandQueue_Signal(queue, fence, ++fence_value);
    }
    if (SUCCEEDED(result)) result = ID3D12Fence_SetEventOnCompletion(fence, fence_value, NULL); /* returns when done */
    if (SUCCEEDED(result)) result = ID3D12Device_GetDeviceRemovedReason(device);
    if (SUCCEEDED(result)) result = ID3D12CommandAllocator_Reset(allocator);
    if (SUCCEEDED(result)) result = ID3D12GraphicsCommandList_Reset(list, allocator, NULL);
    return result;
}

static HRESULT make_buffer(D3D12_HEAP_TYPE type, uint64_t size, ID3D12Resource **made) {
    D3D12_HEAP_PROPERTIES heap = {.Type = type, .CreationNodeMask = 1, .VisibleNodeMask = 1};
    D3D12_RESOURCE_DESC description = {
        .Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
        .Width = size,
        .Height = 1,
        .DepthOrArraySize = 1,
        .MipLevels = 1,
        .SampleDesc = {1, 0},
        .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
        .Flags = type == D3D12_HEAP_TYPE_DEFAULT ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS : 0,
    };
    D3D12_RESOURCE_STATES state = type == D3D12_HEAP_TYPE_UPLOAD     ? D3D12_RESOURCE_STATE_GENERIC_READ
                                  : type == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST
                                                                     : D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    return ID3D12Device_CreateCommittedResource(device, &heap, 0, &description, state, NULL, &IID_ID3D12Resource,
                                                (void **)made);
}

static void change_state(ID3D12Resource *resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after) {
    D3D12_RESOURCE_BARRIER barrier = {.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};
    barrier.Transition.pResource = resource;
    barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
    barrier.Transition.StateBefore = before;
    barrier.Transition.StateAfter = after;
    ID3D12GraphicsCommandList_ResourceBarrier(list, 1, &barrier);
}

static void settle_writes(void) {
    D3D12_RESOURCE_BARRIER barrier = {.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV}; /* of every resource */
    ID3D12GraphicsCommandList_ResourceBarrier(list, 1, &barrier);
}

/* ---- one operator ---- */

typedef struct {
    uint64_t size, owned, place; /* place: where its bytes are in the upload or readback buffer */
    ID3D12Resource *buffer;
} tensor;

static object *directml, *recorder;
static struct {
    object *operator, *compiled, *initialiser;
    properties needs, initialiser_needs;
    uint32_t inputs, outputs;
    int any_owned, initialised;
    tensor tensors[MAX_TENSORS];
    ID3D12DescriptorHeap *heap;
    ID3D12Resource *temporary, *persistent, *upload, *readback;
    uint64_t upload_size, readback_size;
} now;

static void forget(void) {
    let_go(now.operator);
    let_go(now.compiled);
    let_go(now.initialiser);
    let_go(now.heap);
    let_go(now.temporary);
    let_go(now.persistent);
    let_go(now.upload);
    let_go(now.readback);
    for (uint32_t i = 0; i < now.inputs + now.outputs; i++) let_go(now.tensors[i].buffer);
    memset(&now, 0, sizeof now);
}

static properties needs_of(object *dispatchable) {
    properties found = {0, 0, 0};
    ((binding_properties)dispatchable->slots[BINDING_PROPERTIES])(dispatchable, &found);
    return found;
}

/* Makes the buffers of the tensors, what the operator needs besides, and the buffers to fill and read them by. */
static HRESULT allocate(void) {
    D3D12_DESCRIPTOR_HEAP_DESC heap = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1,
                                       D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    uint64_t temporary = now.needs.temporary;
    HRESULT result;
    if (heap.NumDescriptors < now.needs.descriptors) heap.NumDescriptors = now.needs.descriptors;
    if (heap.NumDescriptors < now.initialiser_needs.descriptors) heap.NumDescriptors = now.initialiser_needs.descriptors;
    if (temporary < now.initialiser_needs.temporary) temporary = now.initialiser_needs.temporary;
    if (FAILED(result = ID3D12Device_CreateDescriptorHeap(device, &heap, &IID_ID3D12DescriptorHeap, (void **)&now.heap)))
        return result;
    if (temporary && FAILED(result = make_buffer(D3D12_HEAP_TYPE_DEFAULT, temporary, &now.temporary))) return result;
    if (now.needs.persistent &&
        FAILED(result = make_buffer(D3D12_HEAP_TYPE_DEFAULT, now.needs.persistent, &now.persistent)))
        return result;
    for (uint32_t i = 0; i < now.inputs + now.outputs; i++) {
        tensor *each = &now.tensors[i];
        uint64_t *end = i < now.inputs ? &now.upload_size : &now.readback_size;
        if (!each->size) continue;
        each->place = *end;
        *end += (each->size + 15) & ~15ull;
        if (FAILED(result = make_buffer(D3D12_HEAP_TYPE_DEFAULT, each->size, &each->buffer))) return result;
    }
    /* The upload buffer holds the outputs' filling behind the inputs. */
    if (FAILED(result = make_buffer(D3D12_HEAP_TYPE_UPLOAD, now.upload_size + now.readback_size + 16, &now.upload)))
        return result;
    return make_buffer(D3D12_HEAP_TYPE_READBACK, now.readback_size + 16, &now.readback);
}

/* Describes the bindings of some tensors: owned ones where `owned`, the others otherwise. */
static void describe(const tensor *from, uint32_t count, int owned, buffer_binding *buffers, binding *bindings) {
    for (uint32_t i = 0; i < count; i++) {
        int bound = from[i].size && (from[i].owned != 0) == owned;
        buffers[i] = (buffer_binding){bound ? from[i].buffer : NULL, 0, bound ? from[i].size : 0};
        bindings[i] = (binding){bound ? BIND_BUFFER : BIND_NONE, bound ? &buffers[i] : NULL};
    }
}

static HRESULT new_table(object *dispatchable, uint32_t descriptors, object **made) {
    table_description description = {.dispatchable = dispatchable, .size = descriptors};
    now.heap->lpVtbl->GetCPUDescriptorHandleForHeapStart(now.heap, &description.cpu);
    now.heap->lpVtbl->GetGPUDescriptorHandleForHeapStart(now.heap, &description.gpu);
    return ((create_table)directml->slots[CREATE_TABLE])(directml, &description, &IID_TABLE, (void **)made);
}

static void bind_resource(object *table, int slot, ID3D12Resource *resource, uint64_t size) {
    buffer_binding buffer = {resource, 0, size};
    binding bound = {BIND_BUFFER, &buffer};
    if (size) ((bind_one)table->slots[slot])(table, &bound);
}

static void record(object *dispatchable, object *table) {
    ID3D12GraphicsCommandList_SetDescriptorHeaps(list, 1, &now.heap);
    ((record_dispatch)recorder->slots[RECORD_DISPATCH])(recorder, (ID3D12CommandList *)list, dispatchable, table);
    settle_writes();
}

static buffer_binding buffers[MAX_TENSORS];
static binding bindings[MAX_TENSORS];

static HRESULT initialise(void) {
    object *table = NULL;
    HRESULT result = new_table(now.initialiser, now.initialiser_needs.descriptors, &table);
    if (FAILED(result)) return result;
    bind_resource(table, BIND_TEMPORARY, now.temporary, now.initialiser_needs.temporary);
    if (now.any_owned) {
        array_binding all = {now.inputs, buffers};
        binding one = {BIND_ARRAY, &all};
        describe(now.tensors, now.inputs, 1, buffers, bindings);
        ((bind_many)table->slots[BIND_INPUTS])(table, 1, &one);
    }
    if (now.needs.persistent) {
        buffer_binding buffer = {now.persistent, 0, now.needs.persistent};
        binding one = {BIND_BUFFER, &buffer};
        ((bind_many)table->slots[BIND_OUTPUTS])(table, 1, &one);
    }
    record(now.initialiser, table);
    result = execute();
    let_go(table);
    now.initialised = SUCCEEDED(result);
    return result;
}

static HRESULT dispatch(void) {
    object *table = NULL;
    HRESULT result = new_table(now.compiled, now.needs.descriptors, &table);
    if (FAILED(result)) return result;
    bind_resource(table, BIND_TEMPORARY, now.temporary, now.needs.temporary);
    bind_resource(table, BIND_PERSISTENT, now.persistent, now.needs.persistent);
    describe(now.tensors, now.inputs, 0, buffers, bindings);
    ((bind_many)table->slots[BIND_INPUTS])(table, now.inputs, bindings);
    describe(now.tensors + now.inputs, now.outputs, 0, buffers, bindings);
    ((bind_many)table->slots[BIND_OUTPUTS])(table, now.outputs, bindings);
    record(now.compiled, table);
    result = execute();
    let_go(table);
    return result;
}

/* ---- questions ---- */

static enum stage compile(const void *description, HRESULT *result) {
    if (FAILED(*result = ((create_operator)directml->slots[CREATE_OPERATOR])(directml, description, &IID_OPERATOR,
                                                                              (void **)&now.operator)))
        return CREATE;
    if (FAILED(*result = ((compile_operator)directml->slots[COMPILE_OPERATOR])(
                   directml, now.operator, 0, &IID_COMPILED, (void **)&now.compiled)) ||
        FAILED(*result = ((create_initialiser)directml->slots[CREATE_INITIALISER])(
                   directml, 1, &now.compiled, &IID_INITIALISER, (void **)&now.initialiser)))
        return COMPILE;
    now.needs = needs_of(now.compiled);
    now.initialiser_needs = needs_of(now.initialiser);
    if (FAILED(*result = allocate())) return ALLOCATE;
    if (!now.any_owned && FAILED(*result = initialise())) return INITIALISE;
    return DONE;
}

static void answer_compile(image description) {
    struct { uint32_t stage, result, descriptors, none; uint64_t temporary, persistent; } answer;
    uint32_t head[5];
    HRESULT result = S_OK;
    take(head, sizeof head);
    void *root = take_image(description, head[0], head[1], head[2]);
    forget();
    if (head[3] > MAX_TENSORS || head[4] > MAX_TENSORS - head[3]) exit(4);
    now.inputs = head[3];
    now.outputs = head[4];
    for (uint32_t i = 0; i < now.inputs + now.outputs; i++) {
        take(&now.tensors[i].size, 16);
        now.any_owned |= now.tensors[i].owned != 0;
    }
    answer.stage = compile(root, &result);
    answer.result = (uint32_t)result;
    answer.descriptors = now.needs.descriptors;
    answer.none = 0;
    answer.temporary = now.needs.temporary;
    answer.persistent = now.needs.persistent;
    put(&answer, sizeof answer);
}

/* Brings the inputs' bytes and the outputs' filling to the device. */
static HRESULT fill(int byte) {
    uint8_t *bytes = NULL;
    HRESULT result = ID3D12Resource_Map(now.upload, 0, NULL, (void **)&bytes);
    if (FAILED(result)) return result;
    for (uint32_t i = 0; i < now.inputs; i++) take(bytes + now.tensors[i].place, now.tensors[i].size);
    memset(bytes + now.upload_size, byte, now.readback_size);
    ID3D12Resource_Unmap(now.upload, 0, NULL);
    for (uint32_t i = 0; i < now.inputs + now.outputs; i++) {
        const tensor *each = &now.tensors[i];
        if (!each->size) continue;
        change_state(each->buffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_DEST);
        ID3D12GraphicsCommandList_CopyBufferRegion(
            list, each->buffer, 0, now.upload, each->place + (i < now.inputs ? 0 : now.upload_size), each->size);
        change_state(each->buffer, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    }
    return execute();
}

static HRESULT read_back(uint8_t **bytes) {
    for (uint32_t i = now.inputs; i < now.inputs + now.outputs; i++) {
        const tensor *each = &now.tensors[i];
        if (!each->size) continue;
        change_state(each->buffer, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
        ID3D12GraphicsCommandList_CopyBufferRegion(list, now.readback, each->place, each->buffer, 0, each->size);
        change_state(each->buffer, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    }
    HRESULT result = execute();
    return FAILED(result) ? result : ID3D12Resource_Map(now.readback, 0, NULL, (void **)bytes);
}

static void answer_dispatch(void) {
    uint32_t byte, answer[2] = {EXECUTE, 0};
    uint8_t *bytes = NULL;
    take(&byte, sizeof byte);
    if (!now.compiled || !now.readback) exit(4);
    HRESULT result = fill((int)byte);
    if (SUCCEEDED(result) && !now.initialised) result = initialise();
    if (SUCCEEDED(result)) result = dispatch();
    if (SUCCEEDED(result)) result = read_back(&bytes);
    if (SUCCEEDED(result)) result = ((removed_reason)directml->slots[REMOVED_REASON])(directml);
    if (now.any_owned) now.initialised = 0; /* the next question brings other bytes */
    answer[0] = SUCCEEDED(result) ? DONE : EXECUTE;
    answer[1] = (uint32_t)result;
    put(answer, sizeof answer);
    if (FAILED(result)) return;
    for (uint32_t i = now.inputs; i < now.inputs + now.outputs; i++)
        put(bytes + now.tensors[i].place, now.tensors[i].size);
    ID3D12Resource_Unmap(now.readback, 0, NULL);
}

int main(int count, char **arguments) {
    uint32_t hello[4] = {0x56444753u, PROTOCOL, (uint32_t)NOT_LOADED, 0};
    if (count < 2) return 2;
    prepare_process();
    for (int i = 2; i < count; i++)
        if (!LoadLibraryA(arguments[i])) fprintf(stderr, "%s: LoadLibrary failed with %lu\n", arguments[i], GetLastError());
    create_device create = load(arguments[1]);
    if (create) hello[2] = (uint32_t)make_device();
    if (hello[2] == OK) hello[2] = (uint32_t)create(device, 0, 0x1000, &IID_DEVICE, (void **)&directml);
    if (hello[2] == OK && directml)
        hello[2] = (uint32_t)((create_recorder)directml->slots[CREATE_RECORDER])(directml, &IID_RECORDER,
                                                                                  (void **)&recorder);
    if (hello[2] == OK && directml) hello[3] = confirmed_level(directml);
    put(hello, sizeof hello);
    if (hello[2] != OK || !recorder) return 1;
    for (image description = new_image();;) {
        uint32_t kind;
        take(&kind, sizeof kind);
        if (kind == 1) answer_compile(description);
        else if (kind == 2) answer_dispatch();
        else exit(4);
    }
}
