// Violations of rows and rules in a description.

// A field, an element of an array field, or a member of a field.
struct Place {
  const char* field;
  size_t number;
  int64_t index = -1;
  const char* member = nullptr;

  Place element(int64_t at) const { return Place{field, number, at, nullptr}; }
  std::string_view text(Arena& arena) const {
    if (index < 0 && member == nullptr) return field;
    std::string path = field;
    if (index >= 0) path += "[" + std::to_string(index) + "]";
    if (member != nullptr) path += std::string(".") + member;
    return arena.text(path);
  }
};

// The kinds of violations, in the order of findings.
enum class Part { structure, row, tensor, rule, row_choice };
// index: the element of an array. listed: levels differ in their support here. undefined: a rule without a value.
struct Noted {
  Part part;
  std::string_view id, where, message, fix = {};
  size_t field = 0;
  int64_t index = -1;
  bool rank = false, listed = false, undefined = false;
  const Rule* rule = nullptr;
};
inline bool has(const std::vector<Noted>& several, const Noted& wanted) {
  for (const Noted& one : several)
    if (one.id == wanted.id && one.where == wanted.where) return true;
  return false;
}

// lost: unreadable fields, as bits. hidden: rules whose violation is redundant, as bits. harmful: a library may
// crash.
struct Notes {
  std::vector<Noted> violations, broken, lacked;
  uint64_t lost = 0, hidden = 0, hidden_ranks = 0;
  bool harmful = false, undecided = false;

  // Causes without redundant ones, in order; rules without a value if there is nothing else.
  std::vector<Noted> told() const {
    uint64_t fields = 0;
    for (const Noted& one : violations)
      if (one.part == Part::structure || one.part == Part::row || one.part == Part::tensor) fields |= uint64_t(1) << one.field;
    std::vector<Noted> causes;
    for (const Part part : {Part::structure, Part::row, Part::tensor, Part::rule, Part::row_choice})
      for (const Noted& one : violations) {
        const bool hides = one.rank && (hidden_ranks >> one.field & 1) != 0;
        const bool echo = one.part == Part::row_choice && (fields >> one.field & 1) != 0;
        if (one.part == part && !hides && !echo) causes.push_back(one);
      }
    return causes.empty() ? broken : causes;
  }
};

inline std::string level_text(uint32_t level) {
  return std::to_string(level >> 12) + "." + std::to_string(level >> 8 & 15);
}
inline std::string type_text(uint32_t type) {
  const bool known = type < sizeof names_of_types / sizeof *names_of_types && names_of_types[type] != nullptr;
  return known ? names_of_types[type] : std::to_string(type);
}
inline std::string operator_text(uint32_t type) {
  const Layout* layout = layout_of(type);
  return layout == nullptr ? std::to_string(type) : layout->name;
}
// A range of ranks.
inline std::string ranks_text(uint64_t bits) {
  uint32_t low = 0, high = 63;
  while (low < 63 && (bits >> low & 1) == 0) ++low;
  while (high > low && (bits >> high & 1) == 0) --high;
  return low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
}
inline std::string needs_of(uint32_t type, uint32_t place) {
  for (const Need& need : needs)
    if (need.type == type && (need.levels >> place & 1) != 0) return need.names;
  return "nothing";
}

// Checks the values of a context at one level, on the sides of the tables in `now`.
class Judge {
 public:
  Judge(Memory& memory, const Context& context, uint64_t now, Notes& notes)
      : memory_(memory), arena_(memory.arena), context_(context), layout_(*context.layout), now_(now), notes_(notes) {}

  // Unreadable or missing parts.
  void structure(const void* description) {
    for (size_t i = 0; i < layout_.members.count; ++i) {
      const Member& member = layout_.members[i];
      const Place place{member.name, i};
      switch (member.shape) {
        case Shape::input:
        case Shape::output: readable(tensor_of(description, member), member.optional, place); break;
        case Shape::inputs:
        case Shape::outputs: readable(tensors_of(description, member), place); break;
        case Shape::numbers: counted(numbers_of<uint32_t>(description, member), member.optional, place); break;
        case Shape::integers: counted(numbers_of<int32_t>(description, member), member.optional, place); break;
        case Shape::reals: counted(numbers_of<float>(description, member), member.optional, place); break;
        case Shape::truth:
          if (number_of(description, member) > 1) unreadable("is neither 0 nor 1", place);
          break;
        case Shape::helds:
          counted(pointed_to<Operators>(member_at<const abi::OperatorDesc*>(description, member.offset),
                                        member_at<uint32_t>(description, member.by)),
                  member.optional, place, most_operators, "has too many operators");
          break;
        case Shape::held:
          notes_.harmful = notes_.harmful || (!member.optional && context_.fields[i].none());
          if (!member.optional && context_.fields[i].none()) missing(place);
          break;
        default: break;
      }
    }
  }

  // Violations of rows; of several rows the first whose condition holds counts.
  void rows() {
    const auto& cases = layout_.cases;
    const size_t own = cases.count == 0 ? layout_.cells.count : cases[0].first;
    for (size_t i = 0; i < own; ++i) cell(layout_.cells[i]);
    for (const Case& one : cases) {
      if ((one.where & now_) == 0 || !applies(one)) continue;
      for (size_t i = 0; i < one.count; ++i) cell(layout_.cells[one.first + i]);
      return;
    }
    if (cases.count == 0) return;
    const Place place{layout_.members[layout_.case_field].name, layout_.case_field};
    Noted noted{Part::row_choice, arena_.text({layout_.name, "/support-case"}), place.field, ""};
    noted.field = place.number;
    notes_.violations.push_back(noted);
  }

  // lacking: the types that the device does not support, as bits.
  void tensors(uint32_t lacking) {
    for (size_t i = 0; i < layout_.members.count; ++i) {
      const Value& field = context_.fields[i];
      const Place place{layout_.members[i].name, i};
      if (field.is == Value::Is::tensor) tensor(field, place, lacking);
      else if (is_tensor(layout_.members[i].shape))
        for (int64_t at = 0; at < field.length(); ++at) tensor(field.item(at), place.element(at), lacking);
    }
  }

  void rules() { rules(layout_.rules, context_, nullptr); }

  void all(const void* description, uint32_t lacking) {
    structure(description);
    rows();
    tensors(lacking);
    rules();
  }

 private:
  Memory& memory_;
  Arena& arena_;
  const Context& context_;
  const Layout& layout_;
  const uint64_t now_;
  Notes& notes_;

  bool applies(const Case& one) {
    Evaluator evaluator(memory_, context_);
    return !evaluator.lacks(one.when) && evaluator.value(one.when.tree).true_();
  }

  // message: the message, and its advice.
  template <class F>
  void note(Part part, const char* aspect, const Place& place, F message, bool listed = false) {
    if (part == Part::structure) notes_.lost |= uint64_t(1) << place.number;
    Noted noted{part, arena_.text({layout_.name, "/", place.field, ".", aspect}), place.text(arena_), ""};
    noted.field = place.number;
    noted.rank = std::strcmp(aspect, "rank") == 0;
    noted.listed = listed;
    if (has_text) message(noted);
    notes_.violations.push_back(noted);
  }
  void missing(const Place& place) {
    note(Part::structure, "required", place, [&](Noted& noted) {
      noted.message = arena_.text({place.field, " is required, but missing"});
      noted.fix = arena_.text({"give ", place.field});
    });
  }
  void unreadable(const char* what, const Place& place) {
    notes_.harmful = true;
    note(Part::structure, "unreadable", place, [&](Noted& noted) { noted.message = arena_.text({noted.where, " ", what}); });
  }
  void readable(const Tensor& tensor, bool optional, const Place& place) {
    notes_.harmful = notes_.harmful || tensor.hollow || (!tensor.given && !optional);
    if (!tensor.given) return optional ? void() : missing(place);
    if (!tensor.readable) return unreadable("is no buffer tensor of at most 64 dimensions", place);
    if (known_type(tensor.type)) return;
    note(Part::structure, "unknown-word", place, [&](Noted& noted) {
      noted.message = arena_.text({noted.where, ".DataType is ", arena_.number(tensor.type), no_known_type});
    });
  }
  void readable(const Tensors& tensors, const Place& place) {
    notes_.harmful = notes_.harmful || tensors.hollow;
    if (!tensors.given) return missing(place);
    if (tensors.count > int64_t(most_elements)) return unreadable("has too many tensors", place);
    for (int64_t i = 0; i < tensors.count; ++i) {
      const Tensor tensor = read(tensors.data + i, false);
      if (!tensor.given) unreadable("is no tensor", place.element(i));
      readable(tensor, true, place.element(i));
    }
  }
  template <class T>
  void counted(const T& several, bool optional, const Place& place, uint32_t most = most_elements,
               const char* many = "has too many elements") {
    notes_.harmful = notes_.harmful || several.hollow;
    if (!several.given && !optional) missing(place);
    if (several.count > int64_t(most)) unreadable(many, place);
  }

  void cell(const Cell& cell) {
    if ((cell.where & now_) == 0) return;
    const Member& member = layout_.members[cell.field];
    const Value& field = context_.fields[cell.field];
    const Place place{member.name, cell.field};
    if (member.shape == Shape::word) return word(field, cell, place);
    if (field.is == Value::Is::tensor) return row(*field.tensor, cell, place);
    if (field.is == Value::Is::held) return fuses(field.held, cell, place);
    for (int64_t i = 0; field.sequence() && i < field.length(); ++i) {
      const Value item = field.item(i);
      if (item.is == Value::Is::tensor) row(*item.tensor, cell, place.element(i));
      else fuses(item.held, cell, place.element(i));
    }
  }
  // Long lists of supported words are abbreviated with their count.
  std::string_view not_supported(List<std::string_view> start, std::vector<std::string> choices) const {
    constexpr size_t most = 12;
    if (choices.size() > most) {
      const size_t more = choices.size() - most + 1;
      choices.resize(most - 1);
      choices.push_back(std::to_string(more) + " more");
    }
    const std::string level = level_text(every_level[context_.place]);
    return arena_.text({arena_.text(start), ", which is not supported at feature level ", level, " (supported: ", listed(choices, ", "), ")"});
  }
  // The words that a cell supports, named by `name`.
  template <class F>
  static std::vector<std::string> names(const Cell& cell, F name) {
    std::vector<std::string> words;
    for (size_t i = 0; i < cell.count; ++i) words.push_back(name(cell.words[i]));
    return words;
  }
  void row(const Tensor& tensor, const Cell& cell, const Place& place) {
    if (!tensor.given || !tensor.readable || !stated(tensor)) return;
    if (!among(tensor.type, cell.bits) && known_type(tensor.type)) {
      const auto message = [&](Noted& noted) {
        const std::vector<std::string> choices = names(cell, type_text);
        const std::string type = type_text(tensor.type);
        noted.message = not_supported({noted.where, " is ", type}, choices);
        noted.fix = arena_.text(type_fix(noted.where, type, choices, is_output(layout_.members[place.number].shape)));
      };
      note(Part::row, "type", place, message, true);
    }
    if (has_rank(cell.ranks, rank(tensor))) return;
    note(Part::row, "rank", place, [&](Noted& noted) {
      const std::string choices = ranks_text(cell.ranks);
      noted.message = not_supported({noted.where, " has rank ", arena_.number(rank(tensor))}, {choices});
      noted.fix = arena_.text({"give ", noted.where, " rank ", choices});
    }, true);
  }
  void word(const Value& value, const Cell& cell, const Place& place) {
    const Enum& words = *layout_.members[place.number].words;
    const bool named = value.is == Value::Is::word;
    const auto name = [&](uint32_t number) { return std::string(word_of(words, number)); };
    const std::vector<std::string> choices = names(cell, name);
    if (named && std::find(choices.begin(), choices.end(), value.word) != choices.end()) return;
    note(Part::row, "value", place, [&](Noted& noted) {
      const char* const quote = named ? "'" : "";
      noted.message = not_supported({noted.where, " is ", quote, named ? value.word : arena_.text(value.whole.text()), quote}, choices);
      noted.fix = arena_.text(value_fix(noted.where, choices));
    }, true);
  }
  void fuses(const Operator& fused, const Cell& cell, const Place& place) {
    if (std::find(cell.words, cell.words + cell.count, fused.type) == cell.words + cell.count)
      note(Part::row, "operator", place, [&](Noted& noted) {
        const std::vector<std::string> choices = names(cell, operator_text);
        noted.message = not_supported({noted.where, " is ", operator_text(fused.type)}, choices);
        noted.fix = arena_.text(value_fix(noted.where, choices));
      }, true);
    flaws(fused, [&](Flaw flaw, const Member* member) { return this->flaw(flaw, member, fused, place), false; });
  }
  void flaw(Flaw flaw, const Member* member, const Operator& fused, Place place) {
    notes_.harmful = true;
    const std::string_view holder = place.text(arena_), name = member == nullptr ? "" : member->name;
    if (member != nullptr) place.member = member->name;
    note(Part::row, "operator", place, [&](Noted& noted) {
      switch (flaw) {
        case Flaw::no_description: noted.message = arena_.text({holder, " has no description"}); break;
        case Flaw::tensor:
          noted.message = arena_.text({holder, " states ", name, ", but a fused operator has no separate tensors"});
          noted.fix = arena_.text({"leave out ", noted.where});
          break;
        case Flaw::missing:
          noted.message = arena_.text({holder, " does not state ", name, ", which ", operator_text(fused.type), " requires"});
          noted.fix = arena_.text({"state ", noted.where});
          break;
        case Flaw::too_many: noted.message = arena_.text({holder, " has too many elements in ", name}); break;
        case Flaw::no_truth: noted.message = arena_.text({holder, " states ", name, ", which is neither 0 nor 1"}); break;
      }
    });
  }

  // Rules for all tensors are evaluated separately.
  void tensor(const Value& value, const Place& place, uint32_t lacking) {
    const Tensor& tensor = *value.tensor;
    if (!tensor.given || !tensor.readable || !stated(tensor)) return;
    if (among(tensor.type, lacking)) {
      const std::string_view where = place.text(arena_);
      Noted noted{Part::tensor, "tensor/device-capability", arena_.text({where, ".DataType"}), ""};
      if (has_text)
        noted.message = arena_.text({where, " is ", type_text(tensor.type), ", which requires a device with ",
                                    needs_of(tensor.type, context_.place), "; this device lacks it"});
      notes_.lacked.push_back(noted);
    }
    Context alone{context_.layout, context_.place};
    alone.tensor = &value;
    rules(of(rules_of_tensors), alone, &place);
  }
  // place: the tensor of the rules.
  void rules(const Span<Rule>& rules, const Context& context, const Place* place) {
    uint64_t failed = 0;
    for (const Rule& rule : rules) {
      if ((rule.where & now_) == 0 || (place == nullptr && (notes_.lost & rule.reads) != 0)) continue;
      const Side side = place != nullptr && is_output(layout_.members[place->number].shape) ? Side::output : Side::input;
      if (rule.side != Side::all && rule.side != side) continue;
      Evaluator evaluator(memory_, context);
      if (evaluator.lacks(rule.require) || evaluator.lacks(rule.when)) continue;
      const uint64_t bit = uint64_t(1) << rule.number;
      if (place == nullptr && (rule.after & notes_.hidden) != 0) notes_.hidden |= bit;
      const bool repeats = (rule.after & failed) != 0;
      if (repeats && !rule.crashes) continue;
      const Value answer = evaluator.judged(rule);
      notes_.undecided = notes_.undecided || answer.open();
      if (answer.true_() || answer.open()) continue;
      notes_.harmful = notes_.harmful || rule.crashes;
      if (repeats) continue;
      failed |= bit;
      Noted noted{place == nullptr ? Part::rule : Part::tensor, rule.id, "", rule.sentence};
      noted.rule = &rule;
      noted.undefined = answer.none();
      if (place != nullptr) {
        noted.where = place->text(arena_);
        noted.field = place->number;
        noted.index = place->index;
        if (rule.hides_rank && !noted.undefined) notes_.hidden_ranks |= uint64_t(1) << place->number;
      } else if (!noted.undefined) {
        noted.where = decisive_field(rule);
      }
      if (place == nullptr && (notes_.hidden & bit) != 0) continue;
      (noted.undefined ? notes_.broken : notes_.violations).push_back(noted);
    }
  }

  // The field to report: one that is compared directly, else the first deciding one.
  std::string_view decisive_field(const Rule& rule) {
    std::vector<std::string_view> fields;
    named(rule.require.tree, fields);
    const auto values = Explainer(memory_, context_).values(rule.require.tree);
    const std::string text = Spelling::of(rule.require.tree);
    std::string_view best[3];
    size_t at[3] = {0, 0, 0};
    for (const std::string_view field : fields) {
      bool alone = false, within = false;
      for (const auto& value : values) {
        alone = alone || value.first == field;
        within = within || value.first.find(field) != std::string::npos;
      }
      const size_t position = text.find(field) + 1;  // 0 for a part with a short name
      for (int rank = alone ? 0 : within ? 1 : 2; rank < 3; ++rank)
        if (best[rank].empty() || position < at[rank] || (position == at[rank] && field < best[rank]))
          best[rank] = field, at[rank] = position;
    }
    return !best[0].empty() ? best[0] : !best[1].empty() ? best[1] : best[2];
  }
  void named(const Node* node, std::vector<std::string_view>& fields) {
    if (node->kind == Kind::name) {
      if (const Node* meaning = context_.define(node->text)) return named(meaning, fields);
      if (context_.field(node->text) != nullptr) fields.push_back(node->text);
    }
    for (const Node* part : node->parts) named(part, fields);
  }
};
