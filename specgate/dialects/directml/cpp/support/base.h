// Layout of descriptions in memory, and how to read them.
//
// Structures are read member by member with memcpy, so that the program's declarations do not matter, and every
// pointer is checked before it is followed. This code neither allocates nor throws.

namespace specgate {

// The side of the tables: the documentation, the behaviour of builds, or both.
enum class Basis { documented, observed, both };

namespace abi {

struct TensorDesc {
  uint32_t Type;
  const void* Desc;
};
struct BufferTensorDesc {
  uint32_t DataType, Flags, DimensionCount;
  const uint32_t* Sizes;
  const uint32_t* Strides;
  uint64_t TotalTensorSizeInBytes;
  uint32_t GuaranteedBaseOffsetAlignment;
};
struct OperatorDesc {
  uint32_t Type;
  const void* Desc;
};
struct ScaleAndBias {
  float Scale, Bias;
};
struct Size2D {
  uint32_t Width, Height;
};
union ScalarUnion {
  uint8_t Bytes[8];
  uint64_t UInt64;
};

}  // namespace abi

namespace detail {

constexpr uint32_t no_tensor = 0, buffer_tensor = 1;

// Above the maximum of every level; longer arrays are rejected unread, so that a wrong count does no harm.
constexpr uint32_t most_dimensions = 64, most_elements = 10000, most_turns = 10000, most_nested_turns = 300, most_operators = 64;
// Upper limit of integers in the quick check: no level supports tensors with so many elements.
constexpr int64_t saturated = int64_t(1) << 62;

template <class T>
inline T load(const T* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// An array of numbers. given: whether there is one. hollow: its count is not 0 but its pointer is null, so that a
// library may read invalid memory.
template <class T>
struct Numbers {
  const T* data = nullptr;
  int64_t count = 0;
  bool given = false, hollow = false;

  auto operator[](int64_t at) const { return std::conditional_t<std::is_integral_v<T>, int64_t, double>(load(data + at)); }
};
using Sizes = Numbers<uint32_t>;

// The numbers from 0 to `count` - 1.
struct Range {
  int64_t count = 0;

  int64_t operator[](int64_t at) const { return at; }
};

template <class T>
using List = std::initializer_list<T>;

// A tensor with the product of its sizes, which many rules use. hollow: it claims to have an array, but does not.
struct Tensor {
  bool given = false, readable = true, hollow = false;
  uint32_t type = 0, flags = 0, alignment = 0;
  uint64_t total = 0;
  int64_t elements = 1;  // number of elements, or -1
  Sizes sizes, strides;
};

// A factor of 0 may follow after the product has overflowed.
inline int64_t multiplied(int64_t product, int64_t by) {
  if (((product | by) >> 31) == 0) return product * by;  // neither is negative, and both are small
  if (product == 0 || by == 0) return 0;
  const int64_t sign = (product < 0) == (by < 0) ? 1 : -1;
  const int64_t one = product < 0 ? -product : product, other = by < 0 ? -by : by;
  return sign * (one > saturated / other ? saturated : one * other);
}

struct Tensors {
  const abi::TensorDesc* data = nullptr;
  int64_t count = 0;
  bool given = false, hollow = false;

  Tensor operator[](int64_t at) const;
};

struct Operator {
  bool given = false;
  uint32_t type = 0;
  const void* desc = nullptr;
};

struct Operators {
  const abi::OperatorDesc* data = nullptr;
  int64_t count = 0;
  bool given = false, hollow = false;
};

struct ScaleAndBias {
  float Scale = 0, Bias = 0;
  bool given = false;
};

// counting: whether the elements are counted now, not on demand.
inline Tensor read(const abi::TensorDesc* at, bool counting) {
  Tensor tensor;
  if (at == nullptr) return tensor;
  const auto* buffer = static_cast<const abi::BufferTensorDesc*>(load(&at->Desc));
  tensor.hollow = buffer == nullptr && load(&at->Type) != no_tensor;
  if (buffer == nullptr) return tensor;  // programs also omit a tensor in this way
  tensor.given = true;
  const uint32_t rank = load(&buffer->DimensionCount);
  tensor.readable = load(&at->Type) == buffer_tensor && rank <= most_dimensions;
  if (!tensor.readable) return tensor;
  tensor.type = load(&buffer->DataType);
  tensor.flags = load(&buffer->Flags);
  tensor.alignment = load(&buffer->GuaranteedBaseOffsetAlignment);
  tensor.total = load(&buffer->TotalTensorSizeInBytes);
  tensor.sizes.data = load(&buffer->Sizes);
  tensor.sizes.given = true;
  tensor.sizes.count = tensor.sizes.data == nullptr ? 0 : rank;
  tensor.hollow = tensor.sizes.data == nullptr && rank != 0;
  if (!counting) tensor.elements = -1;
  for (int64_t d = 0; counting && d < tensor.sizes.count; ++d)
    tensor.elements = multiplied(tensor.elements, load(tensor.sizes.data + d));
  tensor.strides.data = load(&buffer->Strides);
  tensor.strides.given = tensor.strides.data != nullptr;
  tensor.strides.count = tensor.strides.given ? rank : 0;
  return tensor;
}
inline Tensor tensor(const abi::TensorDesc* const* at) { return read(load(at), true); }
inline Tensor Tensors::operator[](int64_t at) const { return read(data + at, false); }

// An array of structures with its count.
template <class Found, class T>
inline Found pointed_to(const T* const* at, const uint32_t* count) {
  Found found;
  found.data = load(at);
  found.given = found.data != nullptr;
  found.count = load(count);
  found.hollow = !found.given && found.count != 0;
  if (!found.given) found.count = 0;
  return found;
}

template <class T>
inline Numbers<T> numbers(const T* const* at, const uint32_t* count) {
  return pointed_to<Numbers<T>>(at, count);
}

inline Tensors tensors(const abi::TensorDesc* const* at, const uint32_t* count) {
  return pointed_to<Tensors>(at, count);
}

inline Operator operator_at(const abi::OperatorDesc* at) {
  Operator found;
  if (at == nullptr) return found;
  found.given = true;
  found.type = load(&at->Type);
  found.desc = load(&at->Desc);
  return found;
}
inline Operator fused(const abi::OperatorDesc* const* at) { return operator_at(load(at)); }

inline Operators operators(const abi::OperatorDesc* const* at, const uint32_t* count) {
  return pointed_to<Operators>(at, count);
}

inline ScaleAndBias scale_bias(const abi::ScaleAndBias* const* at) {
  ScaleAndBias found;
  const abi::ScaleAndBias* pair = load(at);
  if (pair == nullptr) return found;
  found.Scale = load(&pair->Scale);
  found.Bias = load(&pair->Bias);
  found.given = true;
  return found;
}
