}  // namespace detail

// A violated rule, or an unsupported type, rank or value.
struct Finding {
  std::string id;       // such as directml/ONE_HOT/axis-range; `specgate rule ID` prints its reference
  std::string where;    // the field, empty for the whole description
  std::string message;  // the requirement, then the actual values; empty in a header without texts
  Basis basis = Basis::documented;
  std::string fix;      // the change that fixes it, empty if none is proposed
};

// The answer for one description.
struct Verdict {
  bool accepted = false;
  std::vector<Finding> findings;
  std::vector<uint32_t> levels;  // if rejected: the levels that accept it

  explicit operator bool() const { return accepted; }

  // A line per finding, and below it the fix. A header without texts names the accepting levels.
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

// The index of the highest known level up to a number, or of the first one.
inline uint32_t place_below(uint32_t level) {
  uint32_t place = count_of_levels - 1;
  while (place > 0 && every_level[place] > level) --place;
  return place;
}
inline bool exists(const Layout& layout, uint32_t place) { return (layout.levels >> place & 1) != 0; }
// The types that a device does not support, as bits.
inline uint32_t lacking_types(uint32_t place, const Device& device) {
  uint32_t types = 0;
  for (const Need& need : needs)
    if (device.known && (need.levels >> place & 1) != 0 && (need.capabilities & device.capabilities) == 0)
      types |= uint32_t(1) << need.type;
  return types;
}

// The evaluator's answer on a description.
struct Evaluated {
  bool accepted, harmful;
};
inline Evaluated evaluated(const Layout& layout, const void* description, uint32_t place, uint64_t now, uint32_t lacking) {
  Arena arena;
  Memory memory(arena);
  Notes notes;
  const Context context = context_of(memory, &layout, description, place);
  Judge(memory, context, now, notes).all(description, lacking);
  return {notes.violations.empty() && notes.broken.empty() && notes.lacked.empty() && !notes.undecided, notes.harmful};
}
inline bool accepted(const Layout& layout, const void* description, uint32_t place, const Options& options) {
  if (layout.accepts == nullptr || description == nullptr || !exists(layout, place)) return false;
  const uint64_t now = now_of(place, options.basis, options.implementation);
  Check check{now, place, lacking_types(place, options.device)};
  const bool yes = layout.accepts(check, description);
  return check.unsure ? evaluated(layout, description, place, now, check.lacking).accepted : yes;
}
inline bool accepted(uint32_t type, const void* description, uint32_t place, const Options& options) {
  const Layout* layout = layout_of(type);
  return layout != nullptr && accepted(*layout, description, place, options);
}

// Explains why a description is rejected.
class Refusal {
 public:
  Refusal(const Layout& layout, const void* description, const Options& options)
      : layout_(layout), description_(description), options_(options),
        context_(context_of(memory_, &layout, description, 0)) {
    for (uint32_t place = 0; place < count_of_levels; ++place)
      if (accepted(layout, description, place, options)) verdict.levels.push_back(every_level[place]);
  }

  Verdict verdict;

  // Violations at a level; at a level without the operator, the missing device options, and violations at the first
  // later level that has it.
  void explain(uint32_t place) {
    const Sides here = at(place);
    Telling telling(memory_, context_, options_, verdict.levels);
    if (exists(layout_, place)) {
      tell(telling, here);
    } else {
      say("level", telling.missing_operator());
      verdict.findings.back().fix = telling.later();
      explain_later(place);
      context_.place = place;
    }
    const Basis last = options_.basis == Basis::observed ? Basis::observed : Basis::documented;
    for (const Noted& one : here.lacked)
      verdict.findings.push_back(finding(one, telling.lacked(one), last, telling.device_fix(one)));
    if (verdict.findings.empty()) say("undecided", "it could not be decided whether this is taken");
  }
  void say(const char* id, const std::string& message) {
    verdict.findings.push_back(
        Finding{std::string("directml/") + layout_.name + "/" + id, "", has_text ? message : "", Basis::documented, ""});
  }

 private:
  struct Sides {
    std::vector<Noted> documented, observed, lacked;
  };
  const Layout& layout_;
  const void* description_;
  const Options& options_;
  Arena arena_;
  Memory memory_{arena_};
  Context context_;

  Sides at(uint32_t place) {
    Sides sides;
    context_.place = place;
    for (const Basis side : {Basis::documented, Basis::observed}) {
      if (options_.basis != Basis::both && options_.basis != side) continue;
      Notes notes;
      Judge judge(memory_, context_, now_of(place, side, options_.implementation), notes);
      judge.all(description_, lacking_types(place, options_.device));
      (side == Basis::documented ? sides.documented : sides.observed) = notes.told();
      sides.lacked = notes.lacked;
    }
    return sides;
  }

  static Finding finding(const Noted& one, std::string message, Basis side, std::string fix) {
    return Finding{"directml/" + std::string(one.id), std::string(one.where), std::move(message), side, std::move(fix)};
  }
  // The findings of both sides; a finding on both is listed once.
  void tell(Telling& telling, const Sides& sides) {
    std::vector<Noted> seen;
    for (const Basis side : {Basis::documented, Basis::observed}) {
      const bool first = side == Basis::documented;
      const std::vector<Noted>&own = first ? sides.documented : sides.observed,
                              &other = first ? sides.observed : sides.documented;
      for (const Noted& one : own) {
        if (has(seen, one)) continue;
        seen.push_back(one);
        const bool alone = options_.basis == Basis::both && !has(other, one);
        std::string fix = telling.fix(one, side, own);
        verdict.findings.push_back(finding(one, telling.message(one, side, alone), side, std::move(fix)));
      }
    }
  }
  void explain_later(uint32_t place) {
    while (place < count_of_levels && !exists(layout_, place)) ++place;
    if (place == count_of_levels) return;
    const size_t before = verdict.findings.size();
    const Sides then = at(place);
    Telling telling(memory_, context_, options_, verdict.levels);
    tell(telling, then);
    std::string& fix = verdict.findings[before - 1].fix;
    if (verdict.findings.size() > before && fix.empty())
      fix = "fix the other findings and use feature level " + level_text(every_level[place]);
  }
};

inline Verdict refused(uint32_t type, const void* description, uint32_t level, const Options& options) {
  const Layout* layout = layout_of(type);
  const auto only = [](std::string id, const std::string& message) {
    Verdict verdict;
    verdict.findings.push_back(Finding{"directml/" + id, "", has_text ? message : "", Basis::documented, ""});
    return verdict;
  };
  const std::string number = std::to_string(level);
  if (layout == nullptr || layout->accepts == nullptr)
    return only("unknown-operator", "there is no operator of the number " + std::to_string(type) + " here");
  const uint32_t place = place_below(level);
  const bool known = every_level[place] == level;
  if (description == nullptr && known)
    return only(std::string(layout->name) + "/unreadable", "the description points to nothing");
  const std::string unknown = "there is no feature level of the number " + number + " here";
  if (description == nullptr) return only("unknown-level", unknown);
  Refusal refusal(*layout, description, options);
  if (!known) {
    Verdict verdict = only("unknown-level", unknown);
    verdict.levels = refusal.verdict.levels;
    return verdict;
  }
  refusal.explain(place);
  return std::move(refusal.verdict);
}

}  // namespace detail

// Whether the library of a level accepts a description (a DML_OPERATOR_DESC, or a structure of the same layout). The
// level is the number of a DML_FEATURE_LEVEL. An accepted description needs no allocation.
template <class Description, class Level>
inline Verdict check(const Description& description, Level level, const Options& options = Options()) {
  const auto type = uint32_t(description.Type), at = uint32_t(level);
  if (detail::accepted(type, description.Desc, detail::place_below(at), options)) {
    Verdict verdict;
    verdict.accepted = true;
    return verdict;
  }
  return detail::refused(type, description.Desc, at, options);
}

// The same as check(), without findings.
template <class Description, class Level>
inline bool accepts(const Description& description, Level level, const Options& options = Options()) {
  return detail::accepted(uint32_t(description.Type), description.Desc, detail::place_below(uint32_t(level)), options);
}

namespace detail {

// A number for an enum that the program's headers declare.
struct AnyEnum {
  uint32_t number;
  template <class T, class = std::enable_if_t<std::is_enum_v<T> || std::is_integral_v<T>>>
  operator T() const { return T(number); }
};

// The layout of DML_FEATURE_QUERY_FEATURE_LEVELS.
struct LevelsQuery {
  uint32_t count;
  const uint32_t* levels;
};
constexpr uint32_t feature_levels = 1;

// Whether libraries are known to crash on a violation in a description, or would read invalid memory.
inline bool harmful(uint32_t type, const void* description, uint32_t place, const Options& options) {
  const Layout* layout = layout_of(type);
  if (layout == nullptr || layout->accepts == nullptr) return false;
  if (description == nullptr) return true;
  const uint64_t now = now_of(place, Basis::both, options.implementation);
  Check check{now, place, 0};
  if (layout->accepts(check, description) && !check.unsure) return check.harmful;
  return evaluated(*layout, description, place, now, 0).harmful;
}

}  // namespace detail

// A description as JSON for `specgate check`, such as for a bug report. It is always valid JSON, whatever the pointers
// and counts are.
template <class Description>
inline std::string to_json(const Description& description) {
  detail::Json json;
  json.operator_desc(uint32_t(description.Type), description.Desc, 0);
  return json.text;
}

// The default options of create_operator: a library of this system, any device, and fixes that need a search, because
// speed does not matter after a failure.
inline Options of_this_system() {
  Options made;
  made.implementation = detail::this_system;
  made.fixes = true;
  return made;
}

// The highest feature level of this header that a device confirms; the lowest one if it confirms none.
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

// Prints create_operator's message; by default to the standard error.
using Teller = void (*)(const char* text, void* context);
inline void to_standard_error(const char* text, void*) { std::fputs(text, stderr); }

// Calls device->CreateOperator, and explains a failure:
//     create_operator(device, DML_FEATURE_LEVEL_5_0, &desc, IID_PPV_ARGS(&op));
// A description on which libraries crash is explained and rejected with E_INVALIDARG, without a call of CreateOperator.
template <class Creator, class Level, class Description, class Id>
inline auto create_operator(Creator* device, Level level, const Description* description, const Id& id, void** made,
                            const Options& options = of_this_system(), Teller tell = to_standard_error,
                            void* context = nullptr) -> decltype(device->CreateOperator(description, id, made)) {
  using Result = decltype(device->CreateOperator(description, id, made));
  const auto type = uint32_t(description->Type), place = detail::place_below(uint32_t(level)), at = detail::every_level[place];
  if (detail::harmful(type, description->Desc, place, options)) {
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

// The same at the highest level of the device, which is queried on every call; level_of() queries it once.
template <class Creator, class Description, class Id>
inline auto create_operator(Creator* device, const Description* description, const Id& id, void** made,
                            const Options& options = of_this_system(), Teller tell = to_standard_error,
                            void* context = nullptr) -> decltype(device->CreateOperator(description, id, made)) {
  return create_operator(device, level_of(device), description, id, made, options, tell, context);
}

}  // namespace specgate
