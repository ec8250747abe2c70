}  // namespace detail

// Which side of the tables counts: what the pages say, what builds do, or what both take.
enum class Basis { documented, observed, both };

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
    size_t length = 0;
    for (const Finding& finding : findings)
      length += finding.id.size() + finding.where.size() + finding.message.size() + finding.fix.size() + 16;
    std::string made;
    made.reserve(length + (levels.empty() ? 0 : 24 + 5 * levels.size()));
    for (const Finding& finding : findings) {
      made += finding.id;
      if (!finding.where.empty()) made.append(" (").append(finding.where).append(")");
      if (!finding.message.empty()) made.append(": ").append(finding.message);
      made += "\n";
      if (!finding.fix.empty()) made.append("  fix: ").append(finding.fix).append("\n");
    }
    if (detail::has_text || levels.empty()) return made;
    for (size_t i = 0; i < levels.size(); ++i)
      made += (i == 0 ? "accepted by feature level " : ", ") + detail::level_text(levels[i]);
    return made + "\n";
  }
};

namespace detail {

inline Check prepared(uint32_t level, Basis basis, const Options& options) {
  Check check;
  check.level = level;
  check.documented = basis != Basis::observed;
  check.observed = basis != Basis::documented;
  check.implementation = check.observed ? options.implementation : 0;
  check.lacking = options.device.known ? lacking_types(level, options.device.capabilities) : 0;
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

constexpr uint32_t count_of_levels = sizeof every_level / sizeof *every_level;

// Telling stands here.

inline bool accepted(uint32_t type, const void* description, uint32_t level, const Options& options) {
  const Entry entry = entry_of(type, level);
  if (entry.judge == nullptr || description == nullptr) return false;
  Check check = prepared(level, options.basis, options);
  entry.judge(check, description);
  return !check.refused && !check.broken;
}

// What one side refuses, causes without their echoes. before: what the other side does. lacked: what the device lacks.
// excluded: the levels that surely refuse it as well, as bits.
inline std::vector<Noted> refusals(Arena& arena, const Entry& entry, uint32_t type, const void* description, uint32_t level, Basis side,
                                   const Options& options, const std::vector<Noted>& before, std::vector<Noted>& lacked,
                                   uint32_t& excluded) {
  Notes notes(arena);
  notes.before = &before;
  notes.found.reserve(4);
  Check check = prepared(level, side, options);
  check.operator_name = entry.name;
  check.layout = layout_of(type);
  check.notes = &notes;
  entry.judge(check, description);
  lacked = std::move(notes.lacked);
  excluded |= check.excluded;
  std::vector<Noted> told = told_of(notes);
  return told.empty() ? notes.broken : told;
}

inline Finding finding(const Noted& one, std::string message, Basis side, std::string fix) {
  std::string id = "directml/";
  id += one.id;
  return Finding{std::move(id), std::string(one.where), std::move(message), side, std::move(fix)};
}

// The findings of both sides that count: what both refuse is one.
inline void explain(Telling& telling, const std::vector<Noted>& documented, const std::vector<Noted>& observed, bool both,
                    std::vector<Finding>& findings) {
  std::vector<Noted> seen;
  findings.reserve(documented.size() + observed.size());
  for (const Basis side : {Basis::documented, Basis::observed}) {
    const bool first = side == Basis::documented;
    for (const Noted& one : first ? documented : observed) {
      if (has(seen, one)) continue;
      seen.push_back(one);
      const bool alone = both && !has(first ? observed : documented, one);
      std::string fix = telling.fix(one, side, first ? documented : observed);
      findings.push_back(finding(one, telling.message(one, side, alone), side, std::move(fix)));
    }
  }
}

// The place of a level in every_level, or the number of them for one that is not known.
inline uint32_t place_of(uint32_t level) {
  uint32_t place = 0;
  while (place < count_of_levels && every_level[place] != level) ++place;
  return place;
}

// The levels that accept a description, without those that are known to refuse it, as bits. Of levels at which the
// operator is the same, one is asked.
inline std::vector<uint32_t> accepting(uint32_t type, const void* description, uint32_t excluded, const Options& options) {
  std::vector<uint32_t> found;
  found.reserve(count_of_levels);
  const uint32_t changes = entry_of(type, 0).changes;
  const auto next = [&](uint32_t place) {
    do ++place;
    while (place < count_of_levels && (changes >> place & 1) == 0);
    return place;
  };
  for (uint32_t first = 0, end; first < count_of_levels; first = end) {
    end = next(first);
    const uint32_t bits = ((uint32_t(1) << end) - (uint32_t(1) << first));
    if ((excluded & bits) != 0 || !accepted(type, description, every_level[first], options)) continue;
    found.insert(found.end(), every_level + first, every_level + end);
  }
  return found;
}

// What else is wrong with a description for a level without the operator: what the first later level that has it refuses.
inline void explain_later(Arena& arena, const Entry& entry, uint32_t type, const void* description, uint32_t level,
                          const Options& options, Verdict& verdict) {
  uint32_t later = 0;
  for (const uint32_t each : every_level)
    if (later == 0 && each > level && entry_of(type, each).judge != nullptr) later = each;
  if (later == 0) return;
  std::vector<Noted> lacked, documented, observed;
  uint32_t excluded = 0;
  bool both = options.basis == Basis::both;
  if (options.basis != Basis::observed)
    documented = refusals(arena, entry, type, description, later, Basis::documented, options, {}, lacked, excluded);
  both = both && (entry.alike >> place_of(later) & 1) == 0;
  if (both || options.basis == Basis::observed)
    observed = refusals(arena, entry, type, description, later, Basis::observed, options, documented, lacked, excluded);
  const size_t before = verdict.findings.size();
  Telling telling(arena, type, description, later, verdict.levels, options.fixes);
  explain(telling, documented, observed, both, verdict.findings);
  std::string& fix = verdict.findings[before - 1].fix;
  if (verdict.findings.size() > before && fix.empty())
    fix = "correct what else is wrong and use feature level " + level_text(later);
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
  const std::string name = std::string("directml/") + entry.name;
  const bool known = known_level(level);
  const bool exists = known && entry_of(type, level).judge != nullptr;
  bool both = options.basis == Basis::both;
  uint32_t excluded = known ? uint32_t(1) << place_of(level) : 0;
  Arena arena;
  std::vector<Noted> lacked, documented, observed;
  if (known && description != nullptr) {
    if (options.basis != Basis::observed)
      documented = refusals(arena, entry, type, description, level, Basis::documented, options, {}, lacked, excluded);
    both = both && (entry.alike >> place_of(level) & 1) == 0;  // else both sides say the same
    if (both || options.basis == Basis::observed)
      observed = refusals(arena, entry, type, description, level, Basis::observed, options, documented, lacked, excluded);
  }
  if (description != nullptr) verdict.levels = accepting(type, description, excluded, options);
  if (!known) {
    say("directml/unknown-level", "there is no feature level of the number " + std::to_string(level) + " here");
  } else if (description == nullptr) {
    say(name + "/unreadable", "the description points to nothing");
  } else {
    Telling telling(arena, type, description, level, verdict.levels, options.fixes);
    // Of a level without the operator only what the device lacks is told.
    if (exists) {
      explain(telling, documented, observed, both, verdict.findings);
    } else {
      say(name + "/level", telling.missing_operator());
      verdict.findings.back().fix = telling.later();
      explain_later(arena, entry, type, description, level, options, verdict);
    }
    const Basis last = options.basis == Basis::observed ? Basis::observed : Basis::documented;
    for (const Noted& one : lacked)
      verdict.findings.push_back(finding(one, telling.lacked(one), last, telling.device_fix(one)));
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

// The same as check(), without findings.
template <class Description, class Level>
inline bool accepts(const Description& description, Level level, const Options& options = Options()) {
  return detail::accepted(uint32_t(description.Type), description.Desc, uint32_t(level), options);
}

namespace detail {

// A number in place of an enum that the program's headers declare.
struct AnyEnum {
  uint32_t number;
  template <class T, class = std::enable_if_t<std::is_enum_v<T> || std::is_integral_v<T>>>
  operator T() const { return T(number); }
};

// As DML_FEATURE_QUERY_FEATURE_LEVELS.
struct LevelsQuery {
  uint32_t count;
  const uint32_t* levels;
};
constexpr uint32_t feature_levels = 1;

// The known level that is nearest below a number.
inline uint32_t known_below(uint32_t level) {
  uint32_t found = every_level[0];
  for (const uint32_t each : every_level)
    if (each <= level) found = each;
  return found;
}

// Whether libraries have been seen to crash on what is wrong with a description, or it leads them to memory that is none.
inline bool harmful(uint32_t type, const void* description, uint32_t level, const Options& options) {
  const Entry entry = entry_of(type, 0);
  if (entry.judge == nullptr) return false;
  if (description == nullptr) return true;
  Check check = prepared(level, Basis::both, options);
  entry.judge(check, description);
  if (check.harmful || !(check.refused || check.broken)) return check.harmful;
  Arena arena;
  Notes notes(arena);
  check = prepared(level, Basis::both, options);
  check.operator_name = entry.name;
  check.layout = layout_of(type);
  check.notes = &notes;
  entry.judge(check, description);
  return check.harmful;
}

}  // namespace detail

// A description as JSON, which `specgate check` reads: for a bug report. It is always valid JSON, whatever pointers and
// counts say.
template <class Description>
inline std::string to_json(const Description& description) {
  detail::Json json;
  json.operator_desc(uint32_t(description.Type), description.Desc, 0);
  return json.text;
}

// What create_operator asks by where it is given nothing else: a library of this system, whatever the device; and what to
// change, as nothing is in a hurry any more.
inline Options of_this_system() {
  Options made;
  made.implementation = detail::this_system;
  made.fixes = true;
  return made;
}

// The highest feature level that a device confirms, of those that this header knows; its lowest where it confirms none.
template <class Creator>
inline uint32_t level_of(Creator* device) {
  for (size_t i = detail::count_of_levels; i-- > 0;) {
    const uint32_t wanted = detail::every_level[i];
    const detail::LevelsQuery query{1, &wanted};
    uint32_t found = 0;
    const auto result = device->CheckFeatureSupport(detail::AnyEnum{detail::feature_levels}, uint32_t(sizeof query), &query,
                                                    uint32_t(sizeof found), &found);
    if (result >= 0 && found == wanted) return wanted;
  }
  return detail::every_level[0];
}

// Where create_operator says what is wrong; by default the standard error.
using Teller = void (*)(const char* text, void* context);
inline void to_standard_error(const char* text, void*) { std::fputs(text, stderr); }

// Calls device->CreateOperator, and where that fails tells why:
//     create_operator(device, DML_FEATURE_LEVEL_5_0, &desc, IID_PPV_ARGS(&op));
// A description on which libraries crash is told of and refused with E_INVALIDARG, and CreateOperator is not called.
template <class Creator, class Level, class Description, class Id>
inline auto create_operator(Creator* device, Level level, const Description* description, const Id& id, void** made,
                            const Options& options = of_this_system(), Teller tell = to_standard_error,
                            void* context = nullptr) -> decltype(device->CreateOperator(description, id, made)) {
  using Result = decltype(device->CreateOperator(description, id, made));
  const auto type = uint32_t(description->Type), at = detail::known_below(uint32_t(level));
  if (detail::harmful(type, description->Desc, at, options)) {
    Options careful = options;
    careful.basis = Basis::both;
    std::string why = accepts(*description, at, careful) ? "" : detail::refused(type, description->Desc, at, careful).text();
    if (why.empty()) why = "there is a null pointer where the description says that something is\n";
    tell(("CreateOperator was not called: libraries may crash on this description\n" + why).c_str(), context);
    if (made != nullptr) *made = nullptr;
    return Result(int32_t(0x80070057u));
  }
  const Result result = device->CreateOperator(description, id, made);
  if (result < 0) {
    const Verdict verdict = check(*description, level, options);
    tell(verdict.accepted ? "the tables take this description\n" : verdict.text().c_str(), context);
  }
  return result;
}

// The same at the highest level that the device confirms, which it is asked for each time; level_of() asks once.
template <class Creator, class Description, class Id>
inline auto create_operator(Creator* device, const Description* description, const Id& id, void** made,
                            const Options& options = of_this_system(), Teller tell = to_standard_error,
                            void* context = nullptr) -> decltype(device->CreateOperator(description, id, made)) {
  return create_operator(device, level_of(device), description, id, made, options, tell, context);
}

}  // namespace specgate
