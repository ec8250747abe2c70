}  // namespace detail

// Which side of the tables counts: what the pages say, what builds do, or what both take.
enum class Basis { documented, observed, both };

// What the device can do; where it is not known, nothing is asked of it.
struct Device {
  bool known = false;
  uint32_t capabilities = 0;
};

// fixes: whether findings propose changes that take a search. It costs some ten microseconds.
struct Options {
  Basis basis = Basis::both;
  Device device;
  bool fixes = true;
};

// One rule that does not hold, or one thing that no row takes.
struct Finding {
  std::string id;       // such as directml/ONE_HOT/axis-range; `specgate rule ID` prints its reference
  std::string where;    // the field that it is about, empty for the whole
  std::string message;  // what must be, then the values that are otherwise; empty in a header without texts
  Basis basis = Basis::documented;
  std::string fix;      // what to change, empty where nothing can be proposed
};

// The answer on one description.
struct Verdict {
  bool accepted = false;
  std::vector<Finding> findings;
  std::vector<uint32_t> levels;  // of a refused description, those that accept it

  explicit operator bool() const { return accepted; }

  // A line for each finding, and below it what to change. A header without sentences names the levels that accept.
  std::string text() const {
    std::string made;
    for (const Finding& finding : findings) {
      made += finding.id;
      if (!finding.where.empty()) made += " (" + finding.where + ")";
      made += (finding.message.empty() ? "" : ": " + finding.message) + "\n";
      if (!finding.fix.empty()) made += "  fix: " + finding.fix + "\n";
    }
    if (detail::has_text || levels.empty()) return made;
    for (size_t i = 0; i < levels.size(); ++i)
      made += (i == 0 ? "accepted by feature level " : ", ") + detail::level_text(levels[i]);
    return made + "\n";
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

// What is told of what was noted: causes without their echoes, in order.
inline std::vector<Noted> told_of(const Notes& notes) {
  uint64_t fields = 0;
  for (const Noted& one : notes.found)
    if (one.part != Part::row_choice && one.field >= 0) fields |= uint64_t(1) << one.field;
  std::vector<Noted> told;
  for (const Part part : {Part::structure, Part::row, Part::tensor, Part::rule, Part::row_choice})
    for (const Noted& one : notes.found) {
      const bool hidden = one.rank && (notes.hidden_ranks >> one.field & 1) != 0;
      const bool echo = one.part == Part::row_choice && (fields >> one.field & 1) != 0;
      if (one.part == part && !hidden && !echo) told.push_back(one);
    }
  return told;
}

inline bool has(const std::vector<Noted>& several, const Noted& wanted) {
  for (const Noted& one : several)
    if (one.id == wanted.id && one.where == wanted.where) return true;
  return false;
}

// Telling stands here.

inline bool accepted(uint32_t type, const void* description, uint32_t level, const Options& options) {
  const Entry entry = entry_of(type, level);
  if (entry.judge == nullptr || description == nullptr) return false;
  Check check = prepared(level, options.basis, options.device);
  entry.judge(check, description);
  return !check.refused && !check.broken;
}

// What one side refuses, causes without their echoes; lacked: what the device lacks.
inline std::vector<Noted> refusals(const Entry& entry, uint32_t type, const void* description, uint32_t level, Basis side,
                                   const Device& device, std::vector<Noted>& lacked) {
  Notes notes;
  Check check = prepared(level, side, device);
  check.operator_name = entry.name;
  check.layout = layout_of(type);
  check.notes = &notes;
  entry.judge(check, description);
  lacked = std::move(notes.lacked);
  std::vector<Noted> told = told_of(notes);
  return told.empty() ? notes.broken : told;
}

// The findings of both sides that count: what both refuse is one.
inline void explain(Telling& telling, const std::vector<Noted>& documented, const std::vector<Noted>& observed, bool both,
                    std::vector<Finding>& findings) {
  std::vector<Noted> seen;
  for (const Basis side : {Basis::documented, Basis::observed}) {
    const bool first = side == Basis::documented;
    for (const Noted& one : first ? documented : observed) {
      if (has(seen, one)) continue;
      seen.push_back(one);
      const bool alone = both && !has(first ? observed : documented, one);
      const std::string fix = telling.fix(one, side, first ? documented : observed);
      findings.push_back(Finding{"directml/" + one.id, one.where, telling.message(one, side, alone), side, fix});
    }
  }
}

inline Verdict refused(uint32_t type, const void* description, uint32_t level, const Options& options) {
  Verdict verdict;
  const Entry entry = entry_of(type, 0);
  const auto say = [&](const std::string& id, const std::string& message) {
    verdict.findings.push_back(Finding{id, "", has_text ? message : "", Basis::documented, ""});
  };
  if (entry.judge == nullptr) {
    say("directml/unknown-operator", "there is no operator of the number " + std::to_string(type) + " here");
    return verdict;
  }
  if (description != nullptr)
    for (const uint32_t other : every_level)
      if (accepted(type, description, other, options)) verdict.levels.push_back(other);
  const std::string name = std::string("directml/") + entry.name;
  if (!known_level(level)) {
    say("directml/unknown-level", "there is no feature level of the number " + std::to_string(level) + " here");
  } else if (description == nullptr) {
    say(name + "/unreadable", "the description points to nothing");
  } else {
    Telling telling(type, description, level, verdict.levels, options.fixes);
    std::vector<Noted> lacked, documented, observed;
    if (options.basis != Basis::observed)
      documented = refusals(entry, type, description, level, Basis::documented, options.device, lacked);
    if (options.basis != Basis::documented)
      observed = refusals(entry, type, description, level, Basis::observed, options.device, lacked);
    const bool exists = entry_of(type, level).judge != nullptr;
    // Of a level without the operator only what the device lacks is told.
    if (exists) {
      explain(telling, documented, observed, options.basis == Basis::both, verdict.findings);
    } else {
      say(name + "/level", telling.missing_operator());
      verdict.findings.back().fix = telling.later();
    }
    const Basis last = options.basis == Basis::observed ? Basis::observed : Basis::documented;
    for (const Noted& one : lacked)
      verdict.findings.push_back(Finding{"directml/" + one.id, one.where, telling.lacked(one), last, telling.device_fix(one)});
    if (verdict.findings.empty()) say(name + "/undecided", "it could not be decided whether this is taken");
  }
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

// A description as JSON, which `specgate check` reads: for a bug report. It is always valid JSON, whatever pointers and
// counts say.
template <class Description>
inline std::string to_json(const Description& description) {
  detail::Json json;
  json.operator_desc(uint32_t(description.Type), description.Desc, 0);
  return json.text;
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
