/* What the hosts share: loading a DirectML build, the level it confirms, descriptions as images, the pipe.
 *
 * Numbers are little-endian. Whatever a host cannot make sense of ends it; its exit code says which it was:
 * 3 the pipe is closed, 4 a malformed question, 5 no memory.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <windows.h>
#define dup _dup
#define dup2 _dup2
#define write _write
#else
#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

#define OK 0
#define NOT_IMPLEMENTED ((int32_t)0x80004001)
#define INVALID ((int32_t)0x80070057)
#define NOT_LOADED ((int32_t)0x8007007E)

enum { MAX_IMAGE = 1 << 24, MAX_POINTERS = 1 << 20, ZEROS_BEHIND = 4096 };

typedef void (*function)(void);
typedef struct { function *slots; } object;
typedef struct { uint32_t a; uint16_t b, c; uint8_t d[8]; } guid;

typedef int32_t (*create_device)(void *, uint32_t, uint32_t, const guid *, void **);
typedef int32_t (*check_support)(object *, uint32_t, uint32_t, const void *, uint32_t, void *);
typedef int32_t (*create_operator)(object *, const void *, const guid *, void **);
typedef uint32_t (*release)(object *);

static const guid IID_DEVICE = {0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
static const guid IID_OPERATOR = {0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};

static create_device load(const char *path) {
#ifdef _WIN32
    HMODULE library = LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library) fprintf(stderr, "%s: LoadLibrary failed with %lu\n", path, GetLastError());
    return library ? (create_device)(function)GetProcAddress(library, "DMLCreateDevice1") : NULL;
#else
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library ? (create_device)(uintptr_t)dlsym(library, "DMLCreateDevice1") : NULL;
#endif
}

/* The highest level that the device confirms, asked one by one: a build may refuse numbers that it does not know. */
static uint32_t confirmed_level(object *directml) {
    uint32_t highest = 0;
    for (uint32_t number = 0x10; number < 0xA0; number++) {
        uint32_t wanted = number << 8, found = 0;
        struct { uint32_t count; const uint32_t *levels; } query = {1, &wanted};
        if (((check_support)directml->slots[7])(directml, 1, sizeof query, &query, sizeof found, &found) == OK &&
            found == wanted)
            highest = wanted;
    }
    return highest;
}

/* ---- the pipe ---- */

static int answers = 1;

static void put(const void *data, size_t size) {
    for (const char *next = data; size;) {
        unsigned part = size < 1 << 20 ? (unsigned)size : 1 << 20;
        int written = (int)write(answers, next, part);
        if (written <= 0) exit(3);
        next += written;
        size -= (size_t)written;
    }
}

static void take(void *data, size_t size) {
    if (size && fread(data, 1, size, stdin) != size) exit(0);
}

/* ---- descriptions ---- */

/* An operator's description: the pointers in it hold offsets in it until `take_image` makes addresses of them. */
typedef struct { uint8_t *data; uint32_t *pointers; } image;

static image new_image(void) {
    image made = {calloc(1, MAX_IMAGE + ZEROS_BEHIND), calloc(MAX_POINTERS, sizeof(uint32_t))};
    if (!made.data || !made.pointers) exit(5);
    return made;
}

/* Reads the pointers' offsets and the bytes; returns the address of the DML_OPERATOR_DESC. */
static inline void *take_image(image into, uint32_t size, uint32_t count, uint32_t root) {
    if (size > MAX_IMAGE || count > MAX_POINTERS || root >= size) exit(4);
    take(into.pointers, count * sizeof *into.pointers);
    take(into.data, size);
    memset(into.data + size, 0, ZEROS_BEHIND); /* what is read beyond the image is the same for every question */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t pointer;
        if (size < 8 || into.pointers[i] > size - 8) exit(4);
        memcpy(&pointer, into.data + into.pointers[i], 8);
        pointer += (uintptr_t)into.data;
        memcpy(into.data + into.pointers[i], &pointer, 8);
    }
    return into.data + root;
}

/* ---- the process ---- */

#ifdef _WIN32
static LONG WINAPI die(EXCEPTION_POINTERS *info) {
    (void)info;
    TerminateProcess(GetCurrentProcess(), 0xC0000005); /* no debugger, no dialogue */
    return EXCEPTION_EXECUTE_HANDLER;
}
#endif

static void prepare_process(void) {
#ifdef _WIN32
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    SetUnhandledExceptionFilter(die);
    _setmode(0, _O_BINARY);
    _setmode(1, _O_BINARY);
#else
    struct rlimit no_core = {0, 0}, memory = {4ull << 30, 4ull << 30};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_AS, &memory);
#endif
    answers = dup(1); /* what the library prints must not end up among the answers */
    dup2(2, 1);
#ifdef _WIN32
    _setmode(answers, _O_BINARY);
#endif
    setvbuf(stdin, NULL, _IOFBF, 1 << 16);
}

#endif
