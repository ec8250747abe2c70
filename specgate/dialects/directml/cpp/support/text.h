// Findings as sentences: the requirement, the actual values, and the levels that accept the description.

// Levels as ranges: "2.1", "3.0..6.4".
inline std::string ranges_text(const std::vector<uint32_t>& levels) {
  std::string made;
  size_t from = 0;
  const size_t every = sizeof every_level / sizeof *every_level;
  for (size_t at = 0; at < every && from < levels.size(); ++at) {
    if (every_level[at] != levels[from]) continue;
    size_t to = from;
    while (to + 1 < levels.size() && at + 1 < every && every_level[at + 1] == levels[to + 1]) ++to, ++at;
    made += (made.empty() ? "" : ", ") + level_text(levels[from]) + (to == from ? "" : ".." + level_text(levels[to]));
    from = to + 1;
  }
  return made;
}

// The fix of a violated rule: the first change after which it holds without new violations.
class Remedy {
 public:
  Remedy(Memory& memory, const Context& context, const Noted& failed)
      : memory_(memory), context_(context), failed_(failed) {}

  // The change as prose, nothing if none is known. before: the existing violations.
  std::string fix(Basis side, const std::vector<Noted>& before) {
    const Advice advice(memory_.arena, context_, failed_.where);
    Search search(memory_, *failed_.rule, context_);
    Repair first, best;
    int tried = 0;
    search.repairs([&](const Repair& repair) {
      if (advice.of(repair).empty()) return true;
      if (first.empty()) first = repair;
      if (failed_.part == Part::tensor) return false;
      best = kept(search, repair, [&](const Context& then) { return spoils(then, side, before); });
      constexpr int most_tried = 3;
      return best.empty() && ++tried < most_tried;
    });
    const Repair& found = best.empty() ? first : best;
    return found.empty() ? "" : std::string(advice.of(found));
  }

 private:
  Memory& memory_;
  const Context& context_;
  const Noted& failed_;

  // A fix limited to last values without new violations; nothing if all cause some.
  template <class F>
  static Repair kept(Search& search, const Repair& repair, F spoiled) {
    Done done;
    for (const Step& step : repair) done.emplace_back(step.spot, step.tried()[0]);
    const std::vector<Value> tried = repair.back().tried();
    std::vector<Value> clean;
    for (size_t i = 0; i < tried.size() && i < most_choices; ++i) {
      done.back().second = tried[i];
      Context then;
      if (!search.after(done, then) || !spoiled(then)) clean.push_back(tried[i]);
    }
    if (clean.size() == tried.size()) return repair;
    Repair made;
    if (clean.empty()) return made;
    made = repair;
    made.back().values = clean;
    made.back().span = false;
    return made;
  }

  // Whether a change causes a new violation.
  bool spoils(const Context& then, Basis side, const std::vector<Noted>& before) {
    Notes notes;
    notes.hidden = uint64_t(1) << failed_.rule->number;
    Judge judge(memory_, then, now_of(then.place, side, 0), notes);
    judge.rows();
    judge.tensors(0);
    judge.rules();
    for (const Noted& one : notes.told())
      if (!has(before, one)) return true;
    return false;
  }
};

// Words the findings on one description. taken: the levels that accept it.
class Telling {
 public:
  Telling(Memory& memory, const Context& context, const Options& options, const std::vector<uint32_t>& taken)
      : arena_(memory.arena), memory_(memory), context_(context), options_(options), taken_(taken) {}

  // alone: the other side of the tables accepts it.
  std::string message(const Noted& one, Basis side, bool alone) {
    std::string made;
    made.reserve(256);
    made += one.rule != nullptr ? rule(one) : one.part == Part::row_choice ? row_choice(one, side) : one.message;
    if (!taken_.empty()) made += "; accepted by " + ranges_text(taken_);
    else if (one.listed && nowhere(one, side)) made += "; no feature level supports it";
    if (alone && side == Basis::documented) made += " (documented rule that builds at this level do not enforce)";
    if (alone && side == Basis::observed) made += " (undocumented rule that builds enforce" + asked() + ")";
    if (one.rule != nullptr || one.part == Part::row_choice) made += ".";
    return made;
  }

  // The first later level that accepts the description.
  std::string later() const {
    for (const uint32_t level : taken_)
      if (level > every_level[context_.place]) return "use feature level " + level_text(level);
    return "";
  }
  // before: the side's other violations.
  std::string fix(const Noted& one, Basis side, const std::vector<Noted>& before) {
    std::string own(one.fix);
    if (one.rule != nullptr && one.rule->fix != nullptr) own = one.rule->fix;
    else if (one.rule != nullptr && !one.undefined && options_.fixes) own = remedy(one, side, before);
    const std::string level = later();
    return own.empty() ? level : level.empty() ? own : own + " or " + level;
  }

  std::string missing_operator() const {
    const Layout& layout = *context_.layout;
    return std::string(layout.name) + " does not exist at feature level " + level_text(every_level[context_.place]) +
           "; it exists from " + level_text(layout.since) + " on";
  }
  std::string device_fix(const Noted& one) const {
    const std::string message(one.message);
    const size_t is = message.find(" is "), from = message.find("device with "), to = message.find("; this device");
    return "use a " + message.substr(from, to - from) + ", or another type for " + message.substr(0, is);
  }
  std::string lacked(const Noted& one) const {
    return std::string(one.message) + (taken_.empty() ? "" : "; not required at " + ranges_text(taken_));
  }

 private:
  Arena& arena_;
  Memory& memory_;
  const Context& context_;
  const Options& options_;
  const std::vector<uint32_t>& taken_;
  bool rows_asked_[2] = {false, false};
  std::vector<Noted> rows_[2] = {};

  std::string asked() const {
    const char* others = asked_instead[context_.place];
    if (others == nullptr) return "";
    return "; no build of " + level_text(every_level[context_.place]) + " is known, but those of " + others + " enforce it";
  }

  // Calls `f` with the values that a rule was evaluated on: all, or one tensor.
  template <class F>
  auto judged_on(const Noted& one, F f) {
    if (one.part != Part::tensor) return f(context_);
    const Value& field = context_.fields[one.field];
    const Value value = one.index < 0 ? field : field.item(one.index);
    Context alone{context_.layout, context_.place};
    alone.tensor = &value;
    alone.judged = &context_.layout->members[one.field];
    return f(alone);
  }
  std::string remedy(const Noted& one, Basis side, const std::vector<Noted>& before) {
    return judged_on(one, [&](const Context& read) { return Remedy(memory_, read, one).fix(side, before); });
  }
  std::string_view rule(const Noted& one) {
    return judged_on(one, [&](const Context& read) { return told(one, read); });
  }
  std::string_view told(const Noted& one, const Context& read) {
    const Node *require = one.rule->require.tree, *when = one.rule->when.tree;
    if (one.undefined) {
      Evaluator evaluator(memory_, read);
      if (when == nullptr || !evaluator.value(when).none()) evaluator.value(require);
      return arena_.text({one.message, ": undecided, because ", evaluator.error});
    }
    Explainer explainer(memory_, read);
    std::string_view facts = Words(memory_, read, one.where).of(explainer.decisive(require));
    if (facts.empty())
      for (const auto& value : explainer.values(require))
        facts = arena_.text({facts, facts.empty() ? "" : " and ", placed(value.first, one), " is ",
                             detail::told(arena_, value.second)});
    return facts.empty() ? one.message : arena_.text({one.message, ": ", facts});
  }
  // The field of a tensor rule.
  static std::string placed(std::string text, const Noted& one) {
    if (one.part != Part::tensor) return text;
    for (const char* name : {"(tensor)", "tensor."})
      for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
        const std::string where(one.where), with = name[0] == '(' ? "(" + where + ")" : where + ".";
        text.replace(at, std::strlen(name), with);
        at += with.size();
      }
    return text;
  }

  std::string_view row_choice(const Noted& one, Basis side) {
    Leaves leaves;
    Explainer explainer(memory_, context_);
    for (const Case& row : context_.layout->cases) {
      const bool here = (row.where & now_of(context_.place, side, options_.implementation)) != 0;
      if (here && !Evaluator(memory_, context_).lacks(row.when))
        for (const Leaf& leaf : explainer.decisive(row.when.tree)) leaves.push_back(leaf);
    }
    const std::string_view facts = Words(memory_, context_, one.where).of(leaves);
    constexpr const char* said = "No row of the support table applies";
    return facts.empty() ? said : arena_.text({said, ": ", facts});
  }

  // Whether no level's row supports the type, rank or value.
  bool nowhere(const Noted& one, Basis side) {
    const auto at = size_t(side);
    if (!rows_asked_[at]) rows_[at] = untaken(side), rows_asked_[at] = true;
    return has(rows_[at], one);
  }
  // The values that no level's row supports.
  std::vector<Noted> untaken(Basis side) const {
    std::vector<Noted> everywhere;
    bool first = true;
    for (uint32_t place = 0; place < count_of_levels && (first || !everywhere.empty()); ++place) {
      if ((context_.layout->levels >> place & 1) == 0) continue;
      Context then = context_;
      then.place = place;
      Notes notes;
      Judge(memory_, then, now_of(place, side, 0), notes).rows();
      if (first) everywhere = notes.violations;
      everywhere.erase(std::remove_if(everywhere.begin(), everywhere.end(), [&](const Noted& one) { return !has(notes.violations, one); }),
                  everywhere.end());
      first = false;
    }
    return everywhere;
  }
};
