}  // namespace detail

// Which side of the tables counts: what the pages say, what builds do, or what both take.
enum class Basis { documented, observed, both };

// What the device can do; where it is not known, nothing is asked of it.
struct Device {
  bool known = false;
  uint32_t capabilities = 0;
};

struct Options {
  Basis basis = Basis::both;
  Device device;
};

// One rule that does not hold, or one thing that no row takes.
struct Finding {
  std::string id;       // such as directml/ONE_HOT/axis-range; `specgate rule ID` prints its reference
  std::string where;    // the field that it is about, empty for the whole
  std::string message;  // empty in a header without texts
  Basis basis = Basis::documented;
};

// The answer on one description.
struct Verdict {
  bool accepted = false;
  std::vector<Finding> findings;
  std::vector<uint32_t> levels;  // of a refused description, those that accept it

  explicit operator bool() const { return accepted; }

  // A line for each finding, and the levels that accept.
  std::string text() const {
    std::string made;
    for (const Finding& finding : findings) {
      made += finding.id;
      if (!finding.where.empty()) made += " (" + finding.where + ")";
      made += (finding.message.empty() ? "" : ": " + finding.message) + "\n";
    }
    for (size_t i = 0; i < levels.size(); ++i)
      made += (i == 0 ? "accepted by feature level " : ", ") + detail::level_text(levels[i]);
    return levels.empty() ? made : made + "\n";
  }
};

namespace detail {

inline Check prepared(uint32_t level, Basis basis, const Device& device) {
  Check check;
  check.level = level;
  check.documented = basis != Basis::observed;
  check.observed = basis != Basis::documented;
  check.lacking = device.known ? lacking_types(level, device.capabilities) : 0;
  return check;
}

inline bool accepted(uint32_t type, const void* description, uint32_t level, const Options& options) {
  const Entry entry = entry_of(type, level);
  if (entry.judge == nullptr || description == nullptr) return false;
  Check check = prepared(level, options.basis, options.device);
  entry.judge(check, description);
  return !check.refused && !check.broken;
}

// The findings of one side, causes without their echoes, behind those that are there.
inline void explain(const Entry& entry, const void* description, uint32_t level, Basis side, const Device& device,
                    std::vector<Finding>& findings, std::vector<Noted>& lacked) {
  Notes notes;
  Check check = prepared(level, side, device);
  check.operator_name = entry.name;
  check.notes = &notes;
  entry.judge(check, description);
  lacked = std::move(notes.lacked);
  uint64_t fields = 0;
  for (const Noted& one : notes.found)
    if (one.part != Part::row_choice && one.field >= 0) fields |= uint64_t(1) << one.field;
  std::vector<const Noted*> told;
  for (const Part part : {Part::structure, Part::row, Part::tensor, Part::rule, Part::row_choice})
    for (const Noted& one : notes.found) {
      const bool hidden = one.rank && (notes.hidden_ranks >> one.field & 1) != 0;
      const bool echo = one.part == Part::row_choice && (fields >> one.field & 1) != 0;
      if (one.part == part && !hidden && !echo) told.push_back(&one);
    }
  if (told.empty())
    for (const Noted& one : notes.broken) told.push_back(&one);
  for (const Noted* one : told) {
    Finding made{"directml/" + one->id, one->where, one->message, side};
    bool known = false;
    for (const Finding& other : findings) known = known || (other.id == made.id && other.where == made.where);
    if (!known) findings.push_back(std::move(made));
  }
}

inline Verdict refused(uint32_t type, const void* description, uint32_t level, const Options& options) {
  Verdict verdict;
  const Entry entry = entry_of(type, 0);
  const auto say = [&](const std::string& id, const std::string& message) {
    verdict.findings.push_back(Finding{id, "", message, Basis::documented});
  };
  if (entry.judge == nullptr) {
    say("directml/unknown-operator", "there is no operator of the number " + std::to_string(type) + " here");
    return verdict;
  }
  const std::string name = std::string("directml/") + entry.name;
  if (!known_level(level)) {
    say("directml/unknown-level", "there is no feature level of the number " + std::to_string(level) + " here");
  } else if (description == nullptr) {
    say(name + "/unreadable", "the description points to nothing");
  } else {
    std::vector<Noted> lacked;
    const bool exists = entry_of(type, level).judge != nullptr;
    if (!exists) say(name + "/level", std::string(entry.name) + " does not exist at feature level " + level_text(level));
    std::vector<Finding> unasked;  // of a level without the operator only what the device lacks is told
    for (const Basis side : {Basis::documented, Basis::observed})
      if (options.basis == side || options.basis == Basis::both)
        explain(entry, description, level, side, options.device, exists ? verdict.findings : unasked, lacked);
    const Basis last = options.basis == Basis::observed ? Basis::observed : Basis::documented;
    for (const Noted& one : lacked) verdict.findings.push_back(Finding{"directml/" + one.id, one.where, one.message, last});
    if (verdict.findings.empty()) say(name + "/undecided", "it could not be decided whether this is taken");
  }
  if (description != nullptr)
    for (const uint32_t other : every_level)
      if (accepted(type, description, other, options)) verdict.levels.push_back(other);
  return verdict;
}

}  // namespace detail

// Whether the library of a level takes a description, a DML_OPERATOR_DESC or anything laid out alike; the level is the
// number of a DML_FEATURE_LEVEL. Nothing is allocated for one that is accepted.
template <class Description, class Level>
inline Verdict check(const Description& description, Level level, const Options& options = Options()) {
  const auto type = uint32_t(description.Type), at = uint32_t(level);
  if (detail::accepted(type, description.Desc, at, options)) {
    Verdict verdict;
    verdict.accepted = true;
    return verdict;
  }
  return detail::refused(type, description.Desc, at, options);
}

// Where create_operator says what is wrong; by default the standard error.
using Teller = void (*)(const char* text, void* context);
inline void to_standard_error(const char* text, void*) { std::fputs(text, stderr); }

// Calls device->CreateOperator, and where that fails tells why. The level is the highest that the device supports:
//     create_operator(device, DML_FEATURE_LEVEL_5_0, &desc, IID_PPV_ARGS(&op));
// A description that crashes the library is not kept from it: ask check() before, where that may happen.
template <class Creator, class Level, class Description, class Id>
inline auto create_operator(Creator* device, Level level, const Description* description, const Id& id, void** made,
                            const Options& options = Options(), Teller tell = to_standard_error,
                            void* context = nullptr) {
  const auto result = device->CreateOperator(description, id, made);
  if (result < 0) {
    const Verdict verdict = check(*description, level, options);
    tell(verdict.accepted ? "the tables take this description\n" : verdict.text().c_str(), context);
  }
  return result;
}

// The same as check(), without findings.
template <class Description, class Level>
inline bool accepts(const Description& description, Level level, const Options& options = Options()) {
  return detail::accepted(uint32_t(description.Type), description.Desc, uint32_t(level), options);
}

}  // namespace specgate
