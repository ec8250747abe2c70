// Violations of rows and rules in a description.

// A field, or an element of an array field.
struct Place {
  size_t field;
  int64_t index = -1;
};

// The kinds of violations, in the order of findings.
enum class Source { structure, row, tensor, rule, row_choice };
// listed: levels differ in their support here. undefined: a rule without a value.
struct Violation {
  Source source;
  std::string id, where, message, fix = {};
  Place place = {0};
  bool rank = false, listed = false, undefined = false;
  const Rule* rule = nullptr;
};
inline bool has(const std::vector<Violation>& violations, const Violation& wanted) {
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& violation) {
    return violation.id == wanted.id && violation.where == wanted.where;
  });
}

inline std::string level_text(uint32_t level) {
  return std::to_string(level >> 12) + "." + std::to_string(level >> 8 & 15);
}

// Checks a context on the sides of the tables in `now`. violations, broken: violated rules, and those without a value.
// lacked: types that the device lacks. lost: unreadable fields, as bits. hidden: rules whose violation is redundant, as
// bits. harmful: a library may crash.
class Validator {
 public:
  Validator(const Context& context, uint64_t now) : context_(context), layout_(*context.layout), now_(now) {}

  std::vector<Violation> violations, broken, lacked;
  uint64_t lost = 0, hidden = 0;
  bool harmful = false, undecided = false;

  // lacking: the types that the device does not support, as bits.
  void all(uint32_t lacking) {
    structure();
    rows();
    tensors(lacking);
    rules();
  }
  bool accepts() const { return violations.empty() && broken.empty() && lacked.empty() && !undecided; }

  // Causes without redundant ones, in order; rules without a value if there is nothing else.
  std::vector<Violation> causes() const {
    uint64_t fields = 0;
    for (const Violation& violation : violations)
      if (violation.source < Source::rule) fields |= uint64_t(1) << violation.place.field;
    std::vector<Violation> causes;
    std::copy_if(violations.begin(), violations.end(), std::back_inserter(causes), [&](const Violation& violation) {
      const uint64_t hiding = violation.rank ? hidden_ranks_ : violation.source == Source::row_choice ? fields : 0;
      return (hiding >> violation.place.field & 1) == 0;
    });
    std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.source < b.source; });
    return causes.empty() ? broken : causes;
  }

  // Unreadable or missing parts.
  void structure() {
    for (size_t i = 0; i < layout_.members.count; ++i) {
      const Value& field = context_.fields[i];
      const Member& member = layout_.members[i];
      readable(field, member.optional, {i});
      for (int64_t at = 0; field.is == Value::Is::list && is_tensor(member.shape) && at < field.length(); ++at) {
        const Value item = field.item(at);
        if (item.none()) unreadable("is no tensor", {i, at});
        readable(item, true, {i, at});
      }
    }
  }

  // Violations of rows; of several rows the first whose condition holds counts.
  void rows() {
    const auto& cases = layout_.cases;
    cells(0, cases.count == 0 ? layout_.cells.count : cases[0].first);
    for (const Case& row : cases) {
      Evaluator evaluator(context_);
      if ((row.where & now_) != 0 && !evaluator.lacks(row.when) && evaluator.value(row.when.tree).is_true())
        return cells(row.first, row.count);
    }
    if (cases.count != 0)
      note(violations, Source::row_choice, std::string(layout_.name) + "/support-case", {layout_.case_field});
  }

  void tensors(uint32_t lacking) {
    for (size_t i = 0; i < layout_.members.count; ++i) {
      const Value& field = context_.fields[i];
      if (field.is == Value::Is::tensor) tensor(field, {i}, lacking);
      for (int64_t at = 0; is_tensor(layout_.members[i].shape) && at < field.length(); ++at)
        tensor(field.item(at), {i, at}, lacking);
    }
  }

  void rules() { rules(layout_.rules, context_, nullptr); }

 private:
  const Context& context_;
  const Layout& layout_;
  const uint64_t now_;
  uint64_t hidden_ranks_ = 0;

  std::string text_of(const Place& place) const { return context_.name(place.field, place.index); }
  Violation& note(std::vector<Violation>& list, Source source, std::string id, const Place& place,
                  std::string message = "", std::string fix = "") {
    if (source == Source::structure) lost |= uint64_t(1) << place.field;
    list.push_back(Violation{source, std::move(id), text_of(place), has_text ? std::move(message) : "",
                             has_text ? std::move(fix) : "", place});
    return list.back();
  }
  // A violation of one aspect of a field.
  Violation& note(Source source, const char* aspect, const Place& place, std::string message, std::string fix) {
    const std::string id = fill("$0/$1.$2", {layout_.name, layout_.members[place.field].name, aspect});
    return note(violations, source, id, place, std::move(message), std::move(fix));
  }
  void unreadable(const char* problem, const Place& place) {
    harmful = true;
    note(Source::structure, "unreadable", place, text_of(place) + " " + problem, "");
  }
  void readable(const Value& value, bool optional, const Place& place) {
    const bool absent = value.none() && !optional && value.problem == nullptr;
    harmful =
        harmful || value.hollow ||
        (absent && !is_array(layout_.members[place.field].shape) && is_pointer(layout_.members[place.field].shape));
    const std::string name = layout_.members[place.field].name;
    if (absent) note(Source::structure, "required", place, name + " is required, but missing", "give " + name);
    if (value.problem != nullptr) return unreadable(value.problem, place);
    const Value type = value.is == Value::Is::tensor ? tensor_part(value, type_part) : Value();
    if (type.is == Value::Is::integer)
      note(Source::structure, "unknown-word", place,
           text_of(place) + ".DataType is " + type.integer.text() + no_known_type, "");
  }

  void cells(size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      const Cell& cell = layout_.cells[i];
      const Value& field = context_.fields[cell.field];
      if ((cell.where & now_) == 0) continue;
      if (!field.is_sequence()) row(field, cell, {cell.field});
      for (int64_t at = 0; at < field.length(); ++at) row(field.item(at), cell, {cell.field, at});
    }
  }
  void unsupported(const char* aspect, const Place& place, const std::string& value, const std::string& supported,
                   std::string fix) {
    const std::string level = level_text(every_level[context_.place]);
    const std::string message = fill("$0 $1, which is not supported at feature level $2 (supported: $3)",
                                     {text_of(place), value, level, supported});
    Violation& violation = note(Source::row, aspect, place, message, std::move(fix));
    violation.listed = true;
    violation.rank = std::strcmp(aspect, "rank") == 0;
  }
  void row(const Value& value, const Cell& cell, const Place& place) {
    const auto set = [&] { return fill("set $0 $1", {text_of(place), cell.choices->any}); };
    if (value.is == Value::Is::tensor) {
      const Value type = tensor_part(value, type_part), sizes = tensor_part(value, sizes_part);
      if (value.problem != nullptr || sizes.unknown()) return;
      if (type.is == Value::Is::word && !among(uint32_t(type.integer.value()), cell.bits))
        unsupported("type", place, "is " + to_text(type), cell.choices->listed, type_fix(type, cell, place));
      if (has_rank(cell.ranks, sizes.length())) return;
      unsupported("rank", place, "has rank " + std::to_string(sizes.length()), cell.choices->ranks,
                  fill("give $0 rank $1", {text_of(place), cell.choices->ranks}));
    } else if (value.is == Value::Is::fused) {
      if (!cell.names(uint32_t(value.integer.value())))
        unsupported("operator", place, "is " + to_text(value), cell.choices->listed, set());
      fused(value, place);
    } else if (value.is == Value::Is::integer ||
               (value.is == Value::Is::word && !cell.names(uint32_t(value.integer.value())))) {
      unsupported("value", place, "is " + to_text(value, true), cell.choices->listed, set());
    }
  }
  // The supported type of the nearest cast.
  std::string type_fix(const Value& type, const Cell& cell, const Place& place) const {
    const Cast* best = nullptr;
    const Cast* row = casts[type.integer.value()];
    for (uint32_t i = 0; i < cell.choices->count; ++i) {
      const Cast* cast = &row[cell.choices->numbers[i]];
      if (best == nullptr || cast->distance < best->distance) best = cast;
    }
    const std::string where = text_of(place);
    if (best == nullptr || !best->possible()) return fill("give $0 $1", {where, cell.choices->any});
    const std::string nearest = word_of(enum_TENSOR_DATA_TYPE, uint32_t(best - row));
    if (is_output(layout_.members[place.field].shape)) return fill("give $0 the type $1", {where, nearest});
    return fill(*best->loss == 0 ? "cast $0 to $1" : "cast $0 to $1 ($2)", {where, nearest, best->loss});
  }
  void fused(const Value& value, const Place& place) {
    const Operator fused{true, uint32_t(value.integer.value()), value.desc};
    find_flaw(fused, [&](Flaw flaw, const Member* member) {
      static constexpr const char* messages[] = {
          "$0 has no description", "$0 states $1, but a fused operator has no separate tensors",
          "$0 does not state $1, which $2 requires", "$0 has too many elements in $1",
          "$0 states $1, which is neither 0 nor 1"};
      const std::string holder = text_of(place), name = member == nullptr ? "" : member->name;
      const std::string where = member == nullptr ? holder : holder + "." + name;
      const char* const verb = flaw == Flaw::tensor ? "leave out " : flaw == Flaw::missing ? "state " : nullptr;
      const std::string message = fill(messages[size_t(flaw)], {holder, name, to_text(value)});
      note(Source::row, "operator", place, message, verb == nullptr ? "" : verb + where).where = where;
      harmful = true;
      return false;
    });
  }

  // Rules for all tensors are evaluated separately.
  void tensor(const Value& value, const Place& place, uint32_t lacking) {
    if (value.none() || value.problem != nullptr || tensor_part(value, sizes_part).unknown()) return;
    const Value type = tensor_part(value, type_part);
    const std::string where = text_of(place);
    if (type.is == Value::Is::word && among(uint32_t(type.integer.value()), lacking)) {
      const char* options = "nothing";
      for (const Need& need : needs)
        if (need.type == uint32_t(type.integer.value()) && (need.levels >> context_.place & 1) != 0)
          options = need.names;
      const std::string message =
          fill("$0 is $1, which requires a device with $2; this device lacks it", {where, type.word, options});
      const std::string fix = fill("use a device with $0, or another type for $1", {options, where});
      note(lacked, Source::tensor, "tensor/device-capability", place, message, fix).where += ".DataType";
    }
    rules(of(rules_of_tensors), context_.of_tensor(place.field, place.index), &place);
  }
  // place: the tensor of the rules.
  void rules(const Span<Rule>& rules, const Context& context, const Place* place) {
    uint64_t failed = 0;
    for (const Rule& rule : rules) {
      if ((rule.where & now_) == 0 || (place == nullptr && (lost & rule.reads) != 0)) continue;
      const Side side = place != nullptr && is_output(layout_.members[place->field].shape) ? Side::output : Side::input;
      Evaluator evaluator(context);
      if ((rule.side != Side::all && rule.side != side) || !evaluator.applies(rule)) continue;
      const uint64_t bit = uint64_t(1) << rule.number;
      if (place == nullptr && (rule.after & hidden) != 0) hidden |= bit;
      const bool repeats = (rule.after & failed) != 0;
      if (repeats && !rule.crashes) continue;
      const Value answer = evaluator.evaluate(rule);
      undecided = undecided || answer.unknown();
      if (answer.is_true() || answer.unknown()) continue;
      harmful = harmful || rule.crashes;
      if (repeats) continue;
      failed |= bit;
      if (place == nullptr && (hidden & bit) != 0) continue;
      const bool undefined = answer.none();
      if (place != nullptr && rule.hides_rank && !undefined) hidden_ranks_ |= uint64_t(1) << place->field;
      Violation& violation = note(undefined ? broken : violations, place == nullptr ? Source::rule : Source::tensor,
                                  rule.id, place == nullptr ? Place{0} : *place, rule.sentence);
      violation.rule = &rule;
      violation.undefined = undefined;
      if (place == nullptr) violation.where = undefined ? "" : decisive_field(rule);
    }
  }

  // The field to report: one that is compared directly, else the first deciding one.
  std::string decisive_field(const Rule& rule) {
    const std::string_view text = rule.require.tree->text;
    Texts operands;
    for (const Leaf& leaf : Explainer{context_}.decisive(rule.require.tree)) {
      const Node& shown = *leaf.shown;
      for (const Node& part : shown.kind == Kind::compare ? shown.parts : Span<Node>{&shown, 1})
        if (part.kind != Kind::list) operands.emplace_back(part.text);
    }
    std::tuple<int, size_t, std::string> best{3, 0, ""};
    for (size_t i = 0; i < layout_.members.count; ++i) {
      const std::string name = layout_.members[i].name;
      if (!names(rule.require.tree, i)) continue;
      int rank = 2;
      for (const std::string& part : operands)
        rank = (std::min)(rank, part == name ? 0 : part.find(name) != std::string::npos ? 1 : 2);
      best = (std::min)(best, std::make_tuple(rank, text.find(name) + 1, name));  // 0 for a part with a short name
    }
    return std::get<2>(best);
  }
  static bool names(const Node* node, size_t field) {
    if (node->kind == Kind::field && size_t(node->number) == field) return true;
    return std::any_of(node->parts.begin(), node->parts.end(), [&](const Node& part) { return names(&part, field); });
  }
};
