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
    if (spells(layout->members[i].name, name)) return &layout->members[i];
  return nullptr;
}
inline Sizes fused_numbers(const Operator& fused, std::string_view name) {
  const Member* member = fused_member(fused, name);
  return member == nullptr ? Sizes() : numbers_of<uint32_t>(fused.desc, *member);
}
inline ScaleAndBias fused_pair(const Operator& fused, std::string_view name) {
  const Member* member = fused_member(fused, name);
  return member == nullptr ? ScaleAndBias() : scale_bias(member_at<const abi::ScaleAndBias*>(fused.desc, member->offset));
}

// Violations of a fused operator: it must have no tensors, and everything else.
enum class Flaw { no_description, tensor, missing, too_many, no_truth };
// Calls `f` with each violation and its member until it returns true; returns whether it did.
template <class F>
inline bool flaws(const Operator& fused, F f) {
  const Layout* layout = layout_of(fused.type);
  if (fused.desc == nullptr) return f(Flaw::no_description, nullptr);
  for (size_t i = 0; layout != nullptr && i < layout->members.count; ++i) {
    const Member& member = layout->members[i];
    const bool pointer = is_tensor(member.shape) || is_pointer(member.shape);
    const bool null = pointer && load(member_at<const void*>(fused.desc, member.offset)) == nullptr;
    if (is_tensor(member.shape) ? !null && f(Flaw::tensor, &member) : null && !member.optional && f(Flaw::missing, &member))
      return true;
    if (is_array(member.shape) && load(member_at<uint32_t>(fused.desc, member.by)) > most_elements && f(Flaw::too_many, &member))
      return true;
    if (member.shape == Shape::truth && number_of(fused.desc, member) > 1 && f(Flaw::no_truth, &member)) return true;
  }
  return false;
}

inline bool known_type(uint32_t type) { return type == 0 || known_bits(type) != 0; }

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
  template <class T>
  bool readable(const T& several, bool optional, uint32_t most = most_elements) {
    harmful = harmful || several.hollow;
    return several.given ? several.count <= int64_t(most) : optional;
  }
  bool readable(const Operators& fused, bool optional) { return readable<Operators>(fused, optional, most_operators); }
  bool readable(const Operator& fused, bool optional) { return fused.given || optional; }
  bool readable(const Tensors& tensors, bool optional) {
    return readable<Tensors>(tensors, optional) &&
           every(tensors, [&](const Tensor& tensor) { return readable(tensor, false); });
  }

  template <class T>
  bool supports(const T& value, const Cell* cells, uint32_t count) const {
    return std::all_of(cells, cells + count, [&](const Cell& cell) { return supports(value, cell); });
  }
  bool holds(const Cell& cell) const { return (cell.where & now) != 0; }
  bool supports(const Tensor& tensor, const Cell& cell) const {
    return !holds(cell) || !tensor.given || (among(tensor.type, cell.bits) && has_rank(cell.ranks, rank(tensor)));
  }
  bool supports(const Tensors& tensors, const Cell& cell) const {
    return !holds(cell) || every(tensors, [&](const Tensor& tensor) { return supports(tensor, cell); });
  }
  bool supports(uint32_t word, const Cell& cell) const { return !holds(cell) || among(word, cell.bits); }
  bool supports(const Operator& fused, const Cell& cell) const {
    if (!holds(cell) || !fused.given) return true;
    const bool named = std::find(cell.words, cell.words + cell.count, fused.type) != cell.words + cell.count;
    return named && !flaws(fused, [](Flaw, const Member*) { return true; });
  }
  bool supports(const Operators& fused, const Cell& cell) const {
    for (int64_t i = 0; i < fused.count; ++i)
      if (!supports(operator_at(fused.data + i), cell)) return false;
    return true;
  }

  bool accepts_tensors(const Tensor& tensor, bool output) {
    return !tensor.given || (!among(tensor.type, lacking) && accepts_tensor(*this, tensor, output));
  }
  bool accepts_tensors(const Tensors& tensors, bool output) {
    for (int64_t i = 0; i < tensors.count; ++i)
      if (!accepts_tensors(read(tensors.data + i, true), output)) return false;
    return true;
  }
};
inline void mark_broken(Check& check) { check.broken = true; }
inline void mark_unsure(Check& check) { check.unsure = true; }
