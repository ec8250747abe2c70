// Findings in sentences: what must be, the values that are otherwise, and the levels that take the description.

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

// Words the findings on one description. taken: the levels that accept it.
class Telling {
 public:
  Telling(Arena& arena, uint32_t type, const void* description, uint32_t level, const std::vector<uint32_t>& taken,
          bool fixes)
      : arena_(arena), type_(type), description_(description), level_(level), taken_(taken), layout_(layout_of(type)),
        fixes_(fixes) {}

  // alone: the other side of the tables takes what is refused.
  std::string message(const Noted& one, Basis side, bool alone) {
    std::string made;
    made.reserve(256);
    made += one.rule != nullptr ? rule(one) : one.part == Part::row_choice ? row_choice(one) : one.message;
    if (!taken_.empty()) made += "; accepted by " + ranges_text(taken_);
    else if (one.listed && nowhere(one, side)) made += "; no feature level takes it";
    if (alone && side == Basis::documented) made += " (documented rule that builds at this level do not enforce)";
    if (alone && side == Basis::observed) made += " (undocumented rule that builds enforce" + asked() + ")";
    if (one.rule != nullptr || one.part == Part::row_choice) made += ".";
    return made;
  }

  // The first later level that takes the description.
  std::string later() const {
    for (const uint32_t level : taken_)
      if (level > level_) return "use feature level " + level_text(level);
    return "";
  }
  // before: what else the side refuses.
  std::string fix(const Noted& one, Basis side, const std::vector<Noted>& before) {
    std::string own(one.fix);
    if (one.rule != nullptr && one.rule->fix != nullptr) own = one.rule->fix;
    else if (one.rule != nullptr && !one.undefined && fixes_) own = remedy(one, side, before);
    const std::string level = later();
    return own.empty() ? level : level.empty() ? own : own + " or " + level;
  }

  std::string missing_operator() const {
    return std::string(layout_->name) + " does not exist at feature level " + level_text(level_) + "; it exists from " +
           level_text(layout_->since) + " on";
  }
  std::string device_fix(const Noted& one) const {
    const std::string message(one.message);
    const size_t is = message.find(" is "), from = message.find("reports "), to = message.find("; this one");
    return "use a device that " + message.substr(from, to - from) + ", or another type for " + message.substr(0, is);
  }
  std::string lacked(const Noted& one) const {
    return std::string(one.message) + (taken_.empty() ? "" : "; no such need at " + ranges_text(taken_));
  }

 private:
  Arena& arena_;
  uint32_t type_;
  const void* description_;
  uint32_t level_;
  const std::vector<uint32_t>& taken_;
  const Layout* layout_;
  bool fixes_;
  bool rows_asked_[2] = {false, false};
  std::vector<Noted> rows_[2] = {};
  language::Tree tree_{arena_};
  language::Memory memory_{arena_};
  language::Context context_ = {};

  const language::Context& context() {
    if (context_.layout == nullptr) context_ = language::context_of(memory_, layout_, description_, level_);
    return context_;
  }

  std::string asked() const {
    const char* others = asked_instead(level_);
    return others == nullptr ? "" : ": there is no build of " + level_text(level_) + ", those of " + others + " enforce it";
  }

  // A rule of every tensor is judged on one of them.
  language::Value tensor(const Noted& one) {
    const language::Value& field = context().fields[size_t(one.field)];
    return one.index < 0 ? field : field.item(one.index);
  }

  std::string remedy(const Noted& one, Basis side, const std::vector<Noted>& before) {
    if (one.part != Part::tensor)
      return Remedy(tree_, memory_, context(), one).fix(context(), type_, description_, side, before);
    const language::Value value = tensor(one);
    language::Context alone{layout_, level_};
    alone.tensor = &value;
    alone.judged = layout_->members + one.field;
    return Remedy(tree_, memory_, alone, one).fix(context(), type_, description_, side, before);
  }

  std::string_view rule(const Noted& one) {
    if (one.part != Part::tensor) return told(one, context());
    const language::Value value = tensor(one);
    language::Context alone{layout_, level_};
    alone.tensor = &value;
    return told(one, alone);
  }
  std::string_view told(const Noted& one, const language::Context& read) {
    const language::Node* require = tree_.parse(one.rule->require);
    if (one.undefined) {
      language::Evaluator evaluator(tree_, memory_, read);
      const bool fails = one.rule->when != nullptr && evaluator.value(tree_.parse(one.rule->when)).none();
      if (!fails) evaluator.value(require);
      return arena_.text({one.message, ", which cannot be decided here: ", evaluator.error});
    }
    language::Explainer explainer(tree_, memory_, read);
    std::string_view facts = language::Words(tree_, memory_, read, one.where).of(explainer.decisive(require));
    if (facts.empty())
      for (const auto& value : explainer.values(require))
        facts = arena_.text({facts, facts.empty() ? "" : " and ", placed(value.first, one), " is ",
                             language::told(arena_, value.second)});
    return facts.empty() ? one.message : arena_.text({one.message, ": ", facts});
  }
  // Names the field that a tensor rule was judged on.
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

  std::string_view row_choice(const Noted& one) {
    language::Leaves leaves(arena_);
    language::Explainer explainer(tree_, memory_, context());
    for (size_t i = 0; i < one.count_of_rows; ++i)
      if (one.rows[i].here)
        for (const language::Leaf& leaf : explainer.decisive(tree_.parse(one.rows[i].when))) leaves.push_back(leaf);
    const std::string_view facts = language::Words(tree_, memory_, context(), one.where).of(leaves);
    constexpr const char* said = "No row of the support table applies";
    return facts.empty() ? said : arena_.text({said, ": ", facts});
  }

  // Whether no level's row takes the type, rank or value.
  bool nowhere(const Noted& one, Basis side) {
    const auto at = size_t(side);
    if (!rows_asked_[at]) rows_[at] = untaken(side), rows_asked_[at] = true;
    return has(rows_[at], one);
  }
  // What the rows of no level take. Of levels at which the operator is the same, one is asked.
  std::vector<Noted> untaken(Basis side) {
    std::vector<Noted> found;
    bool first = true;
    const uint32_t changes = entry_of(type_, 0).changes;
    for (uint32_t place = 0; place < count_of_levels; ++place) {
      const Entry entry = entry_of(type_, every_level[place]);
      if (entry.judge == nullptr || (!first && (found.empty() || (changes >> place & 1) == 0))) continue;
      Notes notes(arena_);
      Check check = prepared(every_level[place], side, Options());
      check.operator_name = entry.name;
      check.layout = layout_;
      check.notes = &notes;
      check.only_rows = true;
      entry.judge(check, description_);
      if (first) found.swap(notes.found);
      size_t kept = 0;
      for (Noted& noted : found)
        if (first || has(notes.found, noted)) std::swap(found[kept++], noted);
      found.erase(found.begin() + long(kept), found.end());
      first = false;
    }
    return found;
  }
};
