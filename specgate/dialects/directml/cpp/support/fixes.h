// What to change where a row does not take a type, a rank or a value.

inline std::string listed(const std::vector<std::string>& parts, const char* last = " and ") {
  std::string made;
  for (size_t i = 0; i < parts.size(); ++i) made += (i == 0 ? "" : i + 1 == parts.size() ? last : ", ") + parts[i];
  return made;
}

// Types by what they hold: their first letter says it.
inline char family(std::string_view type) { return type.empty() ? '?' : char(type[0] + ('a' - 'A')); }
inline int bits_of_word(std::string_view type) {
  for (uint32_t i = 0; i < enum_TENSOR_DATA_TYPE.count; ++i)
    if (type == enum_TENSOR_DATA_TYPE.words[i].word) return int(known_bits(enum_TENSOR_DATA_TYPE.words[i].number));
  return 0;
}
// Whether every value of one type is a value of another.
inline bool lossless(std::string_view found, std::string_view other) {
  const char mine = family(found), theirs = family(other);
  const int width = bits_of_word(other) - bits_of_word(found);
  if (mine == theirs) return width >= 0;
  return width > 0 && ((mine == 'u' && theirs == 'i') || (mine != 'f' && theirs == 'f'));
}

// The type that loses nothing, else the nearest one, of several; none where none is of a kind that it can be cast to.
inline std::string nearest_type(const std::string& found, const std::vector<std::string>& types) {
  std::string best;
  int distance[3] = {3, 0, 0};
  const char mine = family(found);
  for (const std::string& type : types) {
    const char other = family(type);
    const int width = bits_of_word(type) - bits_of_word(found);
    const bool whole = mine != 'f' && other != 'f';
    const int kind = mine == other ? 0 : whole ? 1 : mine != 'f' ? 2 : 3;
    const bool exact = kind == 2 ? lossless(found, type) : width >= 0;
    const int now[3] = {kind, exact ? 0 : 1, std::abs(width)};
    if (!std::lexicographical_compare(now, now + 3, distance, distance + 3)) continue;
    best = type;
    std::copy(now, now + 3, distance);
  }
  return distance[0] < 3 ? best : "";
}

// Up to which integer a cast to floating numbers is exact, nothing where it always is.
inline std::string exact_up_to(const std::string& found, const std::string& type) {
  if (family(found) == 'f' || family(type) != 'f') return "";
  const int bits = bits_of_word(type), held = bits == 16 ? 11 : bits == 32 ? 24 : bits == 64 ? 53 : 0;
  const int needed = bits_of_word(found) - (family(found) == 'i' ? 1 : 0);
  return held > 0 && held < needed ? " (exact for integers up to 2**" + std::to_string(held) + ")" : "";
}

inline std::string one_of(const std::vector<std::string>& words) { return listed(words, " or "); }
constexpr size_t most_choices = 6;

inline std::string type_fix(std::string_view place, const std::string& found, const std::vector<std::string>& types,
                            bool output) {
  const std::string where(place);
  const std::string nearby = bits_of_word(found) == 0 ? "" : nearest_type(found, types);
  if (nearby.empty())
    return "give " + where + (types.size() > most_choices ? " one of those types" : " the type " + one_of(types));
  if (output) return "give " + where + " the type " + nearby;
  return "cast " + where + " to " + nearby + exact_up_to(found, nearby);
}
inline std::string value_fix(std::string_view place, const std::vector<std::string>& words) {
  return "set " + std::string(place) + " to " + (words.size() > most_choices ? "one of those values" : one_of(words));
}
