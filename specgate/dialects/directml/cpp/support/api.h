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

// A violated rule, or an unsupported type, rank or value.
struct Finding {
  std::string id;       // such as directml/ONE_HOT/axis-range; `specgate rule ID` prints its reference
  std::string where;    // the field, empty for the whole description
  std::string message;  // the requirement, then the actual values; empty in a header without texts
  Basis basis = Basis::documented;
  std::string fix;  // the change that fixes it, empty if none is proposed
};

// The answer for one description.
struct Verdict {
  bool accepted = false;
  std::vector<Finding> findings;
  std::vector<uint32_t> levels;  // if rejected: the levels that accept it

  explicit operator bool() const { return accepted; }

  // A line per finding, and below it the fix. A header without texts names the accepting levels.
  std::string text() const {
    std::string text;
    for (const Finding& finding : findings) {
      text += finding.id + (finding.where.empty() ? "" : " (" + finding.where + ")");
      text += (finding.message.empty() ? "" : ": " + finding.message) + "\n";
      if (!finding.fix.empty()) text += "  fix: " + finding.fix + "\n";
    }
    for (size_t i = 0; !detail::has_text && i < levels.size(); ++i)
      text += (i == 0 ? "accepted by feature level " : ", ") + detail::level_text(levels[i]);
    return detail::has_text || levels.empty() ? text : text + "\n";
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

// The evaluator's answer on a description: a validator that only keeps its results.
inline Validator validated(const Layout& layout, const void* description, uint32_t place, uint64_t now,
                           uint32_t lacking) {
  Pool pool;
  const Context context(pool, layout, description, place);
  Validator validator(context, now);
  return validator.all(lacking), validator;
}
inline bool accepted(const Layout& layout, const void* description, uint32_t place, const Options& options) {
  if (layout.accepts == nullptr || description == nullptr || !exists(layout, place)) return false;
  const uint64_t now = now_of(place, options.basis, options.implementation);
  Check check{now, place, lacking_types(place, options.device)};
  const bool yes = layout.accepts(check, description);
  return check.unsure ? validated(layout, description, place, now, check.lacking).accepts() : yes;
}
inline bool accepted(uint32_t type, const void* description, uint32_t place, const Options& options) {
  const Layout* layout = layout_of(type);
  return layout != nullptr && accepted(*layout, description, place, options);
}

// Levels as ranges: "2.1", "3.0..6.4".
inline std::string ranges_text(const std::vector<uint32_t>& levels) {
  Texts ranges;
  for (size_t from = 0, to; from < levels.size(); from = to + 1) {
    const uint32_t* level = std::find(every_level, every_level + count_of_levels, levels[from]);
    for (to = from; to + 1 < levels.size() && *++level == levels[to + 1];) ++to;
    ranges.push_back(level_text(levels[from]) + (to == from ? "" : ".." + level_text(levels[to])));
  }
  return join(ranges, ", ", ", ");
}

// Explains why a description is rejected. levels: those that accept it.
class Refusal {
 public:
  Refusal(const Layout& layout, const void* description, const Options& options)
      : layout_(layout), options_(options), context_(pool_, layout, description, 0) {
    for (uint32_t place = 0; place < count_of_levels; ++place)
      if (accepted(layout, description, place, options)) levels.push_back(every_level[place]);
  }

  std::vector<uint32_t> levels;

  // Violations at a level; at a level without the operator, violations at the first later level that has it.
  Verdict explain(uint32_t place) {
    Verdict verdict;
    verdict.levels = levels;
    std::vector<Violation> lacked = find_causes(place);
    const std::string name = layout_.name, later = later_level();
    if (exists(layout_, place)) {
      report(verdict);
    } else {
      const std::string message = fill("$0 does not exist at feature level $1; it exists from $2 on",
                                       {name, level_text(every_level[place]), level_text(layout_.since)});
      verdict.findings.push_back(finding(name + "/level", "", message, Basis::documented, later));
      while (place < count_of_levels && !exists(layout_, place)) ++place;
      if (place < count_of_levels) find_causes(place), report(verdict);
      std::string& fix = verdict.findings[0].fix;
      if (has_text && verdict.findings.size() > 1 && fix.empty())
        fix = "fix the other findings and use feature level " + level_text(every_level[place]);
    }
    for (const Violation& violation : lacked) {
      const std::string message =
          violation.message + (levels.empty() ? "" : "; not required at " + ranges_text(levels));
      const Basis side = options_.basis == Basis::observed ? Basis::observed : Basis::documented;
      verdict.findings.push_back(finding(violation.id, violation.where, message, side, violation.fix));
    }
    if (verdict.findings.empty())
      verdict.findings.push_back(finding(name + "/undecided", "", "it could not be decided whether this is taken"));
    return verdict;
  }
  static Finding finding(std::string id, std::string where, std::string message, Basis side = Basis::documented,
                         std::string fix = "") {
    return Finding{"directml/" + id, std::move(where), has_text ? std::move(message) : "", side,
                   has_text ? std::move(fix) : ""};
  }

 private:
  const Layout& layout_;
  const Options& options_;
  Pool pool_;
  Context context_;
  std::vector<Violation> causes_[2] = {};  // on both sides of the tables
  uint64_t lost_ = 0;

  // Finds the causes on both sides at a level; returns the types that the device lacks.
  std::vector<Violation> find_causes(uint32_t place) {
    std::vector<Violation> lacked;
    context_.place = place;
    for (const Basis side : {Basis::documented, Basis::observed}) {
      if (options_.basis != Basis::both && options_.basis != side) continue;
      Validator validator(context_, now_of(place, side, options_.implementation));
      validator.all(lacking_types(place, options_.device));
      causes_[size_t(side)] = validator.causes();
      lacked = validator.lacked;
      lost_ = validator.lost;
    }
    return lacked;
  }
  // Adds the findings of both sides; one on both is listed once.
  void report(Verdict& verdict) {
    std::vector<Violation> seen;
    for (const Basis side : {Basis::documented, Basis::observed})
      for (const Violation& violation : causes_[size_t(side)]) {
        if (has(seen, violation)) continue;
        seen.push_back(violation);
        const bool alone = options_.basis == Basis::both && !has(causes_[1 - size_t(side)], violation);
        verdict.findings.push_back(has_text ? finding(violation.id, violation.where, message(violation, side, alone),
                                                      side, fix(violation, side))
                                            : finding(violation.id, violation.where, "", side));
      }
  }

  // alone: the other side of the tables accepts it.
  std::string message(const Violation& violation, Basis side, bool alone) const {
    const bool reasoned = violation.rule != nullptr || violation.source == Source::row_choice;
    std::string text = violation.message;
    if (violation.rule != nullptr) text += ": " + reason(violation);
    if (violation.source == Source::row_choice)
      text = "No row of the support table applies" + row_choice(violation, side);
    if (!levels.empty()) text += "; accepted by " + ranges_text(levels);
    else if (violation.listed && nowhere(violation, side)) text += "; no feature level supports it";
    if (alone) text += side_notes[context_.place][size_t(side)];
    return text + (reasoned ? "." : "");
  }
  std::string fix(const Violation& violation, Basis side) const {
    const std::string level = later_level();
    std::string fix = violation.fix;
    if (violation.rule != nullptr && violation.rule->fix != nullptr) fix = violation.rule->fix;
    else if (violation.rule != nullptr && !violation.undefined && options_.fixes) fix = search(violation, side);
    return fix.empty() || level.empty() ? fix + level : fix + " or " + level;
  }
  // The first later level that accepts the description.
  std::string later_level() const {
    for (const uint32_t level : levels)
      if (level > every_level[context_.place]) return "use feature level " + level_text(level);
    return "";
  }

  // The values that a rule was evaluated on: all, or one tensor.
  Context context_of(const Violation& violation) const {
    const Place& place = violation.place;
    return violation.source == Source::tensor ? context_.of_tensor(place.field, place.index) : context_;
  }
  // The values that decide a rule.
  std::string reason(const Violation& violation) const {
    const Node *require = violation.rule->require.tree, *when = violation.rule->when.tree;
    const Context context = context_of(violation);
    if (violation.undefined) {
      Evaluator evaluator(context);
      if (when == nullptr || !evaluator.value(when).none()) evaluator.value(require);
      return "undecided, because " + evaluator.error;
    }
    return Describer{context}.describe(Explainer{context}.decisive(require));
  }
  std::string row_choice(const Violation&, Basis side) const {
    Leaves leaves;
    for (const Case& row : layout_.cases)
      if ((row.where & now_of(context_.place, side, options_.implementation)) != 0 &&
          !Evaluator(context_).lacks(row.when))
        for (const Leaf& leaf : Explainer{context_}.decisive(row.when.tree)) leaves.push_back(leaf);
    const std::string facts = Describer{context_}.describe(leaves);
    return facts.empty() ? "" : ": " + facts;
  }
  // Whether no level's row supports the type, rank or value.
  bool nowhere(const Violation& violation, Basis side) const {
    Context context = context_;
    for (context.place = 0; context.place < count_of_levels; ++context.place) {
      Validator validator(context, now_of(context.place, side, 0));
      validator.rows();
      if (exists(layout_, context.place) && !has(validator.violations, violation)) return false;
    }
    return true;
  }

  // The first change after which a rule holds, preferably without new violations.
  std::string search(const Violation& violation, Basis side) const {
    const Context context = context_of(violation);
    Repair first, best;
    int tried = 0;
    Search{*violation.rule, context}.repairs([&](const Repair& repair) {
      if (phrase(repair, context).empty()) return true;
      if (first.empty()) first = repair;
      if (violation.source == Source::tensor) return false;
      best = without_new_violations(violation, side, repair);
      constexpr int most_tried = 3;
      return best.empty() && ++tried < most_tried;
    });
    return phrase(best.empty() ? first : best, context);
  }
  // A repair limited to the last values without new violations, empty if all cause some.
  Repair without_new_violations(const Violation& violation, Basis side, Repair repair) const {
    Repair steps = repair;
    const Values tried = repair.back().tried();
    Values clean;
    for (size_t i = 0; i < tried.size() && i < most_choices; ++i) {
      steps.back() = Step{repair.back().spot, {tried[i]}};
      const std::optional<Context> changed = after(context_, steps);
      if (!changed || !spoils(*changed, violation, side)) clean.push_back(tried[i]);
    }
    if (clean.size() < tried.size()) repair.back() = Step{repair.back().spot, clean};
    return clean.empty() ? Repair() : repair;
  }
  bool spoils(const Context& changed, const Violation& violation, Basis side) const {
    Validator validator(changed, now_of(changed.place, side, 0));
    validator.hidden = uint64_t(1) << violation.rule->number;
    validator.lost = lost_;
    validator.rows();
    validator.tensors(0);
    validator.rules();
    const std::vector<Violation> causes = validator.causes();
    return !std::all_of(causes.begin(), causes.end(),
                        [&](const Violation& cause) { return has(causes_[size_t(side)], cause); });
  }
};

inline Verdict refused(uint32_t type, const void* description, uint32_t level, const Options& options) {
  const Layout* layout = layout_of(type);
  const uint32_t place = place_below(level);
  Verdict verdict;
  const auto only = [&](std::string id, std::string message) {
    verdict.findings.push_back(Refusal::finding(std::move(id), "", std::move(message)));
    return verdict;
  };
  if (layout == nullptr || layout->accepts == nullptr)
    return only("unknown-operator", fill("there is no operator of the number $0 here", {std::to_string(type)}));
  if (every_level[place] == level) {
    if (description == nullptr)
      return only(std::string(layout->name) + "/unreadable", "the description points to nothing");
    return Refusal(*layout, description, options).explain(place);
  }
  if (description != nullptr) verdict.levels = Refusal(*layout, description, options).levels;
  return only("unknown-level", fill("there is no feature level of the number $0 here", {std::to_string(level)}));
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
  operator T() const {
    return T(number);
  }
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
  return validated(*layout, description, place, now, 0).harmful;
}

}  // namespace detail

// A description as JSON for `specgate check`, such as for a bug report. It is always valid JSON, whatever the pointers
// and counts are.
template <class Description>
inline std::string to_json(const Description& description) {
  return detail::Json::of(uint32_t(description.Type), description.Desc);
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
    const auto result = device->CheckFeatureSupport(detail::AnyEnum{detail::feature_levels}, uint32_t(sizeof query),
                                                    &query, uint32_t(sizeof found), &found);
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
  const auto type = uint32_t(description->Type), place = detail::place_below(uint32_t(level)),
             at = detail::every_level[place];
  if (detail::harmful(type, description->Desc, place, options)) {
    Options careful = options;
    careful.basis = Basis::both;
    std::string why =
        accepts(*description, at, careful) ? "" : detail::refused(type, description->Desc, at, careful).text();
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
