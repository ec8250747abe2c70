// What rules compute. A part that has no value (an index beyond the end, a division by zero) marks the check as broken,
// and what it returns then counts for nothing.

struct Check;
inline void mark_broken(Check& check);

inline bool among(uint32_t number, uint32_t bits) { return number < 32 && (bits >> number & 1) != 0; }

inline bool has_rank(uint64_t ranks, int64_t rank) { return rank < 64 && (ranks >> rank & 1) != 0; }
inline int64_t rank(const Tensor& tensor) { return tensor.sizes.count; }

inline Range upto(int64_t count) { return Range{count}; }
inline Range upto(Check& check, int64_t count) {
  if (count > int64_t(most_turns)) mark_broken(check);
  return Range{count > int64_t(most_turns) || count < 0 ? 0 : count};
}

template <class T>
inline int64_t at(Check& check, const Numbers<T>& numbers, int64_t index, std::enable_if_t<std::is_integral_v<T>>* = nullptr) {
  if (index >= 0 && index < numbers.count) return load(numbers.data + index);
  mark_broken(check);
  return 0;
}
inline double at(Check& check, const Numbers<float>& numbers, int64_t index) {
  if (index >= 0 && index < numbers.count) return load(numbers.data + index);
  mark_broken(check);
  return 0;
}
inline int64_t at(Check& check, const Range& range, int64_t index) {
  if (index >= 0 && index < range.count) return index;
  mark_broken(check);
  return 0;
}
template <class T>
inline T at(Check& check, const List<T>& list, int64_t index) {
  if (index >= 0 && index < int64_t(list.size())) return list.begin()[index];
  mark_broken(check);
  return 0;
}
inline Tensor item(Check& check, const Tensors& tensors, int64_t index) {
  if (index >= 0 && index < tensors.count) return read(tensors.data + index, false);
  mark_broken(check);
  return Tensor();
}

// Division that rounds down, and its remainder, which has the sign of the divisor.
template <class T>
inline T quotient(Check& check, T number, T by) {
  if (by == T(0)) return mark_broken(check), T(0);
  const T result = number / by;
  return number % by != T(0) && (number < T(0)) != (by < T(0)) ? result - T(1) : result;
}
template <class T>
inline T modulo(Check& check, T number, T by) {
  if (by == T(0)) return mark_broken(check), T(0);
  const T rest = number % by;
  return rest != T(0) && (rest < T(0)) != (by < T(0)) ? rest + by : rest;
}

// Loops: `f` of each element until it settles the question.
template <class T, class F>
inline bool every(const Numbers<T>& numbers, F f) {
  for (int64_t i = 0; i < numbers.count; ++i)
    if (!f(load(numbers.data + i))) return false;
  return true;
}
template <class F>
inline bool every(const Range& range, F f) {
  for (int64_t i = 0; i < range.count; ++i)
    if (!f(i)) return false;
  return true;
}
template <class T, class F>
inline bool every(const List<T>& list, F f) {
  for (T item : list)
    if (!f(item)) return false;
  return true;
}
template <class F>
inline bool every(const Tensors& tensors, F f) {
  for (int64_t i = 0; i < tensors.count; ++i)
    if (!f(read(tensors.data + i, false))) return false;
  return true;
}
template <class S, class F>
inline bool some(const S& sequence, F f) {
  return !every(sequence, [&](const auto& item) { return !f(item); });
}

template <class T>
inline int64_t element(const Numbers<T>& numbers, int64_t index) { return load(numbers.data + index); }
inline Tensor element(const Tensors& tensors, int64_t index) { return read(tensors.data + index, false); }
inline int64_t element(const Range&, int64_t index) { return index; }
inline int64_t element(const List<int64_t>& list, int64_t index) { return list.begin()[index]; }
template <class S>
inline int64_t length(const S& sequence) { return sequence.count; }
template <class T>
inline int64_t length(const List<T>& list) { return int64_t(list.size()); }

// A sequence that a loop with another loop in it may run over.
template <class S>
inline S few(Check& check, const S& sequence) {
  if (length(sequence) <= int64_t(most_nested_turns)) return sequence;
  mark_broken(check);
  return S();
}

inline int64_t limited(int64_t number) {
  return number > saturated ? saturated : number < -saturated ? -saturated : number;
}
inline int64_t limited(Wide number) {
  return number > Wide(saturated) ? saturated : number < Wide(-saturated) ? -saturated : int64_t(number);
}
template <class S, class F>
inline int64_t product_of(const S& sequence, F f) {
  int64_t product = 1;
  every(sequence, [&](const auto& item) { return product = multiplied(product, limited(f(item))), true; });
  return product;
}
template <class S, class F>
inline auto sum_of(const S& sequence, F f) {
  decltype(f(element(sequence, 0))) sum = 0;
  every(sequence, [&](const auto& item) { return sum += f(item), true; });
  return sum;
}
template <class S>
inline int64_t product(const S& sequence) {
  return product_of(sequence, [](int64_t item) { return item; });
}

template <class S>
inline bool contains(const S& sequence, int64_t number) {
  return some(sequence, [&](int64_t item) { return item == number; });
}
inline int64_t maximum(List<int64_t> list) {
  int64_t found = *list.begin();
  for (int64_t item : list) found = item > found ? item : found;
  return found;
}
inline int64_t minimum(List<int64_t> list) {
  int64_t found = *list.begin();
  for (int64_t item : list) found = item < found ? item : found;
  return found;
}
inline int64_t magnitude(int64_t number) { return number < 0 ? -number : number; }
inline double magnitude(double number) { return number < 0 ? -number : number; }
template <class T>
inline bool power_of_two(T number) { return number > 0 && (number & (number - 1)) == 0; }

template <class A, class B>
inline bool same(const A& one, const B& other) {
  if (length(one) != length(other)) return false;
  for (int64_t i = 0; i < length(one); ++i)
    if (element(one, i) != element(other, i)) return false;
  return true;
}

inline int64_t elements(const Tensor& tensor) {
  return tensor.elements >= 0 ? tensor.elements : product(tensor.sizes);
}

// How many elements lie between the first and the last one, both counted.
inline Wide extent(const Tensor& tensor) {
  if (!tensor.strides.given) return Wide(elements(tensor));
  Wide reached = Wide(int64_t(1));
  for (int64_t d = 0; d < rank(tensor); ++d) {
    const int64_t size = load(tensor.sizes.data + d);
    if (size == 0) return Wide(int64_t(0));
    reached = reached + Wide(size - 1) * Wide(int64_t(load(tensor.strides.data + d)));
  }
  return reached;
}

inline int64_t known_bits(uint32_t type) { return type < sizeof bits_of_types ? bits_of_types[type] : 0; }
inline int64_t bits(Check& check, const Tensor& tensor) {
  if (known_bits(tensor.type) == 0) mark_broken(check);
  return known_bits(tensor.type);
}
// The least bytes of a buffer, a multiple of 4. It is asked for only where the type is known.
inline Wide minimum_size(const Tensor& tensor) {
  const Wide reached = extent(tensor);
  if (reached < Wide(int64_t(1) << 56)) return Wide((int64_t(reached) * known_bits(tensor.type) + 31) / 32 * 4);
  return (reached * Wide(known_bits(tensor.type)) + Wide(int64_t(31))) / Wide(int64_t(32)) * Wide(int64_t(4));
}

inline Wide scalar(const abi::ScalarUnion* at, uint32_t type) {
  const abi::ScalarUnion value = load(at);
  const auto read_as = [&](auto number) {
    std::memcpy(&number, value.Bytes, sizeof number);
    return Wide(std::conditional_t<std::is_signed_v<decltype(number)>, int64_t, uint64_t>(number));
  };
  switch (type) {
    case u8: case u4: return read_as(uint8_t());
    case i8: case i4: return read_as(int8_t());
    case u16: return read_as(uint16_t());
    case i16: return read_as(int16_t());
    case u32: return read_as(uint32_t());
    case i32: return read_as(int32_t());
    case i64: return read_as(int64_t());
    default: return read_as(uint64_t());  // floating numbers are not read by rules about whole ones
  }
}
