// A rule of the tables: its id, its sentence, its bit among the rules of its function, the bits of those that it would
// only repeat, the bits of the fields that it reads, and the levels that refuse what breaks it, by the page and by builds.
// hides_rank: it says of a rank all that a row would. crashes: libraries do where it does not hold. require, when, fix:
// what it asks, under which condition, and what to change, where the table says so.
struct Rule {
  const char* id;
  const char* sentence;
  uint64_t bit, after, reads;
  uint32_t documented, observed;
  bool hides_rank, crashes;
  const char* require = nullptr;
  const char* when = nullptr;
  const char* fix = nullptr;
};

// A row of an operator that has several at a level: for which descriptions, and whether the level has it.
struct Row {
  const char* when;
  bool here;
};

// A field, or an element of one that is an array, or a member of what a field holds.
struct Place {
  const char* field;
  int number;
  int64_t index = -1;
  const char* member = nullptr;

  Place element(int64_t at) const { return Place{field, number, at, nullptr}; }
  Place with(const char* name) const { return Place{field, number, index, name}; }
  std::string text() const {
    std::string made = field;
    if (index >= 0) made += "[" + std::to_string(index) + "]";
    if (member != nullptr) made += std::string(".") + member;
    return made;
  }
};

// What one side of the tables refuses, in the order in which findings are told.
enum class Part { structure, row, tensor, rule, row_choice };
// index: which element of an array. listed: levels differ in what they take here. undefined: a rule without a value.
struct Noted {
  Part part;
  std::string_view id, where, message;
  int field = -1;
  bool rank = false;
  int64_t index = -1;
  bool listed = false, undefined = false;
  std::string_view fix = {};
  const Rule* rule = nullptr;
  const Row* rows = nullptr;
  size_t count_of_rows = 0;
};
// before: what the other side refuses, which is not said again.
struct Notes {
  explicit Notes(Arena& memory) : arena(memory) {}

  Arena& arena;
  std::vector<Noted> found, broken, lacked;
  uint64_t hidden_ranks = 0;
  const std::vector<Noted>* before = nullptr;
};
inline bool has(const std::vector<Noted>& several, const Noted& wanted) {
  for (const Noted& one : several)
    if (one.id == wanted.id && one.where == wanted.where) return true;
  return false;
}
inline std::string_view text_of(Arena& arena, const Place& place) {
  return place.index < 0 && place.member == nullptr ? place.field : arena.text(place.text());
}

// The ranks that a row takes, as bits.
constexpr uint64_t any_rank = ~uint64_t(0);
inline constexpr Words any_word = {~uint32_t(0), 0, nullptr};
constexpr uint64_t ranks(int low, int high) {
  uint64_t found = 0;
  for (int rank = low; rank <= high; ++rank) found |= uint64_t(1) << rank;
  return found;
}
template <int... numbers>
constexpr uint64_t ranks_of = ((uint64_t(1) << numbers) | ...);

inline std::string level_text(uint32_t level) {
  return std::to_string(level >> 12) + "." + std::to_string(level >> 8 & 15);
}
inline std::string type_text(uint32_t type) {
  const bool known = type < sizeof names_of_types / sizeof *names_of_types && names_of_types[type] != nullptr;
  return known ? names_of_types[type] : std::to_string(type);
}
// Ranks, which follow one another.
inline std::string ranks_text(uint64_t bits) {
  uint32_t low = 0, high = 63;
  while (low < 63 && (bits >> low & 1) == 0) ++low;
  while (high > low && (bits >> high & 1) == 0) --high;
  return low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
}
// What a row takes, by the names that `name` gives.
template <class T, class F>
inline std::vector<std::string> names(const T* numbers, size_t count, F name) {
  std::vector<std::string> made;
  for (size_t i = 0; i < count; ++i) made.push_back(name(numbers[i]));
  return made;
}

inline std::string operator_text(uint32_t type) {
  const Layout* layout = layout_of(type);
  return layout == nullptr ? std::to_string(type) : layout->name;
}
