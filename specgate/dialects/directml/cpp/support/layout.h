// How the structure of each operator lies in memory, member by member, as data: for what goes through all of them.

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

// A short name for part of a rule.
struct Define {
  const char* name;
  const char* text;
};

// since: the number of the first level that has the operator.
struct Layout {
  const char* name;
  uint32_t since;
  size_t size;
  const Member* members;
  uint32_t count;
  const Define* defines;
  uint32_t define_count;
};

constexpr bool is_tensor(Shape shape) { return shape <= Shape::outputs; }
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
  Wide whole;
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
    case f32: return {true, Wide(int64_t(0)), double(as(float()))};
    case f16: return {true, Wide(int64_t(0)), half(as(uint16_t()))};
    case f64: return {true, Wide(int64_t(0)), as(double())};
    default: return {false, scalar(at, type), 0};
  }
}
