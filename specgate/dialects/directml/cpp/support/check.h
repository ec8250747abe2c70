// The ranks that a row takes, as bits.
constexpr uint64_t any_rank = ~uint64_t(0);
constexpr uint32_t any_word = ~uint32_t(0);
constexpr uint64_t ranks(int low, int high) {
  uint64_t found = 0;
  for (int rank = low; rank <= high; ++rank) found |= uint64_t(1) << rank;
  return found;
}
template <int... numbers>
constexpr uint64_t ranks_of = ((uint64_t(1) << numbers) | ...);

bool judge_tensor(Check& check, const Tensor& tensor, const char* where, bool output);
bool takes_fused(uint32_t type, const void* description);

// One question: a description, a level, the sides of the tables that count, and what was found so far. What asks returns
// whether the question is settled, so that the function of the operator can leave.
struct Check {
  uint32_t level = 0;
  bool documented = true, observed = true;
  uint32_t lacking = 0;  // the types that the device does not take, as bits
  bool broken = false, refused = false;

  bool fails(const char* rule, const char* where) {
    refused = true;
    (void)rule, (void)where;
    return true;
  }
  bool breaks(bool held) const { return !held || broken; }

  // Fields that cannot be read as what they are are refused here, before a rule reads them.
  bool optional(const Tensor& tensor, const char* name) {
    return tensor.given && !tensor.readable && fails("unreadable", name);
  }
  bool required(const Tensor& tensor, const char* name) {
    return (!tensor.given && fails("required", name)) || optional(tensor, name);
  }
  bool required(const Tensors& tensors, const char* name) {
    if (!tensors.given) return fails("required", name);
    if (tensors.count > int64_t(most_elements)) return fails("unreadable", name);
    for (int64_t i = 0; i < tensors.count; ++i)
      if (required(read(tensors.data + i), name)) return true;
    return false;
  }
  template <class T>
  bool required(const Numbers<T>& numbers, const char* name) {
    if (!numbers.given) return fails("required", name);
    return numbers.count > int64_t(most_elements) && fails("unreadable", name);
  }
  template <class T>
  bool optional(const Numbers<T>& numbers, const char* name) {
    return numbers.count > int64_t(most_elements) && fails("unreadable", name);
  }
  bool required(const Operator& fused, const char* name) { return !fused.given && fails("required", name); }
  bool required(const Operators& fused, const char* name) {
    if (!fused.given) return fails("required", name);
    return fused.count > int64_t(most_operators) && fails("unreadable", name);
  }
  bool truth(int32_t value, const char* name) { return value != 0 && value != 1 && fails("unreadable", name); }

  // What a row of the support table takes.
  bool row(const Tensor& tensor, uint32_t types, uint64_t ranks, const char* name) {
    if (!tensor.given) return false;
    if (!among(tensor.type, types) && fails("type", name)) return true;
    return (ranks >> rank(tensor) & 1) == 0 && fails("rank", name);
  }
  bool row(const Tensors& tensors, uint32_t types, uint64_t ranks, const char* name) {
    for (int64_t i = 0; i < tensors.count; ++i)
      if (row(read(tensors.data + i), types, ranks, name)) return true;
    return false;
  }
  bool word(uint32_t value, uint32_t words, const char* name) { return !among(value, words) && fails("value", name); }
  bool fuses(const Operator& fused, List<uint32_t> types, const char* name) {
    if (!fused.given) return false;
    for (uint32_t type : types)
      if (type == fused.type) return !takes_fused(fused.type, fused.desc) && fails("operator", name);
    return fails("operator", name);
  }
  bool fuses(const Operators& fused, List<uint32_t> types, const char* name) {
    for (int64_t i = 0; i < fused.count; ++i)
      if (fuses(operator_at(fused.data + i), types, name)) return true;
    return false;
  }

  // What every tensor obeys, and whether the device takes its type.
  bool obeys(const Tensor& tensor, const char* name, bool output) {
    if (!tensor.given) return false;
    if (known_bits(tensor.type) == 0 && fails("type", name)) return true;
    if (among(tensor.type, lacking) && fails("device-capability", name)) return true;
    return judge_tensor(*this, tensor, name, output);
  }
  bool obeys(const Tensors& tensors, const char* name, bool output) {
    for (int64_t i = 0; i < tensors.count; ++i)
      if (obeys(read(tensors.data + i), name, output)) return true;
    return false;
  }
};

inline void mark_broken(Check& check) { check.broken = true; }
