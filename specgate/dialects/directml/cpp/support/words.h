// What decides a rule, in words: "dimension -1 is 3 in A and 4 in B" instead of the expressions.

inline size_t columns(const std::string& text) {
  size_t found = 0;
  for (const char c : text) found += (c & 0xC0) != 0x80;
  return found;
}
inline std::string cut(std::string text, size_t limit) {
  if (columns(text) <= limit) return text;
  text.resize(limit - 1);  // numbers and words of one byte a character
  return text + "\xE2\x80\xA6";
}

// A value as messages show it.
inline std::string told(const Value& value);
inline std::string shown(const Value& value) {
  switch (value.is) {
    case Value::Is::truth: return value.flag ? "True" : "False";
    case Value::Is::real: return real_text(value.real);
    case Value::Is::word: return "'" + std::string(value.word) + "'";
    case Value::Is::whole: {
      const std::string text = value.whole.text();
      const size_t digits = text.size() - (text[0] == '-' ? 1 : 0);
      return digits > 40 ? "an integer of " + std::to_string(value.whole.bits()) + " bits" : text;
    }
    case Value::Is::pair: {
      const char* first = value.flag ? "{'Width': " : "{'Scale': ";
      const char* second = value.flag ? ", 'Height': " : ", 'Bias': ";
      return cut(first + shown(value.items[0]) + second + shown(value.items[1]) + "}", 60);
    }
    case Value::Is::held: {
      const Layout* layout = layout_of(value.held.type);
      return layout == nullptr ? std::to_string(value.held.type) : layout->name;
    }
    default: return "unknown";
  }
}
inline std::string told(const Value& value) {
  if (value.is == Value::Is::word) return std::string(value.word);
  if (!value.sequence()) return shown(value);
  constexpr int64_t most_items = 16;
  std::string made;
  for (int64_t i = 0; i < value.length() && i < most_items; ++i) made += (i == 0 ? "" : ", ") + told(value.item(i));
  return "[" + made + (value.length() > most_items ? ", \xE2\x80\xA6]" : "]");
}

// One value. kind: the words to use; of: the field; at: which dimension.
struct Fact {
  enum class Says : uint8_t { is, rank, type, given, empty, sizes, elements, count, tensors, size } says;
  std::string of, value, at = {};

  bool operator==(const Fact& other) const {
    return says == other.says && of == other.of && value == other.value && at == other.at;
  }
};
using Facts = std::vector<Fact>;

inline void add(Facts& facts, const Facts& more) {
  for (const Fact& one : more)
    if (std::find(facts.begin(), facts.end(), one) == facts.end()) facts.push_back(one);
}

class Sentences {
 public:
  // Facts in words; those that say the same of several fields in one.
  static std::vector<std::string> of(const Facts& facts) {
    std::vector<Group> groups;
    for (const Fact& fact : facts) {
      Group* found = nullptr;
      for (Group& one : groups)
        if (one.fact.says == fact.says && one.fact.at == fact.at && one.fact.value == fact.value) found = &one;
      if (found == nullptr) groups.push_back(Group{fact, {}}), found = &groups.back();
      found->owners.push_back(fact.of);
    }
    std::vector<std::string> said;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].fact.says != Fact::Says::size) said.push_back(sentence(groups[i]));
      else if (first_of_dimension(groups, i)) said.push_back(sizes_at(groups, i));
    }
    return said;
  }

  // Sentences in one; what makes it longer than 200 characters is counted.
  static std::string joined(const std::vector<std::string>& parts) {
    std::vector<std::string> kept, every;
    for (const std::string& part : parts)
      if (std::find(every.begin(), every.end(), part) == every.end()) every.push_back(part);
    size_t length = 0;
    for (const std::string& part : every) {
      if (!kept.empty() && length + columns(part) > 200) break;
      length += columns(part);
      kept.push_back(part);
    }
    if (kept.size() < every.size()) kept.push_back(std::to_string(every.size() - kept.size()) + " more");
    bool expected = false;
    for (const std::string& part : kept) expected = expected || part.find(", expected") != std::string::npos;
    if (!expected) return listed(kept);
    std::string made;
    for (const std::string& part : kept) made += (made.empty() ? "" : "; ") + part;
    return made;
  }

 private:
  struct Group {
    Fact fact;
    std::vector<std::string> owners;
  };

  static bool first_of_dimension(const std::vector<Group>& groups, size_t at) {
    for (size_t i = 0; i < at; ++i)
      if (groups[i].fact.says == Fact::Says::size && groups[i].fact.at == groups[at].fact.at) return false;
    return true;
  }
  static std::string sizes_at(const std::vector<Group>& groups, size_t first) {
    std::vector<std::string> each;
    for (size_t i = first; i < groups.size(); ++i)
      if (groups[i].fact.says == Fact::Says::size && groups[i].fact.at == groups[first].fact.at)
        each.push_back(groups[i].fact.value + " in " + listed(groups[i].owners));
    const Group& only = groups[first];
    if (each.size() == 1) return "dimension " + only.fact.at + " of " + listed(only.owners) + " is " + only.fact.value;
    return "dimension " + only.fact.at + " is " + listed(each);
  }
  static std::string sentence(const Group& group) {
    using Says = Fact::Says;
    const std::string names = listed(group.owners), &value = group.fact.value;
    const bool several = group.owners.size() > 1;
    const Says says = group.fact.says;
    if (value == "unknown") {
      if (says == Says::rank || says == Says::type)
        return std::string(says == Says::rank ? "the rank of " : "the type of ") + names + " is unknown";
      if (says == Says::sizes) return "the sizes of " + names + " are unknown";
      if (says == Says::elements) return "the number of elements of " + names + " is unknown";
    }
    const std::string plural = value == "1" ? "" : "s", has = several ? " have " : " has ";
    switch (says) {
      case Says::rank: return names + has + "rank " + value;
      case Says::sizes: return names + has + "the sizes " + value;
      case Says::elements: return names + has + value + " element" + plural;
      case Says::count: return names + has + value + " value" + plural;
      case Says::tensors: return names + has + value + " tensor" + plural;
      default: return names + (several ? " are " : " is ") + value;
    }
  }
};
