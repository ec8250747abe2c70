/* The D3D12 device and queue of hosts that have a real one; methods of objects replaced in their tables. */
#ifndef DEVICE_H
#define DEVICE_H

#define COBJMACROS
#define INITGUID
#include "common.h"

#include <d3d12.h>

static ID3D12Device *device;
static ID3D12CommandQueue *queue;

typedef HRESULT(WINAPI *check_feature)(ID3D12Device *, D3D12_FEATURE, void *, UINT);
static check_feature real_check;

static HRESULT WINAPI enumerate_meta_commands(void *self, UINT *count, void *found) {
    (void)self;
    (void)found;
    if (count) *count = 0;
    return S_OK;
}

static void replace(object *thing, int slot, function by) {
    DWORD before;
    VirtualProtect(&thing->slots[slot], sizeof by, PAGE_READWRITE, &before);
    thing->slots[slot] = by;
    VirtualProtect(&thing->slots[slot], sizeof by, before, &before);
}

/* Makes both; `check` takes the place of CheckFeatureSupport, and no metacommands are reported. */
static HRESULT create_device_and_queue(function check) {
    static const D3D12_COMMAND_QUEUE_DESC direct = {D3D12_COMMAND_LIST_TYPE_DIRECT, 0, 0, 0};
    HMODULE library = LoadLibraryA("d3d12.dll");
    PFN_D3D12_CREATE_DEVICE create =
        library ? (PFN_D3D12_CREATE_DEVICE)(function)GetProcAddress(library, "D3D12CreateDevice") : NULL;
    HRESULT result = create ? create(NULL, D3D_FEATURE_LEVEL_11_0, &IID_ID3D12Device, (void **)&device) : NOT_LOADED;
    if (FAILED(result)) return result;
    object *raw = (object *)device;
    real_check = (check_feature)raw->slots[13];
    replace(raw, 13, check);
    replace(raw, 59, (function)enumerate_meta_commands);
    return ID3D12Device_CreateCommandQueue(device, &direct, &IID_ID3D12CommandQueue, (void **)&queue);
}

#endif
