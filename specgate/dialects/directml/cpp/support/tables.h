// The tables as data: the structure of each operator in memory, and its rows and rules.

// Kinds of members. An array is a pointer, and another member has its count.
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

// by: the offset of an array's count, or of a scalar's data type.
struct Member {
  const char* name;
  Shape shape;
  bool optional;
  size_t offset, by;
  const Enum* words;
};

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

// Expressions of rules: the nodes of Python's syntax tree.
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

// Consecutive parts of an expression.
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

// text: a name, a word, the digits of a number, or the name of an attribute. parts: for an attribute its owner, for an
// element the sequence and the index, for a loop its body, the sequence and its conditions, for a conditional the
// condition and both branches.
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

// A name for a part of a rule.
struct Define {
  const char* name;
  const Node* meaning;
};

// A row's support of a field: ranks as bits, and words as bits and in table order. where: the levels and sides to which
// it applies, see now_of().
struct Cell {
  uint64_t where;
  uint32_t field;
  uint64_t ranks;
  uint32_t bits;
  const uint16_t* words;
  uint32_t count;
};

// A condition, and the optional parts without which it does not apply.
struct Test {
  const Node* tree = nullptr;
  Nodes needs = {};
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
// Whether the type points to something other than a tensor.
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

// The number in a scalar union: an integer or a floating-point number.
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
