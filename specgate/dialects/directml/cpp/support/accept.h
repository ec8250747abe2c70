// Whether the tables accept a description: without allocation, ending at the first violation.

// The bits of a level on one side of the tables, or on both: 16 for the documentation, 16 for the behaviour of all
// builds, and 16 for each implementation with its own rules.
inline uint64_t now_of(uint32_t place, Basis basis, uint32_t implementation) {
  const uint64_t bit = uint64_t(1) << place;
  uint64_t now = basis != Basis::observed ? bit : 0;
  if (basis != Basis::documented) now |= implementation == 0 ? bit << 16 : implementation == 1 ? bit << 32 : bit << 48;
  return now;
}

// A member of a fused operator, none if it has no such member.
inline const Member* fused_member(const Operator& fused, std::string_view name) {
  const Layout* layout = fused.desc == nullptr ? nullptr : layout_of(fused.type);
  for (size_t i = 0; layout != nullptr && i < layout->members.count; ++i)
    if (name == layout->members[i].name) return &layout->members[i];
  return nullptr;
}
inline Sizes fused_numbers(const Operator& fused, std::string_view name) {
  const Member* member = fused_member(fused, name);
  return member == nullptr ? Sizes() : member->array<uint32_t>(fused.desc);
}
inline ScaleAndBias fused_pair(const Operator& fused, std::string_view name) {
  const Member* member = fused_member(fused, name);
  return member == nullptr ? ScaleAndBias() : scale_bias(member->at<const abi::ScaleAndBias*>(fused.desc));
}

// Violations of a fused operator: it must have no tensors, and everything else.
enum class Flaw { no_description, tensor, missing, too_many, no_truth };
// Calls `f` with each violation and its member until it returns true; returns whether it did.
template <class F>
inline bool find_flaw(const Operator& fused, F f) {
  const Layout* layout = layout_of(fused.type);
  if (fused.desc == nullptr) return f(Flaw::no_description, nullptr);
  for (size_t i = 0; layout != nullptr && i < layout->members.count; ++i) {
    const Member& member = layout->members[i];
    const bool null = is_pointer(member.shape) && member.get<const void*>(fused.desc) == nullptr;
    if (is_tensor(member.shape) ? !null && f(Flaw::tensor, &member)
                                : null && !member.optional && f(Flaw::missing, &member))
      return true;
    if (is_array(member.shape) && load(member_at<uint32_t>(fused.desc, member.by)) > most_elements &&
        f(Flaw::too_many, &member))
      return true;
    if (member.shape == Shape::truth && member.get<uint32_t>(fused.desc) > 1 && f(Flaw::no_truth, &member)) return true;
  }
  return false;
}

inline bool known_type(uint32_t type) { return type == 0 || known_bits(type) != 0; }
template <class T>
constexpr uint32_t most_of = std::is_same_v<T, abi::OperatorDesc> ? most_operators : most_elements;

// A question: a level and the sides of the tables. lacking: types that the device does not support, as bits. unsure:
// the answer is undecided. harmful: a pointer is null although the description requires data.
inline bool accepts_tensor(Check& check, const Tensor& tensor, bool output);
struct Check {
  uint64_t now;
  uint32_t place, lacking;
  bool broken = false, harmful = false, unsure = false;

  bool readable(const Tensor& tensor, bool optional) {
    harmful = harmful || tensor.hollow;
    return tensor.given ? tensor.readable && known_type(tensor.type) : optional;
  }
  bool readable(const Operator& fused, bool optional) { return fused.given || optional; }
  template <class T>
  bool readable(const Array<T>& array, bool optional) {
    harmful = harmful || array.hollow;
    if (!array.given) return optional;
    if (array.count > int64_t(most_of<T>)) return false;
    if constexpr (std::is_same_v<T, abi::TensorDesc>)
      return every(array, [&](const Tensor& tensor) { return readable(tensor, false); });
    return true;
  }

  template <class T>
  bool supports(const T& value, const Cell* cells, uint32_t count) const {
    return std::all_of(cells, cells + count,
                       [&](const Cell& cell) { return (cell.where & now) == 0 || supports(value, cell); });
  }
  template <class T>
  static bool supports(const Array<T>& array, const Cell& cell) {
    return every(array, [&](const auto& item) { return supports(item, cell); });
  }
  static bool supports(const Tensor& tensor, const Cell& cell) {
    return !tensor.given || (among(tensor.type, cell.bits) && has_rank(cell.ranks, rank(tensor)));
  }
  static bool supports(uint32_t word, const Cell& cell) { return among(word, cell.bits); }
  static bool supports(const Operator& fused, const Cell& cell) {
    return !fused.given || (cell.names(fused.type) && !find_flaw(fused, [](Flaw, const Member*) { return true; }));
  }

  bool accepts_tensors(const Tensor& tensor, bool output) {
    return !tensor.given || (!among(tensor.type, lacking) && accepts_tensor(*this, tensor, output));
  }
  bool accepts_tensors(const Array<abi::TensorDesc>& tensors, bool output) {
    for (int64_t i = 0; i < tensors.count; ++i)
      if (!accepts_tensors(read(tensors.data + i, true), output)) return false;
    return true;
  }
};
inline void mark_broken(Check& check) { check.broken = true; }
inline void mark_unsure(Check& check) { check.unsure = true; }
