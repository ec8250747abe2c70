// Fixes for a type, rank or value that a row does not support.

inline std::string listed(const std::vector<std::string>& parts, const char* last = " and ") {
  std::string made;
  for (size_t i = 0; i < parts.size(); ++i) made += (i == 0 ? "" : i + 1 == parts.size() ? last : ", ") + parts[i];
  return made;
}

// Groups of types by the first letter.
inline char family(std::string_view type) { return type.empty() ? '?' : char(type[0] + ('a' - 'A')); }
inline int bits_of_word(std::string_view type) {
  for (uint32_t i = 0; i < enum_TENSOR_DATA_TYPE.count; ++i)
    if (type == enum_TENSOR_DATA_TYPE.words[i].word) return int(known_bits(enum_TENSOR_DATA_TYPE.words[i].number));
  return 0;
}
// Bits of the significand and the greatest exponent of a floating-point type, as in IEEE 754.
inline int significand(std::string_view type) {
  const int bits = bits_of_word(type);
  return bits == 16 ? 11 : bits == 32 ? 24 : bits == 64 ? 53 : 0;
}
inline int greatest_exponent(std::string_view type) {
  const int bits = bits_of_word(type);
  return bits == 16 ? 15 : bits == 32 ? 127 : bits == 64 ? 1023 : 0;
}
// The number of bits of a type's greatest integer.
inline int magnitude(std::string_view type) { return bits_of_word(type) - (family(type) == 'i' ? 1 : 0); }

// Whether a type contains every value of another.
inline bool lossless(std::string_view found, std::string_view other) {
  const char mine = family(found), theirs = family(other);
  const int width = bits_of_word(other) - bits_of_word(found);
  if (mine == theirs) return width >= 0;
  if (mine != 'f' && theirs == 'f')
    return significand(other) >= magnitude(found) && greatest_exponent(other) >= magnitude(found);
  return mine == 'u' && theirs == 'i' && width > 0;
}

// The type of a cast without loss, else the nearest one; none if no type can represent the values.
inline std::string nearest_type(const std::string& found, const std::vector<std::string>& types) {
  std::string best;
  int distance[4] = {2, 0, 0, 0};
  const char mine = family(found);
  for (const std::string& type : types) {
    const char other = family(type);
    const int width = bits_of_word(type) - bits_of_word(found);
    const bool whole = mine != 'f' && other != 'f';
    const int kind = mine == other ? 0 : whole ? 1 : mine != 'f' ? 2 : 3;
    const bool exact = lossless(found, type);
    const int now[4] = {exact ? 0 : 1, kind, exact || (kind < 2 && width >= 0) ? 0 : 1, std::abs(width)};
    if (!std::lexicographical_compare(now, now + 4, distance, distance + 4)) continue;
    best = type;
    std::copy(now, now + 4, distance);
  }
  return distance[1] < 3 ? best : "";
}

// The loss of a cast, empty if there is none.
inline std::string lost(std::string_view found, std::string_view type) {
  if (found == type || lossless(found, type)) return "";
  const char mine = family(found), theirs = family(type);
  const auto power = [](int exponent) { return "2**" + std::to_string(exponent); };
  if (mine != 'f' && theirs == 'f')
    return significand(type) < magnitude(found) ? "exact for integers up to " + power(significand(type)) : "";
  if (mine != 'f' && theirs != 'f') {
    const int bits = bits_of_word(type);
    return theirs == 'i' ? "exact from -" + power(bits - 1) + " to " + power(bits - 1) + " - 1"
                         : "exact from 0 to " + power(bits) + " - 1";
  }
  if (mine != 'f' || theirs != 'f') return "";
  return std::to_string(significand(type)) + " of " + std::to_string(significand(found)) +
         " significant bits are kept, numbers from " + power(greatest_exponent(type) + 1) + " on overflow";
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
  const std::string loss = lost(found, nearby);
  return "cast " + where + " to " + nearby + (loss.empty() ? "" : " (" + loss + ")");
}
inline std::string value_fix(std::string_view place, const std::vector<std::string>& words) {
  return "set " + std::string(place) + " to " + (words.size() > most_choices ? "one of those values" : one_of(words));
}
