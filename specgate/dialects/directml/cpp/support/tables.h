// The tables as data: how the structure of each operator lies in memory, and what its rows and rules say.

// What a member is. Arrays lie behind a pointer, and another member counts them.
enum class Shape : uint8_t {
  input,
  output,
  inputs,
  outputs,
  number,
  numbers,
  integer,
  integers,
  real,
  reals,
  truth,
  word,
  scalar,
  scale_bias,
  size,
  held,
  helds
};

struct Named {
  uint32_t number;
  const char* word;
};

inline bool spells(const char* word, std::string_view name) {
  return std::strncmp(word, name.data(), name.size()) == 0 && word[name.size()] == 0;
}

// The words of an enum.
struct Enum {
  const Named* words;
  uint32_t count;
};
inline const char* word_of(const Enum& words, uint32_t number) {
  for (uint32_t i = 0; i < words.count; ++i)
    if (words.words[i].number == number) return words.words[i].word;
  return nullptr;
}

// by: where the count of an array lies, or the data type of a scalar.
struct Member {
  const char* name;
  Shape shape;
  bool optional;
  size_t offset, by;
  const Enum* words;
};

// Several things one after another, which lie elsewhere.
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

// Expressions of rules, as Python parses them: the parts of its syntax.
enum class Kind : uint8_t {
  constant,
  real,
  text,
  name,
  attribute,
  subscript,
  call,
  list,
  loop,
  all_of,
  any_of,
  negation,
  minus,
  sum,
  difference,
  product,
  quotient,
  modulo,
  compare,
  choice
};
enum class Link : uint8_t { equal, differs, less, at_most, more, at_least, among, not_among };

// Parts of an expression, one after another.
struct Node;
struct Nodes {
  struct Iterator {
    const Node* at;
    const Node* operator*() const { return at; }
    Iterator& operator++();
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  const Node* data = nullptr;
  size_t count = 0;

  size_t size() const { return count; }
  const Node* operator[](size_t at) const;
  Iterator begin() const { return Iterator{data}; }
  Iterator end() const;
};

// text: a name, a word, the digits of a number, or what stands behind a dot. parts: of an attribute its owner, of an
// element the sequence and the index, of a loop what each turn gives, the sequence, and its conditions; of a choice the
// condition and both ways.
struct Node {
  Kind kind = Kind::constant;
  std::string_view text = {};
  Nodes parts = {};
  Span<Link> links = {};
  int64_t number = 0;
  double real = 0;
  bool bracketed = false;  // a list in square brackets
};
inline Nodes::Iterator& Nodes::Iterator::operator++() { return ++at, *this; }
inline const Node* Nodes::operator[](size_t index) const { return data + index; }
inline Nodes::Iterator Nodes::end() const { return Iterator{data + count}; }

// A short name for part of a rule.
struct Define {
  const char* name;
  const Node* meaning;
};

// What a row supports in a field: ranks as bits, and words as bits and in the table's order. where: the levels and sides
// that it holds for, see now_of().
struct Cell {
  uint64_t where;
  uint32_t field;
  uint64_t ranks;
  uint32_t bits;
  const uint16_t* words;
  uint32_t count;
};

// A condition, and the parts that may be left out without which it does not apply.
struct Test {
  const Node* tree = nullptr;
  Nodes needs = {};
};

// A row of an operator that has several: for which descriptions, and which of the operator's cells are its own.
struct Case {
  uint64_t where;
  Test when;
  uint32_t first, count;
};

// sentence, fix: what to say where it does not hold, and what to change. after: rules that it would only repeat, as bits
// of their numbers. reads: its fields as bits. hides_rank: it says of a rank all that a row would. crashes: libraries do
// where it does not hold.
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

// What a device must report, one of them, to take a type at some levels.
struct Need {
  uint32_t type, levels, capabilities;
  const char* names;
};

// since: the number of the first level that has the operator. levels: those of this header that do, as bits. case_field:
// where a missing row is reported. accepts: none for an operator that only occurs in others.
struct Check;
struct Layout {
  const char* name;
  uint32_t since, levels;
  Span<Member> members;
  Span<Define> defines = {};
  Span<Cell> cells = {};
  Span<Case> cases = {};
  Span<Rule> rules = {};
  uint32_t case_field = 0;
  bool (*accepts)(Check&, const void*) = nullptr;
};
inline const Layout* layout_of(uint32_t type);

constexpr bool is_tensor(Shape shape) { return shape <= Shape::outputs; }
constexpr bool is_array(Shape shape) {
  return shape == Shape::inputs || shape == Shape::outputs || shape == Shape::numbers || shape == Shape::integers ||
         shape == Shape::reals || shape == Shape::helds;
}
// Whether something other than a tensor is pointed to.
constexpr bool is_pointer(Shape shape) {
  return (is_array(shape) && !is_tensor(shape)) || shape == Shape::scale_bias || shape == Shape::held;
}
constexpr bool is_output(Shape shape) { return shape == Shape::output || shape == Shape::outputs; }

template <class T>
inline const T* member_at(const void* description, size_t offset) {
  return reinterpret_cast<const T*>(static_cast<const char*>(description) + offset);
}
inline Tensor tensor_of(const void* description, const Member& member) {
  return tensor(member_at<const abi::TensorDesc*>(description, member.offset));
}
inline Tensors tensors_of(const void* description, const Member& member) {
  return tensors(member_at<const abi::TensorDesc*>(description, member.offset),
                 member_at<uint32_t>(description, member.by));
}
template <class T>
inline Numbers<T> numbers_of(const void* description, const Member& member) {
  return numbers(member_at<const T*>(description, member.offset), member_at<uint32_t>(description, member.by));
}
inline uint32_t number_of(const void* description, const Member& member) {
  return load(member_at<uint32_t>(description, member.offset));
}

// A number of a scalar union: a whole one, or a floating one.
struct Scalar {
  bool floating;
  Whole whole;
  double real;
};
inline double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1, fraction = bits & 1023;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}
inline Scalar scalar_of(const void* description, const Member& member) {
  const auto* at = member_at<abi::ScalarUnion>(description, member.offset);
  const uint32_t type = load(member_at<uint32_t>(description, member.by));
  const auto as = [&](auto number) { return load(reinterpret_cast<const decltype(number)*>(at)); };
  switch (type) {
    case f32: return {true, {}, double(as(float()))};
    case f16: return {true, {}, half(as(uint16_t()))};
    case f64: return {true, {}, as(double())};
    default: return {false, scalar(at, type, [](auto number) { return Whole::of(number); }), 0};
  }
}
