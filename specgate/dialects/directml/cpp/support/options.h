}  // namespace detail

// Device options; if they are unknown, all are assumed.
struct Device {
  bool known = false;
  uint32_t capabilities = 0;
};

// implementation: a specgate::detail::implementation_ bit for libraries with their own rules; 0 for the behaviour of
// all. fixes: whether findings also propose changes that need a search, which takes some microseconds each.
struct Options {
  Basis basis = Basis::both;
  Device device;
  uint32_t implementation = 0;
  bool fixes = false;
};

namespace detail {
