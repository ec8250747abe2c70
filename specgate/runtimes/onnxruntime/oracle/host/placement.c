/* Asks ONNX Runtime where its DirectML provider places a model's nodes, and what it creates for them.
 *
 *   placement DIRECTML ONNXRUNTIME [NAME=NUMBER ...]        numbers: what the device reports; see capability.h
 *
 * The libraries are loaded in this order, so that the runtime takes this DirectML and no other. The device is real (on
 * Windows, or Wine's over a software Vulkan), but nothing is compiled: IDMLDevice::CreateOperator is logged, and
 * CompileOperator answers with one operator that was compiled at the start. The protocol, all numbers little-endian and
 * 32 bits wide:
 *
 *   hello     "SGDP", protocol version, HRESULT of creating the devices, feature level that DirectML confirms
 *   layout    1, number of operators; for each its number, its structure's size, how many pointers are in it, and for
 *             each of those its kind (see `kind`), its offset, the offset of the member that counts it
 *   create    2, optimisation level as GraphOptimizationLevel numbers it, whether DirectML's nodes are fused into
 *             graphs, whether to run, the model's size; the model
 *   records   of one session, each with its kind and its size:
 *               1  an operator is about to be created: offset of the DML_OPERATOR_DESC, number of pointers; the
 *                  pointers' offsets; the image, in which each pointer holds the offset of what it points to
 *               2  HRESULT of creating it
 *               3  a line of the runtime's log about the places of nodes
 *               4  something is about to be compiled, so that a kernel has all its operators: number of its nodes if it
 *                  is a graph, 0 if it is one operator
 *               5  the end: 0 or the error's code (OrtErrorCode), then its text
 *               6  the session is created and runs now, with ones for inputs: makes the kernels that wait for it
 *
 * The host ends when its input ends.
 */
#include "capability.h"
#include "device.h"
#include "images.h"

#define PROTOCOL 1u

enum { MAX_MODEL = 0x7fffffff };

/* ---- the runtime's C API: a table of functions that only grows; the slots of those that are used ---- */

enum {
    CREATE_STATUS = 0, ERROR_CODE = 1, ERROR_MESSAGE = 2, CREATE_ENVIRONMENT = 4, CREATE_SESSION = 8, RUN = 9,
    CREATE_OPTIONS = 10, DISABLE_PATTERNS = 17, LOG_SEVERITY = 22, OPTIMISATION = 23, THREADS = 24, INPUTS = 30,
    OUTPUTS = 31, INPUT_TYPE = 33, INPUT_NAME = 36, OUTPUT_NAME = 37, CREATE_TENSOR = 48, TENSOR_DATA = 51,
    TENSOR_INFO = 55, TENSOR_TYPE = 60, DIMENSIONS = 61, DIMENSION_SIZES = 62, DEFAULT_ALLOCATOR = 78,
    RELEASE_STATUS = 93, RELEASE_SESSION = 95, RELEASE_VALUE = 96, RELEASE_TYPE = 98, RELEASE_OPTIONS = 100,
    CONFIGURE = 130,
    API_VERSION = 10, VERBOSE = 0,
};
typedef struct { const function *(*api)(uint32_t); const char *(*version)(void); } api_base;
typedef const api_base *(*get_base)(void);
typedef void (*log_line)(void *, int, const char *, const char *, const char *, const char *);
typedef int (*error_code)(const void *);
typedef const char *(*error_message)(const void *);
typedef void *(*create_environment)(log_line, void *, int, const char *, void **);
typedef void *(*create_session)(void *, const void *, size_t, const void *, void **);
typedef void *(*create_options)(void **);
typedef void *(*option)(void *);
typedef void *(*numbered_option)(void *, int);
typedef void *(*configuration)(void *, const char *, const char *);
typedef void *(*append_provider)(void *, void *, void *);
typedef void (*release_any)(void *);
typedef void *(*create_status)(int, const char *);
typedef void *(*run_session)(void *, const void *, const char *const *, void *const *, size_t, const char *const *,
                             size_t, void **);
typedef void *(*get_count)(void *, size_t *);
typedef void *(*get_part)(void *, size_t, void **);
typedef void *(*get_name)(void *, size_t, void *, char **);
typedef void *(*get_pointer)(void *, void **);
typedef void *(*get_number)(void *, int *);
typedef void *(*get_sizes)(void *, int64_t *, size_t);
typedef void *(*get_allocator)(void **);
typedef void *(*create_tensor)(void *, const int64_t *, size_t, int, void **);

static const function *ort;
static append_provider append_directml;
static void *environment;

/* ---- records ---- */

enum record { OPERATOR = 1, CREATED, PLACE, COMPILED, END, RUNNING };

static void put_head(enum record kind, size_t size) {
    uint32_t head[2] = {kind, (uint32_t)size};
    put(head, sizeof head);
}

static void put_text(enum record kind, const char *text) {
    put_head(kind, strlen(text));
    put(text, strlen(text));
}

static void put_number(enum record kind, uint32_t number) {
    put_head(kind, sizeof number);
    put(&number, sizeof number);
}

static void put_operator(const tagged *description) {
    used = pointers = 0;
    uint32_t head[2] = {append(NULL, sizeof *description), 0};
    copy_operator(description, head[0]);
    head[1] = pointers;
    put_head(OPERATOR, sizeof head + pointers * sizeof *made.pointers + used);
    put(head, sizeof head);
    put(made.pointers, pointers * sizeof *made.pointers);
    put(made.data, used);
}

/* ---- the DirectML device ---- */

static const GUID IID_DEVICE_1 = {0xa0884f9a, 0xd2be, 0x4355, {0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2}};
static const GUID IID_COMPILED = {0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};

enum { /* slots of IDMLDevice, IDMLBindingTable and IDMLCommandRecorder; a number of DML_OPERATOR_TYPE */
    CREATE_OPERATOR = 8, COMPILE_OPERATOR, CREATE_RECORDER = 11, CREATE_TABLE, REMOVED_REASON = 15, COMPILE_GRAPH = 17,
    BIND_INPUTS = 8, BIND_OUTPUTS, BIND_TEMPORARY, BIND_PERSISTENT,
    RECORD_DISPATCH = 8,
    IDENTITY = 1,
};

typedef int32_t (*query_interface)(object *, const GUID *, void **);
typedef int32_t (*compile_operator)(object *, object *, uint32_t, const GUID *, void **);
typedef int32_t (*create_recorder)(object *, const GUID *, void **);
typedef int32_t (*create_table)(object *, const void *, const GUID *, void **);

static object *directml, *compiled;
static create_operator real_create;
static create_recorder real_recorder;
static create_table real_table;
static int logging;

static int32_t logged_create(object *self, const void *description, const guid *iid, void **out) {
    if (logging) put_operator(description);
    int32_t result = real_create(self, description, iid, out);
    if (logging) put_number(CREATED, (uint32_t)result);
    return result;
}

static int32_t compile_nothing(uint32_t nodes, const GUID *iid, void **out) {
    if (logging) put_number(COMPILED, nodes);
    return ((query_interface)compiled->slots[0])(compiled, iid, out);
}

static int32_t compile_no_operator(object *self, object *operator, uint32_t flags, const GUID *iid, void **out) {
    (void)self;
    (void)operator;
    (void)flags;
    return compile_nothing(0, iid, out);
}

static int32_t compile_no_graph(object *self, const uint32_t *graph, uint32_t flags, const GUID *iid, void **out) {
    (void)self;
    (void)flags;
    return compile_nothing(graph[2], iid, out); /* DML_GRAPH_DESC: inputs, outputs, nodes */
}

/* What is bound and recorded is meant for other operators than the one that was compiled: nothing of it is done. */

static void do_nothing(void) {}
static int32_t all_is_well(void) { return OK; }

static int32_t inert_recorder(object *self, const GUID *iid, void **out) {
    int32_t result = real_recorder(self, iid, out);
    if (result == OK) replace(*out, RECORD_DISPATCH, (function)do_nothing);
    return result;
}

static int32_t inert_table(object *self, const void *description, const GUID *iid, void **out) {
    int32_t result = real_table(self, description, iid, out);
    for (int slot = BIND_INPUTS; result == OK && slot <= BIND_PERSISTENT; slot++)
        replace(*out, slot, (function)do_nothing);
    return result;
}

static void replace_methods(object *self) {
    replace(self, CREATE_OPERATOR, (function)logged_create);
    replace(self, COMPILE_OPERATOR, (function)compile_no_operator);
    replace(self, CREATE_RECORDER, (function)inert_recorder);
    replace(self, CREATE_TABLE, (function)inert_table);
    replace(self, REMOVED_REASON, (function)all_is_well);
}

static HRESULT WINAPI check_feature_support(ID3D12Device *self, D3D12_FEATURE feature, void *data, UINT size) {
    HRESULT result = real_check(self, feature, data, size);
    return report(feature, data) ? S_OK : result;
}

typedef HRESULT(WINAPI *create_heap)(ID3D12Device *, const D3D12_DESCRIPTOR_HEAP_DESC *, REFIID, void **);
static create_heap real_heap;

/* Each session asks for a heap of one size, which takes Wine most of the session's time: give the same one again. */
static HRESULT WINAPI create_descriptor_heap(ID3D12Device *self, const D3D12_DESCRIPTOR_HEAP_DESC *wanted, REFIID iid,
                                             void **out) {
    static D3D12_DESCRIPTOR_HEAP_DESC kept;
    static object *heap;
    if (!heap || memcmp(&kept, wanted, sizeof kept)) {
        if (heap) ((release)heap->slots[2])(heap);
        heap = NULL;
        HRESULT result = real_heap(self, wanted, &IID_ID3D12DescriptorHeap, (void **)&heap);
        if (FAILED(result)) return result;
        kept = *wanted;
    }
    return ((query_interface)heap->slots[0])(heap, iid, out);
}

/* Compiles the operator that stands for all others, then replaces the methods. */
static HRESULT prepare_directml(void) {
    static const uint32_t sizes[] = {1, 1, 1, 1};
    static const buffer_tensor buffer = {1, 0, 4, sizes, NULL, 4, 0}; /* FLOAT32 */
    static const tagged tensor = {1, &buffer};
    struct { const tagged *input, *output; const void *scale; } identity = {&tensor, &tensor, NULL};
    tagged description = {IDENTITY, &identity};
    object *operator = NULL, *extended = NULL;
    real_create = (create_operator)directml->slots[CREATE_OPERATOR];
    HRESULT result = real_create(directml, &description, &IID_OPERATOR, (void **)&operator);
    if (FAILED(result)) return result;
    result = ((compile_operator)directml->slots[COMPILE_OPERATOR])(directml, operator, 0, &IID_COMPILED,
                                                                   (void **)&compiled);
    if (FAILED(result)) return result;
    real_recorder = (create_recorder)directml->slots[CREATE_RECORDER];
    real_table = (create_table)directml->slots[CREATE_TABLE];
    replace_methods(directml);
    if (SUCCEEDED(((query_interface)directml->slots[0])(directml, &IID_DEVICE_1, (void **)&extended))) {
        replace_methods(extended);
        replace(extended, COMPILE_GRAPH, (function)compile_no_graph);
    }
    return S_OK;
}

/* ---- the runtime ---- */

static void log_places(void *unused, int severity, const char *category, const char *id, const char *where,
                       const char *message) {
    (void)unused;
    (void)severity;
    (void)category;
    (void)id;
    if (logging && strstr(where, "VerifyEachNodeIsAssignedToAnEp")) put_text(PLACE, message);
}

/* Returns an error's code and lets it go; its text is in `text`. */
static uint32_t finish(void *status, char *text, size_t size) {
    text[0] = 0;
    if (!status) return 0;
    uint32_t code = (uint32_t)((error_code)ort[ERROR_CODE])(status);
    snprintf(text, size, "%s", ((error_message)ort[ERROR_MESSAGE])(status));
    ((release_any)ort[RELEASE_STATUS])(status);
    return code ? code : 1;
}

static HRESULT load_runtime(const char *path) {
    static char text[1024];
    HMODULE library = LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library) fprintf(stderr, "%s: LoadLibrary failed with %lu\n", path, GetLastError());
    get_base base = library ? (get_base)(function)GetProcAddress(library, "OrtGetApiBase") : NULL;
    append_directml = library ? (append_provider)(function)GetProcAddress(
                                    library, "OrtSessionOptionsAppendExecutionProviderEx_DML") : NULL;
    if (!base || !append_directml || !(ort = base()->api(API_VERSION))) return NOT_LOADED;
    void *status = ((create_environment)ort[CREATE_ENVIRONMENT])(log_places, NULL, VERBOSE, "", &environment);
    if (finish(status, text, sizeof text)) fprintf(stderr, "%s\n", text);
    return environment ? S_OK : NOT_LOADED;
}

enum { MAX_RANK = 16, MAX_VALUES = 4096, MAX_BYTES = 1 << 28, FAIL = 1, STRING = 8 };

/* Bytes of an element and those of its one, by ONNXTensorElementDataType; 0 bytes for types that are not fed. */
static const struct { int size; uint64_t one; } element[] = {
    {0, 0}, {4, 0x3f800000}, {1, 1}, {1, 1}, {2, 1}, {2, 1}, {4, 1}, {8, 1}, {8, 0}, {1, 1}, {2, 0x3c00},
    {8, 0x3ff0000000000000}, {4, 1}, {8, 1}, {8, 0x3f800000}, {16, 0x3ff0000000000000}, {2, 0x3f80},
};
enum { ELEMENTS = sizeof element / sizeof *element };

static void *refuse(const char *why) { return ((create_status)ort[CREATE_STATUS])(FAIL, why); }

/* Makes an input of known sizes that is all ones: some kernels end the process, or never end, where zeros are. */
static void *make_input(void *allocator, void *kind, void **made) {
    int64_t sizes[MAX_RANK], bytes = 1;
    size_t rank = 0;
    int type = 0;
    void *info = NULL, *data = NULL, *status = ((get_pointer)ort[TENSOR_INFO])(kind, &info);
    if (!status && !info) status = refuse("an input is no tensor");
    if (!status) status = ((get_number)ort[TENSOR_TYPE])(info, &type);
    if (!status) status = ((get_count)ort[DIMENSIONS])(info, &rank);
    if (!status && rank > MAX_RANK) status = refuse("an input has too many dimensions");
    if (!status) status = ((get_sizes)ort[DIMENSION_SIZES])(info, sizes, rank);
    if (status) return status;
    if (type < 0 || type >= ELEMENTS || !element[type].size) return refuse("an input has a type that is not fed");
    bytes = element[type].size;
    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] < 0) return refuse("an input has a size that is not known");
        if (sizes[i] && bytes > MAX_BYTES / sizes[i]) return refuse("an input is too large");
        bytes *= sizes[i];
    }
    status = ((create_tensor)ort[CREATE_TENSOR])(allocator, sizes, rank, type, made);
    if (!status && type != STRING) status = ((get_pointer)ort[TENSOR_DATA])(*made, &data);
    for (int64_t at = 0; !status && data && at < bytes; at += element[type].size) {
        memset((char *)data + at, 0, (size_t)element[type].size);
        memcpy((char *)data + at, &element[type].one, element[type].size < 8 ? (size_t)element[type].size : 8);
    }
    return status;
}

static void *run_with_ones(void *session) {
    static char *names[MAX_VALUES], *results[MAX_VALUES];
    static void *values[MAX_VALUES], *outputs[MAX_VALUES];
    size_t inputs = 0, count = 0;
    void *allocator = NULL, *status = ((get_allocator)ort[DEFAULT_ALLOCATOR])(&allocator);
    memset(values, 0, sizeof values);
    memset(outputs, 0, sizeof outputs);
    if (!status) status = ((get_count)ort[INPUTS])(session, &inputs);
    if (!status) status = ((get_count)ort[OUTPUTS])(session, &count);
    if (!status && (inputs > MAX_VALUES || count > MAX_VALUES)) status = refuse("the model has too many inputs");
    for (size_t i = 0; !status && i < inputs; i++) { /* names are short, and stay until the process ends */
        void *kind = NULL;
        status = ((get_name)ort[INPUT_NAME])(session, i, allocator, &names[i]);
        if (!status) status = ((get_part)ort[INPUT_TYPE])(session, i, &kind);
        if (!status) status = make_input(allocator, kind, &values[i]);
        if (kind) ((release_any)ort[RELEASE_TYPE])(kind);
    }
    for (size_t i = 0; !status && i < count; i++)
        status = ((get_name)ort[OUTPUT_NAME])(session, i, allocator, &results[i]);
    if (!status)
        status = ((run_session)ort[RUN])(session, NULL, (const char *const *)names, values, inputs,
                                         (const char *const *)results, count, outputs);
    for (size_t i = 0; i < MAX_VALUES; i++) {
        if (values[i]) ((release_any)ort[RELEASE_VALUE])(values[i]);
        if (outputs[i]) ((release_any)ort[RELEASE_VALUE])(outputs[i]);
    }
    return status;
}

static void *make_session(const void *model, size_t size, int optimisation, int fused, int run) {
    void *options = NULL, *session = NULL, *status = ((create_options)ort[CREATE_OPTIONS])(&options);
    if (!status) status = ((option)ort[DISABLE_PATTERNS])(options);
    if (!status) status = ((numbered_option)ort[LOG_SEVERITY])(options, VERBOSE);
    if (!status) status = ((numbered_option)ort[OPTIMISATION])(options, optimisation);
    if (!status) status = ((numbered_option)ort[THREADS])(options, 1);
    if (!status && !fused)
        status = ((configuration)ort[CONFIGURE])(options, "ep.dml.disable_graph_fusion", "1");
    if (!status) status = append_directml(options, directml, queue);
    if (!status) status = ((create_session)ort[CREATE_SESSION])(environment, model, size, options, &session);
    if (!status && run) {
        put_head(RUNNING, 0);
        status = run_with_ones(session);
    }
    logging = 0;
    if (session) ((release_any)ort[RELEASE_SESSION])(session);
    if (options) ((release_any)ort[RELEASE_OPTIONS])(options);
    return status;
}

/* ---- questions ---- */

static void take_layout(void) {
    take(&layouts, sizeof layouts);
    if (layouts > MAX_OPERATORS) exit(4);
    for (uint32_t i = 0; i < layouts; i++) {
        take(&layout[i].number, 3 * sizeof(uint32_t));
        if (layout[i].members > MAX_MEMBERS) exit(4);
        take(layout[i].member, layout[i].members * sizeof(member));
    }
}

static void answer_create(void) {
    static char text[1 << 16];
    uint32_t head[4];
    take(head, sizeof head);
    if (head[3] > MAX_MODEL) exit(4);
    void *model = malloc(head[3] ? head[3] : 1);
    if (!model) exit(5);
    take(model, head[3]);
    logging = 1;
    void *status = make_session(model, head[3], (int)head[0], (int)head[1], (int)head[2]);
    uint32_t code = finish(status, text, sizeof text);
    free(model);
    put_head(END, sizeof code + strlen(text));
    put(&code, sizeof code);
    put(text, strlen(text));
}

int main(int count, char **arguments) {
    uint32_t hello[4] = {0x50444753u, PROTOCOL, (uint32_t)NOT_LOADED, 0};
    if (count < 3) return 2;
    prepare_process();
    read_capabilities(count - 3, arguments + 3);
    made = new_image();
    create_device create = load(arguments[1]);
    if (create) hello[2] = (uint32_t)create_device_and_queue((function)check_feature_support);
    if (hello[2] == OK) {
        real_heap = (create_heap)((object *)device)->slots[14];
        replace((object *)device, 14, (function)create_descriptor_heap);
    }
    if (hello[2] == OK) hello[2] = (uint32_t)create(device, 0, 0x1000, &IID_DEVICE, (void **)&directml);
    if (hello[2] == OK) hello[3] = confirmed_level(directml);
    if (hello[2] == OK) hello[2] = (uint32_t)prepare_directml();
    if (hello[2] == OK) hello[2] = (uint32_t)load_runtime(arguments[2]);
    put(hello, sizeof hello);
    if (hello[2] != OK) return 1;
    for (;;) {
        uint32_t kind;
        take(&kind, sizeof kind);
        if (kind == 1) take_layout();
        else if (kind == 2) answer_create();
        else exit(4);
    }
}
