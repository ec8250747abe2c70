}  // namespace detail

// Which side of the tables counts: what the pages say, what builds do, or what both take.
enum class Basis { documented, observed, both };

// What the device must be able to do before it takes some types. `unknown` asks nothing of it.
struct Device {
  bool known = false;
  uint32_t capabilities = 0;
};

struct Options {
  Basis basis = Basis::both;
  Device device;
};

// The answer on one description.
struct Verdict {
  bool accepted = false;
  explicit operator bool() const { return accepted; }
};

namespace detail {

inline Verdict answer(uint32_t type, const void* description, uint32_t level, const Options& options) {
  Verdict verdict;
  Check check;
  check.level = level;
  check.documented = options.basis != Basis::observed;
  check.observed = options.basis != Basis::documented;
  check.lacking = options.device.known ? lacking_types(level, options.device.capabilities) : 0;
  if (description == nullptr || !known_level(level)) return verdict;
  const Judge judge = judge_of(type, level);
  if (judge == nullptr) return verdict;
  judge(check, description);
  verdict.accepted = !check.refused && !check.broken;
  return verdict;
}

}  // namespace detail

// Whether the library of a level takes a description, a DML_OPERATOR_DESC or anything laid out alike. The level is the
// number of DML_FEATURE_LEVEL.
template <class Description, class Level>
inline Verdict check(const Description& description, Level level, const Options& options = Options()) {
  return detail::answer(uint32_t(description.Type), description.Desc, uint32_t(level), options);
}

}  // namespace specgate
