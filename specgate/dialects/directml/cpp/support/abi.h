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
constexpr uint32_t most_dimensions = 64, most_elements = 10000, most_turns = 10000, most_nested_turns = 300,
                   most_operators = 64;
// Upper limit of integers in the quick check: no level supports tensors with so many elements.
constexpr int64_t saturated = int64_t(1) << 62;

template <class T>
inline T load(const T* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// The numbers from 0 to `count` - 1.
struct Range {
  int64_t count = 0;

  int64_t size() const { return count; }
  int64_t operator[](int64_t at) const { return at; }
};

// Elements of arrays as rules read them.
struct Tensor;
struct Operator;
inline int64_t element(const uint32_t* at) { return load(at); }
inline int64_t element(const int32_t* at) { return load(at); }
inline double element(const float* at) { return load(at); }
inline Tensor element(const abi::TensorDesc* at);
inline Operator element(const abi::OperatorDesc* at);

// An array with its count. given: whether it is present. hollow: its count is not 0 but its pointer is null, so that a
// library may read invalid memory.
template <class T>
struct Array {
  const T* data = nullptr;
  int64_t count = 0;
  bool given = false, hollow = false;

  int64_t size() const { return count; }
  auto operator[](int64_t at) const { return element(data + at); }
};
using Sizes = Array<uint32_t>;
template <class T>
inline Array<T> array(const T* const* at, const uint32_t* count) {
  const T* data = load(at);
  const uint32_t stated = load(count);
  return {data, data == nullptr ? 0 : int64_t(stated), data != nullptr, data == nullptr && stated != 0};
}

// A tensor with the product of its sizes, which many rules use. hollow: it claims to have an array, but does not.
struct Tensor {
  bool given = false, readable = true, hollow = false;
  uint32_t kind = 0, type = 0, flags = 0, alignment = 0;
  uint64_t total = 0;
  int64_t elements = 1;  // number of elements, or -1
  Sizes sizes, strides;  // -1 sizes if there are too many
};

// A factor of 0 may follow after the product has overflowed.
inline int64_t multiplied(int64_t product, int64_t by) {
  if (((product | by) >> 31) == 0) return product * by;  // neither is negative, and both are small
  if (product == 0 || by == 0) return 0;
  const int64_t sign = (product < 0) == (by < 0) ? 1 : -1;
  const int64_t one = product < 0 ? -product : product, other = by < 0 ? -by : by;
  return sign * (one > saturated / other ? saturated : one * other);
}

struct Operator {
  bool given = false;
  uint32_t type = 0;
  const void* desc = nullptr;
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
  tensor.kind = load(&at->Type);
  tensor.hollow = buffer == nullptr && tensor.kind != no_tensor;
  if (buffer == nullptr) return tensor;  // programs also omit a tensor in this way
  tensor.given = true;
  const uint32_t rank = load(&buffer->DimensionCount);
  tensor.readable = tensor.kind == buffer_tensor && rank <= most_dimensions;
  if (tensor.kind > buffer_tensor) return tensor;
  tensor.type = load(&buffer->DataType);
  tensor.flags = load(&buffer->Flags);
  tensor.alignment = load(&buffer->GuaranteedBaseOffsetAlignment);
  tensor.total = load(&buffer->TotalTensorSizeInBytes);
  if (rank > most_dimensions) return tensor.sizes.count = -1, tensor;
  const uint32_t *sizes = load(&buffer->Sizes), *strides = load(&buffer->Strides);
  tensor.sizes = {sizes, sizes == nullptr ? 0 : int64_t(rank), sizes != nullptr, false};
  tensor.strides = {strides, strides == nullptr ? 0 : int64_t(rank), strides != nullptr, false};
  tensor.hollow = sizes == nullptr && rank != 0;
  if (!counting) tensor.elements = -1;
  for (int64_t d = 0; counting && d < tensor.sizes.count; ++d)
    tensor.elements = multiplied(tensor.elements, load(tensor.sizes.data + d));
  return tensor;
}
inline Tensor tensor(const abi::TensorDesc* const* at) { return read(load(at), true); }
inline Tensor element(const abi::TensorDesc* at) { return read(at, false); }

inline Operator element(const abi::OperatorDesc* at) {
  return at == nullptr ? Operator() : Operator{true, load(&at->Type), load(&at->Desc)};
}
inline Operator fused(const abi::OperatorDesc* const* at) { return element(load(at)); }

inline ScaleAndBias scale_bias(const abi::ScaleAndBias* const* at) {
  const abi::ScaleAndBias* pair = load(at);
  if (pair == nullptr) return ScaleAndBias();
  const abi::ScaleAndBias numbers = load(pair);
  return {numbers.Scale, numbers.Bias, true};
}
