/* A DirectML library on the stub device of the oracle's host, for a program in C++. */
#define main host_main
#include "host.c"
#undef main

/* Returns the IDMLDevice of a library, null where there is none. */
void *open_directml(const char *path) {
    object *directml = NULL;
    fill_device();
    create_device create = load(path);
    if (create) create(&device, 0, 0x1000, &IID_DEVICE, (void **)&directml);
    return directml;
}
