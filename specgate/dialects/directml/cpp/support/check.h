inline bool judge_tensor(Check& check, const Tensor& tensor, const Place& place, bool output);
inline bool judge_fused(Check& check, const Operator& fused, const Place& place);

// One question: a description, a level, the sides of the tables that count, and what was found so far. What asks returns
// whether the question is settled, so that the function of the operator can leave: it is at the first refusal where
// nothing more than the answer is wanted, and never where all findings are.
struct Check {
  uint32_t level = 0;
  bool documented = true, observed = true;
  uint32_t lacking = 0;  // the types that the device does not take, as bits
  bool broken = false, refused = false;
  const char* operator_name = "";
  const Layout* layout = nullptr;
  bool only_rows = false;  // nothing is asked but what rows take
  std::vector<const Rule*>* collected = nullptr;  // the operator's rules, which are not asked then
  Notes* notes = nullptr;          // none where only the answer is wanted
  uint64_t failed = 0, lost = 0;   // rules that do not hold, fields that cannot be read
  uint32_t excluded = 0;           // the levels that surely refuse it as well, as bits
  uint32_t implementation = 0;     // of those that have rules of their own, as a bit
  bool harmful = false;            // a library may crash; known only where all findings are wanted

  // Rules.
  SPECGATE_ALWAYS_INLINE bool asks(const Rule& rule) const {
    return (notes == nullptr && collected == nullptr) || considers(rule);
  }
  bool considers(const Rule& rule) const {
    if (only_rows || (!rule.crashes && repeats(rule)) || (lost & rule.reads) != 0) return false;
    if (collected == nullptr) return true;
    collected->push_back(&rule);
    return false;
  }
  bool repeats(const Rule& rule) const { return (failed & rule.after) != 0; }
  bool breaks(bool held) const { return !held || broken; }
  bool fails(const Rule& rule, const char* where) {
    return noted(Part::rule, rule, where, -1);
  }
  template <class F>
  auto fails(const Rule& rule, F where) -> decltype(where(), bool()) {
    if (notes == nullptr) return refused = true;
    const bool was_broken = broken;
    broken = false;
    const char* place = where();
    broken = was_broken;
    return noted(Part::rule, rule, place, -1);
  }
  bool fails(const Rule& rule, const Place& place) {
    if (notes == nullptr) return refused = true;
    if (rule.hides_rank && !broken) notes->hidden_ranks |= uint64_t(1) << place.number;
    return noted(Part::tensor, rule, text_of(notes->arena, place), place.number, place.index);
  }
  bool noted(Part part, const Rule& rule, std::string_view where, int field, int64_t index = -1);
  // Whether a condition has a value, and this one.
  template <class F>
  bool was(bool value, F f) {
    const bool before = broken;
    broken = false;
    const bool found = f();
    const bool same = !broken && found == value;
    broken = before;
    return same;
  }

  // Structure and rows: what is refused there has an id made of the field's name and an aspect.
  template <class F>
  bool refuses(Part part, const char* aspect, const Place& place, F message, bool listed = false) {
    refused = true;
    if (notes == nullptr) return true;
    if (part == Part::structure) lost |= uint64_t(1) << place.number, excluded = ~uint32_t(0);
    Arena& arena = notes->arena;
    const std::string_view id = arena.text({operator_name, "/", place.field, ".", aspect});
    Noted made{part, id, text_of(arena, place), "", place.number};
    if (has_text && !only_rows && (notes->before == nullptr || !has(*notes->before, made))) message(made);
    made.rank = std::strcmp(aspect, "rank") == 0;
    made.listed = listed;
    notes->found.push_back(made);
    return false;
  }
  std::string_view text(List<std::string_view> parts) const { return notes->arena.text(parts); }
  bool missing(const Place& place) {
    return refuses(Part::structure, "required", place, [&](Noted& made) {
      made.message = text({place.field, " is required, but it is not given"});
      made.fix = text({"give ", place.field});
    });
  }
  bool unreadable(const char* what, const Place& place) {
    harmful = true;
    return refuses(Part::structure, "unreadable", place, [&](Noted& made) { made.message = text({made.where, " ", what}); });
  }
  bool readable(const Tensor& tensor, const Place& place) {
    if (!tensor.readable) return unreadable("is no buffer tensor of at most 64 dimensions", place);
    if (tensor.type < sizeof bits_of_types && (tensor.type == 0 || bits_of_types[tensor.type] != 0)) return false;
    return refuses(Part::structure, "unknown-word", place, [&](Noted& made) {
      made.message = text({made.where, ".DataType is ", notes->arena.number(tensor.type), no_known_type});
    });
  }
  bool optional(const Tensor& tensor, const Place& place) {
    harmful = harmful || tensor.hollow;
    return tensor.given && readable(tensor, place);
  }
  bool required(const Tensor& tensor, const Place& place) {
    harmful = harmful || !tensor.given;
    return tensor.given ? optional(tensor, place) : missing(place);
  }
  bool required(const Tensors& tensors, const Place& place) {
    harmful = harmful || tensors.hollow;
    if (!tensors.given) return missing(place);
    if (tensors.count > int64_t(most_elements)) return unreadable("has too many tensors", place);
    for (int64_t i = 0; i < tensors.count; ++i) {
      const Tensor tensor = read(tensors.data + i, false);
      if (!tensor.given && unreadable("is no tensor", place.element(i))) return true;
      if (optional(tensor, place.element(i))) return true;
    }
    return false;
  }
  template <class T>
  bool required(const Numbers<T>& numbers, const Place& place) {
    return optional(numbers, place) || (!numbers.given && missing(place));
  }
  template <class T>
  bool optional(const Numbers<T>& numbers, const Place& place) {
    harmful = harmful || numbers.hollow;
    return numbers.count > int64_t(most_elements) && unreadable("has too many elements", place);
  }
  bool required(const Operator& fused, const Place& place) {
    harmful = harmful || !fused.given;
    return !fused.given && missing(place);
  }
  bool required(const Operators& fused, const Place& place) {
    harmful = harmful || fused.hollow;
    if (!fused.given) return missing(place);
    return fused.count > int64_t(most_operators) && unreadable("has too many operators", place);
  }
  bool truth(int32_t value, const Place& place) {
    return value != 0 && value != 1 &&
           refuses(Part::structure, "unreadable", place, [&](Noted& made) { made.message = text({made.where, " is neither 0 nor 1"}); });
  }
  bool is_lost(const Place& place) const { return (lost >> place.number & 1) != 0; }

  // Many of what a row takes are counted.
  std::string_view not_taken(List<std::string_view> found, std::vector<std::string> taken) const {
    constexpr size_t most = 12;
    if (taken.size() > most) {
      const size_t more = taken.size() - most + 1;
      taken.resize(most - 1);
      taken.push_back(std::to_string(more) + " more");
    }
    return text({text(found), ", which is not taken at feature level ", level_text(level), " (", listed(taken, ", "), ")"});
  }
  bool row(const Tensor& tensor, const Words& types, uint64_t ranks, const Place& place) {
    if (!tensor.given || !tensor.readable) return false;
    if (!among(tensor.type, types.bits) && (tensor.type == 0 || known_bits(tensor.type) != 0)) {
      const auto message = [&](Noted& made) {
        const std::vector<std::string> taken = names(types.order, types.count, type_text);
        const std::string found = type_text(tensor.type);
        made.message = not_taken({made.where, " is ", found}, taken);
        made.fix = text({type_fix(made.where, found, taken, is_output(layout->members[place.number].shape))});
      };
      if (refuses(Part::row, "type", place, message, true)) return true;
    }
    if ((ranks >> rank(tensor) & 1) != 0) return false;
    return refuses(Part::row, "rank", place, [&](Noted& made) {
      const std::string taken = ranks_text(ranks);
      made.message = not_taken({made.where, " has rank ", notes->arena.number(rank(tensor))}, {taken});
      made.fix = text({"give ", made.where, " rank ", taken});
    }, true);
  }
  bool row(const Tensors& tensors, const Words& types, uint64_t ranks, const Place& place) {
    if (tensors.count > int64_t(most_elements)) return false;
    for (int64_t i = 0; i < tensors.count; ++i)
      if (row(read(tensors.data + i, false), types, ranks, place.element(i))) return true;
    return false;
  }
  bool word(uint32_t value, const Words& words, const Place& place) {
    if (among(value, words.bits)) return false;
    return refuses(Part::row, "value", place, [&](Noted& made) {
      const auto name = [&](uint32_t number) -> std::string {
        const char* known = word_of(*layout->members[place.number].words, number);
        return known == nullptr ? std::to_string(number) : known;
      };
      const std::string found = name(value);
      const char* const quote = found == std::to_string(value) ? "" : "'";
      const std::vector<std::string> taken = names(words.order, words.count, name);
      made.message = not_taken({made.where, " is ", quote, found, quote}, taken);
      made.fix = text({value_fix(made.where, taken)});
    }, true);
  }
  bool no_case(const Place& place, List<Row> rows) {
    refused = true;
    if (notes == nullptr) return true;
    Noted made{Part::row_choice, text({operator_name, "/support-case"}), text_of(notes->arena, place), "", place.number};
    made.rows = notes->arena.keep(rows.begin(), rows.size());
    made.count_of_rows = rows.size();
    notes->found.push_back(made);
    return false;
  }
  bool fuses(const Operator& fused, List<uint32_t> types, const Place& place) {
    if (!fused.given) return false;
    for (uint32_t type : types)
      if (type == fused.type) return judge_fused(*this, fused, place);
    const bool settled = refuses(Part::row, "operator", place, [&](Noted& made) {
      const std::vector<std::string> taken = names(types.begin(), types.size(), operator_text);
      made.message = not_taken({made.where, " is ", operator_text(fused.type)}, taken);
      made.fix = text({value_fix(made.where, taken)});
    }, true);
    return settled || judge_fused(*this, fused, place);
  }
  bool fuses(const Operators& fused, List<uint32_t> types, const Place& place) {
    if (fused.count > int64_t(most_operators)) return false;
    for (int64_t i = 0; i < fused.count; ++i)
      if (fuses(operator_at(fused.data + i), types, place.element(i))) return true;
    return false;
  }
  // message: what follows the name of the field. change: what to do with the place.
  bool flaw(const char* message, const char* change, const Place& place) {
    harmful = true;
    return refuses(Part::row, "operator", place, [&](Noted& made) {
      made.message = text({text_of(notes->arena, Place{place.field, place.number, place.index}), " ", message});
      if (*change != 0) made.fix = text({change, " ", made.where});
    });
  }

  // What every tensor obeys; its rules count for themselves.
  bool obeys(const Tensor& tensor, const Place& place, bool output) {
    if (!tensor.given || !tensor.readable || only_rows) return false;
    if (among(tensor.type, lacking)) {
      refused = true;
      if (notes == nullptr) return true;
      const std::string_view where = text_of(notes->arena, place);
      Noted made{Part::tensor, "tensor/device-capability", text({where, ".DataType"}), ""};
      if (has_text)
        made.message = text({where, " is ", type_text(tensor.type), ", which needs a device that reports ",
                             needs_of(tensor.type, level), "; this one does not"});
      notes->lacked.push_back(made);
    }
    const uint64_t outer = failed;
    auto* const rules = collected;
    failed = 0;
    collected = nullptr;
    const bool settled = judge_tensor(*this, tensor, place, output);
    failed = outer;
    collected = rules;
    return settled;
  }
  bool obeys(const Tensors& tensors, const Place& place, bool output) {
    if (tensors.count > int64_t(most_elements)) return false;
    for (int64_t i = 0; i < tensors.count; ++i)
      if (obeys(read(tensors.data + i, true), place.element(i), output)) return true;
    return false;
  }
};

inline void mark_broken(Check& check) { check.broken = true; }

// A rule without a value is the cause only where nothing else is: it is set aside.
inline bool Check::noted(Part part, const Rule& rule, std::string_view where, int field, int64_t index) {
  refused = true;
  if (notes == nullptr) return true;
  harmful = harmful || rule.crashes;
  if (repeats(rule)) return broken = false;
  failed |= rule.bit;
  excluded |= (documented ? rule.documented : 0) | (observed ? rule.observed : 0);
  const bool undefined = broken;
  broken = false;
  Noted made{part, rule.id, undefined && part == Part::rule ? "" : where, rule.sentence, field};
  made.index = index;
  made.undefined = undefined;
  made.rule = &rule;
  (undefined ? notes->broken : notes->found).push_back(made);
  return false;
}

// Which of a rule's fields a finding points at: bits in the order of the rule's text, of those that are compared
// themselves in the upper half, of all that are named in the lower.
constexpr uint64_t named(uint32_t alone, uint32_t within) { return uint64_t(alone) << 32 | within; }
inline const char* first_of(List<const char*> names, uint64_t blamed) {
  uint32_t bits = uint32_t(blamed >> 32) != 0 ? uint32_t(blamed >> 32) : uint32_t(blamed);
  for (const char* name : names) {
    if ((bits & 1) != 0 || bits == 0) return name;
    bits >>= 1;
  }
  return "";
}
// What the first turn that counts says.
template <class S, class F, class G>
inline uint64_t turn_of(const S& sequence, F counts, G blamed) {
  uint64_t found = 0;
  some(sequence, [&](const auto& item) { return counts(item) && (found = blamed(item), true); });
  return found;
}
