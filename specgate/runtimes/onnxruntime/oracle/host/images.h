/* Descriptions of operators copied out of memory as images: bytes in which pointers hold offsets. */
#ifndef IMAGES_H
#define IMAGES_H

#include "common.h"

enum { MAX_OPERATORS = 1024, MAX_MEMBERS = 64 };

/* What a pointer in a structure points to; NUMBERS are counted members of 4 bytes, a PAIR is 8 bytes. */
enum kind { TENSOR = 1, TENSORS, NESTED, NESTEDS, PAIR, NUMBERS };

typedef struct { uint32_t kind, offset, count; } member;
static struct { uint32_t number, size, members; member member[MAX_MEMBERS]; } layout[MAX_OPERATORS];
static uint32_t layouts, used, pointers;
static image made;

typedef struct { uint32_t type; const void *description; } tagged; /* DML_OPERATOR_DESC and DML_TENSOR_DESC */
typedef struct {
    uint32_t type, flags, rank;
    const uint32_t *sizes, *strides;
    uint64_t total;
    uint32_t alignment;
} buffer_tensor;

/* Appends a copy, zeros without `from`; returns its offset, a multiple of 8. */
static uint32_t append(const void *from, size_t size) {
    uint32_t start = used;
    size_t room = (size + 7) & ~(size_t)7;
    if (room > MAX_IMAGE - used) exit(5);
    memset(made.data + start, 0, room);
    if (from) memcpy(made.data + start, from, size);
    used += (uint32_t)room;
    return start;
}

static void point(uint32_t at, uint32_t target) {
    uint64_t wide = target;
    if (pointers == MAX_POINTERS) exit(5);
    memcpy(made.data + at, &wide, sizeof wide);
    made.pointers[pointers++] = at;
}

static void copy_tensor(const tagged *from, uint32_t at) {
    const buffer_tensor *tensor = from->description;
    memcpy(made.data + at, &from->type, sizeof from->type);
    if (!tensor) return;
    uint32_t start = append(tensor, sizeof *tensor);
    memset(made.data + start + offsetof(buffer_tensor, sizes), 0, 2 * sizeof tensor->sizes);
    point(at + 8, start);
    size_t bytes = tensor->rank * sizeof *tensor->sizes;
    if (tensor->sizes) point(start + offsetof(buffer_tensor, sizes), append(tensor->sizes, bytes));
    if (tensor->strides) point(start + offsetof(buffer_tensor, strides), append(tensor->strides, bytes));
}

static void copy_operator(const tagged *from, uint32_t at);

static void copy_member(const uint8_t *structure, uint32_t base, const member *each) {
    const uint8_t *from;
    uint32_t count = 1, start;
    memcpy(&from, structure + each->offset, sizeof from);
    memset(made.data + base + each->offset, 0, sizeof from);
    if (!from) return;
    if (each->kind == TENSORS || each->kind == NESTEDS || each->kind == NUMBERS)
        memcpy(&count, structure + each->count, sizeof count);
    if (each->kind == PAIR || each->kind == NUMBERS) {
        point(base + each->offset, append(from, each->kind == PAIR ? 8 : 4 * (size_t)count));
        return;
    }
    start = append(NULL, sizeof(tagged) * (size_t)count);
    point(base + each->offset, start);
    for (uint32_t i = 0; i < count; i++) {
        const tagged *item = (const tagged *)from + i;
        uint32_t at = start + i * (uint32_t)sizeof *item;
        if (each->kind == TENSOR || each->kind == TENSORS) copy_tensor(item, at);
        else copy_operator(item, at);
    }
}

static void copy_operator(const tagged *from, uint32_t at) {
    memcpy(made.data + at, &from->type, sizeof from->type);
    for (uint32_t i = 0; i < layouts; i++)
        if (layout[i].number == from->type && from->description) {
            uint32_t base = append(from->description, layout[i].size);
            point(at + 8, base);
            for (uint32_t m = 0; m < layout[i].members; m++)
                copy_member(from->description, base, &layout[i].member[m]);
        }
}

#endif
