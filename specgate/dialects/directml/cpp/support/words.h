// A rule's deciding parts as prose: "dimension -1 is 3 in A and 4 in B" instead of the expressions.

inline size_t columns(std::string_view text) {
  size_t found = 0;
  for (const char c : text) found += (c & 0xC0) != 0x80;
  return found;
}
inline std::string_view cut(Arena& arena, std::string_view text, size_t limit) {
  if (columns(text) <= limit) return text;
  return arena.text({text.substr(0, limit - 1), "\xE2\x80\xA6"});  // numbers and words with one byte per character
}

using Texts = std::vector<std::string_view>;
// Joins texts with a separator.
inline std::string_view listed(Arena& arena, const Texts& parts, std::string_view between, std::string_view last) {
  if (parts.size() == 1) return parts[0];
  Texts every;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) every.push_back(i + 1 == parts.size() ? last : between);
    every.push_back(parts[i]);
  }
  return arena.text(every.data(), every.size());
}
inline std::string_view listed(Arena& arena, const Texts& parts) { return listed(arena, parts, ", ", " and "); }

// A value as in messages.
inline std::string_view told(Arena& arena, const Value& value);
inline std::string_view shown(Arena& arena, const Value& value) {
  switch (value.is) {
    case Value::Is::truth: return value.flag ? "True" : "False";
    case Value::Is::real: return arena.text(real_text(value.real));
    case Value::Is::word: return arena.text({"'", value.word, "'"});
    case Value::Is::whole: {
      if (value.whole.is_small()) return arena.number(value.whole.value());
      const std::string text = value.whole.text();
      const size_t digits = text.size() - (text[0] == '-' ? 1 : 0);
      if (digits <= 40) return arena.text(text);
      return arena.text({"an integer of ", arena.number(value.whole.bits()), " bits"});
    }
    case Value::Is::pair: {
      const char* first = value.flag ? "{'Width': " : "{'Scale': ";
      const char* second = value.flag ? ", 'Height': " : ", 'Bias': ";
      const std::string_view one = shown(arena, (*value.parts)[0]), other = shown(arena, (*value.parts)[1]);
      return cut(arena, arena.text({first, one, second, other, "}"}), 60);
    }
    case Value::Is::held: {
      const Layout* layout = layout_of(value.held.type);
      return layout == nullptr ? arena.number(value.held.type) : layout->name;
    }
    default: return "unknown";
  }
}
inline std::string_view told(Arena& arena, const Value& value) {
  if (value.is == Value::Is::word) return value.word;
  if (!value.sequence()) return shown(arena, value);
  constexpr int64_t most_items = 16;
  Texts parts;
  parts.push_back("[");
  for (int64_t i = 0; i < value.length() && i < most_items; ++i) {
    if (i > 0) parts.push_back(", ");
    parts.push_back(told(arena, value.item(i)));
  }
  parts.push_back(value.length() > most_items ? ", \xE2\x80\xA6]" : "]");
  return arena.text(parts.data(), parts.size());
}

// A value. kind: its words; of: the field; at: the dimension.
struct Fact {
  enum class Says : uint8_t { is, rank, type, given, empty, sizes, elements, count, tensors, size } says;
  std::string_view of, value, at = {};

  bool operator==(const Fact& other) const {
    return says == other.says && of == other.of && value == other.value && at == other.at;
  }
};
using Facts = std::vector<Fact>;

// Adds an item that is not there yet.
template <class T>
inline void add(std::vector<T>& several, const T& one) {
  if (std::find(several.begin(), several.end(), one) == several.end()) several.push_back(one);
}
inline void add(Facts& facts, const Facts& more) {
  for (const Fact& one : more) add(facts, one);
}

class Sentences {
 public:
  explicit Sentences(Arena& arena) : arena_(arena) {}

  // Facts as prose; equal facts on several fields become one.
  Texts of(const Facts& facts) const {
    std::vector<Group> groups;
    for (const Fact& fact : facts) {
      Group* found = nullptr;
      for (Group& one : groups)
        if (one.fact.says == fact.says && one.fact.at == fact.at && one.fact.value == fact.value) found = &one;
      if (found == nullptr) groups.push_back(Group{fact, Texts()}), found = &groups.back();
      found->owners.push_back(fact.of);
    }
    Texts said;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].fact.says != Fact::Says::size) said.push_back(sentence(groups[i]));
      else if (first_of_dimension(groups, i)) said.push_back(sizes_at(groups, i));
    }
    return said;
  }

  // Joins sentences; those beyond 200 characters are only counted.
  std::string_view joined(const Texts& parts) const {
    Texts kept, every;
    for (const std::string_view part : parts) add(every, part);
    size_t length = 0;
    for (const std::string_view part : every) {
      if (!kept.empty() && length + columns(part) > 200) break;
      length += columns(part);
      kept.push_back(part);
    }
    if (kept.size() < every.size()) kept.push_back(arena_.text({arena_.number(int64_t(every.size() - kept.size())), " more"}));
    bool expected = false;
    for (const std::string_view part : kept) expected = expected || part.find(", expected") != part.npos;
    return expected ? listed(arena_, kept, "; ", "; ") : listed(arena_, kept);
  }

 private:
  struct Group {
    Fact fact;
    Texts owners;
  };
  Arena& arena_;

  static bool first_of_dimension(const std::vector<Group>& groups, size_t at) {
    for (size_t i = 0; i < at; ++i)
      if (groups[i].fact.says == Fact::Says::size && groups[i].fact.at == groups[at].fact.at) return false;
    return true;
  }
  std::string_view sizes_at(const std::vector<Group>& groups, size_t first) const {
    Texts each;
    for (size_t i = first; i < groups.size(); ++i)
      if (groups[i].fact.says == Fact::Says::size && groups[i].fact.at == groups[first].fact.at)
        each.push_back(arena_.text({groups[i].fact.value, " in ", listed(arena_, groups[i].owners)}));
    const Group& only = groups[first];
    if (each.size() > 1) return arena_.text({"dimension ", only.fact.at, " is ", listed(arena_, each)});
    return arena_.text(
        {"dimension ", only.fact.at, " of ", listed(arena_, only.owners), " is ", only.fact.value});
  }
  std::string_view sentence(const Group& group) const {
    using Says = Fact::Says;
    const std::string_view names = listed(arena_, group.owners), value = group.fact.value;
    const bool several = group.owners.size() > 1;
    const Says says = group.fact.says;
    if (value == "unknown") {
      if (says == Says::rank || says == Says::type)
        return arena_.text({says == Says::rank ? "the rank of " : "the type of ", names, " is unknown"});
      if (says == Says::sizes) return arena_.text({"the sizes of ", names, " are unknown"});
      if (says == Says::elements) return arena_.text({"the number of elements of ", names, " is unknown"});
    }
    const std::string_view plural = value == "1" ? "" : "s", has = several ? " have " : " has ";
    switch (says) {
      case Says::rank: return arena_.text({names, has, "rank ", value});
      case Says::sizes: return arena_.text({names, has, "the sizes ", value});
      case Says::elements: return arena_.text({names, has, value, " element", plural});
      case Says::count: return arena_.text({names, has, value, " value", plural});
      case Says::tensors: return arena_.text({names, has, value, " tensor", plural});
      default: return arena_.text({names, several ? " are " : " is ", value});
    }
  }
};
