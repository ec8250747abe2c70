// The functions that tests call through ctypes: a description in memory, and what the header says of it.
#include "specgate_dml.h"

extern "C" int accepts(const void* description, unsigned level, int basis, int device_known, unsigned capabilities) {
  struct Described {
    unsigned Type;
    const void* Desc;
  };
  specgate::Options options;
  options.basis = specgate::Basis(basis);
  options.device.known = device_known != 0;
  options.device.capabilities = capabilities;
  return specgate::check(*static_cast<const Described*>(description), level, options).accepted ? 1 : 0;
}
