// The tables as data: the structure of each operator in memory, and its rows and rules.

// Kinds of members. An array is a pointer, and another member has its count.
enum class Shape : uint8_t {
  input, output, inputs, outputs, fused, all_fused, numbers, integers, reals, scale_bias, number, integer, real,
  truth, word, scalar, size
};
constexpr bool is_tensor(Shape shape) { return shape <= Shape::outputs; }
constexpr bool is_output(Shape shape) { return shape == Shape::output || shape == Shape::outputs; }
constexpr bool is_pointer(Shape shape) { return shape <= Shape::scale_bias; }
constexpr bool is_array(Shape shape) {
  return shape == Shape::inputs || shape == Shape::outputs || (shape >= Shape::all_fused && shape <= Shape::reals);
}

// A range of items that are stored elsewhere.
template <class T>
struct Span {
  const T* data = nullptr;
  size_t count = 0;

  constexpr size_t size() const { return count; }
  const T& operator[](size_t at) const { return data[at]; }
  const T* begin() const { return data; }
  const T* end() const { return data + count; }
};
template <class T, size_t count>
constexpr Span<T> of(const T (&array)[count]) { return Span<T>{array, count}; }

// The words of an enum.
struct Word {
  uint32_t number;
  const char* word;
};
using Enum = Span<Word>;
inline const char* word_of(const Enum& words, uint32_t number) {
  for (const Word& word : words)
    if (word.number == number) return word.word;
  return nullptr;
}

template <class T>
inline const T* member_at(const void* description, size_t offset) {
  return reinterpret_cast<const T*>(static_cast<const char*>(description) + offset);
}
// by: the offset of an array's count, or of a scalar's data type.
struct Member {
  const char* name;
  Shape shape;
  bool optional;
  size_t offset, by;
  const Enum* words;

  template <class T>
  const T* at(const void* description) const { return member_at<T>(description, offset); }
  template <class T>
  T get(const void* description) const { return load(at<T>(description)); }
  template <class T>
  Array<T> array(const void* description) const {
    return detail::array(at<const T*>(description), member_at<uint32_t>(description, by));
  }
};

// Expressions of rules: the nodes of Python's syntax tree. A name is a field, a number of the level, a part with a
// name, the variable of a loop, or a word.
enum class Kind : uint8_t {
  constant, real, text, word, variable, field, limit, define, attribute, subscript, call, list, loop, all_of, any_of,
  negation, minus, sum, difference, product, quotient, modulo, compare, choice
};
enum class Link : uint8_t { equal, differs, less, at_most, more, at_least, among, not_among };

// text: the expression as in the rule. parts: for an attribute its owner, for an element the sequence and the index,
// for a loop its body, the sequence and its conditions, for a conditional the condition and both branches. name: of a
// function, attribute or loop variable, or a word. number: a constant, the position of a field, limit or attribute, or
// the number of an element type.
// words: for the result of a function, with $0 for its tensor; without $0 for a function of several numbers.
struct Node {
  Kind kind = Kind::constant;
  std::string_view text = {};
  Span<Node> parts = {};
  std::string_view name = {};
  int64_t number = 0;
  double real = 0;
  Span<Link> links = {};
  std::string_view words = {};

  const Node* part(size_t at) const { return &parts[at]; }
  bool calls(std::string_view function) const { return kind == Kind::call && name == function; }
};

// Supported words in table order, also as prose: `listed` in messages, `any` in fixes; and ranks as prose.
struct Choices {
  const uint16_t* numbers;
  uint32_t count;
  const char *listed, *any, *ranks;
};

// A row's support of a field: ranks as bits, and words as bits and in table order. where: the levels and sides to which
// it applies, see now_of().
struct Cell {
  uint64_t where;
  uint32_t field;
  uint64_t ranks;
  uint32_t bits;
  const Choices* choices;

  bool names(uint32_t number) const {
    return std::find(choices->numbers, choices->numbers + choices->count, number) != choices->numbers + choices->count;
  }
};

// A condition, and the optional parts without which it does not apply.
struct Test {
  const Node* tree = nullptr;
  Span<Node> needs = {};
};

// A row of an operator with several: the descriptions to which it applies, and its own cells.
struct Case {
  uint64_t where;
  Test when;
  uint32_t first, count;
};

// sentence, fix: the message of a violation, and its advice. after: rules that this one only repeats, as bits of their
// numbers. reads: its fields as bits. hides_rank: it makes a row's finding on the rank redundant. crashes: libraries
// crash on a violation.
enum class Side : uint8_t { all, input, output };
struct Rule {
  const char* id;
  const char* sentence;
  const char* fix;
  uint64_t where, after, reads;
  uint8_t number;
  Side side;
  bool hides_rank, crashes;
  Test require, when;
};

// Device options, one of which is required to support a type at some levels.
struct Need {
  uint32_t type, levels, capabilities;
  const char* names;
};

// since: the number of the operator's first level. levels: the levels of this header that have it, as bits. case_field:
// where a missing row is reported. accepts: none for an operator that only occurs in others.
struct Check;
struct Layout {
  const char* name;
  uint32_t since, levels;
  Span<Member> members;
  Span<Cell> cells = {};
  Span<Case> cases = {};
  Span<Rule> rules = {};
  uint32_t case_field = 0;
  bool (*accepts)(Check&, const void*) = nullptr;
};
inline const Layout* layout_of(uint32_t type);

// A cast between two types. distance: smaller for a better one. loss: what gets lost, empty if nothing.
struct Cast {
  uint16_t distance;
  const char* loss;

  bool possible() const { return distance != UINT16_MAX; }
  bool exact() const { return distance < 1 << 12; }
};
