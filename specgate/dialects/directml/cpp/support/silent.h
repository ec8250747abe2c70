// A header without messages: findings have ids and places only.
class Telling {
 public:
  Telling(Memory&, const Context&, const Options&, const std::vector<uint32_t>&) {}
  std::string message(const Noted&, Basis, bool) { return ""; }
  std::string fix(const Noted&, Basis, const std::vector<Noted>&) { return ""; }
  std::string later() const { return ""; }
  std::string missing_operator() const { return ""; }
  std::string device_fix(const Noted&) const { return ""; }
  std::string lacked(const Noted&) const { return ""; }
};
