}  // namespace detail

// What the device can do; where it is not known, nothing is asked of it.
struct Device {
  bool known = false;
  uint32_t capabilities = 0;
};

// implementation: of the libraries that have rules of their own, a specgate::detail::implementation_ bit; 0 for what all
// of them do. fixes: whether findings also propose changes that take a search, which costs some microseconds more each.
struct Options {
  Basis basis = Basis::both;
  Device device;
  uint32_t implementation = 0;
  bool fixes = false;
};

namespace detail {
