// Functions of compiled rules. A part without a value (an index out of range, a division by zero) marks the check as
// broken, and its result is ignored. A number that is too large leaves the answer open.

struct Check;
inline void mark_broken(Check& check);
inline void mark_unsure(Check& check);

inline bool among(uint32_t number, uint32_t bits) { return number < 32 && (bits >> number & 1) != 0; }

inline bool has_rank(uint64_t ranks, int64_t rank) { return rank < 64 && (ranks >> rank & 1) != 0; }
inline int64_t rank(const Tensor& tensor) { return tensor.sizes.count; }

inline Range upto(int64_t count) { return Range{count}; }
inline Range upto(Check& check, int64_t count) {
  if (count > int64_t(most_turns)) mark_broken(check);
  return Range{count > int64_t(most_turns) || count < 0 ? 0 : count};
}

template <class S>
inline auto at(Check& check, const S& sequence, int64_t index) {
  if (index >= 0 && index < int64_t(sequence.size())) return sequence[size_t(index)];
  mark_broken(check);
  return decltype(sequence[0])();
}

// Integers within bounds; outside of these, the evaluator decides.
inline int64_t limited(Check& check, int64_t number) {
  if (number < saturated && number > -saturated) return number;
  mark_unsure(check);
  return number > 0 ? saturated : -saturated;
}
inline int64_t limited(Check& check, uint64_t number) {
  return limited(check, number < uint64_t(saturated) ? int64_t(number) : saturated);
}
inline int64_t plus(Check& check, int64_t number, int64_t other) {
  const bool beyond = other > 0 ? number > saturated - other : number < -saturated - other;
  return limited(check, beyond ? (other > 0 ? saturated : -saturated) : number + other);
}
inline int64_t times(Check& check, int64_t number, int64_t other) { return limited(check, multiplied(number, other)); }

// Division that rounds down, and its remainder, which has the sign of the divisor.
inline int64_t quotient(Check& check, int64_t number, int64_t by) {
  if (by == 0) return mark_broken(check), 0;
  return number / by - (number % by != 0 && (number < 0) != (by < 0) ? 1 : 0);
}
inline int64_t modulo(Check& check, int64_t number, int64_t by) { return number - quotient(check, number, by) * by; }

// Loops: `f` for each element until it decides the result.
template <class S, class F>
inline bool every(const S& sequence, F f) {
  for (int64_t i = 0; i < int64_t(sequence.size()); ++i)
    if (!f(sequence[size_t(i)])) return false;
  return true;
}

// A sequence for loops that contain another loop.
template <class S>
inline S few(Check& check, const S& sequence) {
  if (int64_t(sequence.size()) <= int64_t(most_nested_turns)) return sequence;
  mark_broken(check);
  return S();
}

template <class S, class F>
inline int64_t product_of(const S& sequence, F f) {
  int64_t product = 1;
  every(sequence, [&](const auto& item) { return product = multiplied(product, f(item)), true; });
  return product;
}
template <class S, class F>
inline int64_t sum_of(Check& check, const S& sequence, F f) {
  int64_t sum = 0;
  every(sequence, [&](const auto& item) { return sum = plus(check, sum, f(item)), true; });
  return sum;
}
inline int64_t as_number(int64_t number) { return number; }

template <class S>
inline bool contains(const S& sequence, int64_t number) {
  return !every(sequence, [&](int64_t item) { return item != number; });
}
inline int64_t magnitude(int64_t number) { return number < 0 ? -number : number; }
inline double magnitude(double number) { return number < 0 ? -number : number; }
template <class T>
inline bool power_of_two(T number) {
  return number > 0 && (number & (number - 1)) == 0;
}

template <class A, class B>
inline bool same(const A& one, const B& other) {
  if (int64_t(one.size()) != int64_t(other.size())) return false;
  return every(Range{int64_t(one.size())}, [&](int64_t at) { return one[size_t(at)] == other[size_t(at)]; });
}

inline int64_t elements(const Tensor& tensor) {
  return tensor.elements >= 0 ? tensor.elements : product_of(tensor.sizes, as_number);
}

// The number of elements from the first to the last one, inclusive.
inline int64_t extent(Check& check, const Tensor& tensor) {
  int64_t reached = 1;
  for (int64_t d = 0; tensor.strides.given && d < rank(tensor); ++d) {
    if (tensor.sizes[d] == 0) return 0;
    reached = plus(check, reached, times(check, tensor.sizes[d] - 1, tensor.strides[d]));
  }
  return tensor.strides.given ? reached : limited(check, elements(tensor));
}

inline int64_t known_bits(uint32_t type) { return type < sizeof bits_of_types ? bits_of_types[type] : 0; }
inline int64_t bits(Check& check, const Tensor& tensor) {
  if (known_bits(tensor.type) == 0) mark_broken(check);
  return known_bits(tensor.type);
}
// The minimum bytes of a buffer, a multiple of 4, of a known type.
inline int64_t minimum_size(Check& check, const Tensor& tensor) {
  return times(check, plus(check, times(check, extent(check, tensor), known_bits(tensor.type)), 31) / 32, 4);
}

inline double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1, fraction = bits & 1023;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}
// Calls `f` with the number in a scalar, as its C++ type; a 4-bit number occupies a byte.
template <class F>
inline auto scalar(const abi::ScalarUnion* at, uint32_t type, F f) {
  const auto as = [&](auto number) { return load(reinterpret_cast<const decltype(number)*>(at)); };
  switch (type) {
    case f32: return f(double(as(float())));
    case f16: return f(half(as(uint16_t())));
    case f64: return f(as(double()));
    case u8:
    case u4: return f(int64_t(as(uint8_t())));
    case i8:
    case i4: return f(int64_t(as(int8_t())));
    case u16: return f(int64_t(as(uint16_t())));
    case i16: return f(int64_t(as(int16_t())));
    case u32: return f(int64_t(as(uint32_t())));
    case i32: return f(int64_t(as(int32_t())));
    case i64: return f(as(int64_t()));
    case u64: return f(as(uint64_t()));
    default: return f(int64_t(0));
  }
}
inline int64_t limited(Check&, double) { return 0; }  // rules on integers do not read floating-point numbers
inline int64_t scalar(Check& check, const abi::ScalarUnion* at, uint32_t type) {
  return scalar(at, type, [&](auto number) { return limited(check, number); });
}
