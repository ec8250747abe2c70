// Values of parts of rules on one description, in the three-valued logic of the explaining path: a part may be
// unknown, or undefined.

// Numbers, tensors or operators in memory, or the numbers from 0 up.
struct View {
  enum class Of : uint8_t { whole, integer, real, count, tensor, held } of = Of::count;
  const void* data = nullptr;
  int64_t count = 0;
};

struct Value;

struct Value {
  enum class Is : uint8_t { nothing, unknown, truth, whole, real, word, tensor, view, list, held, pair };
  Is is = Is::nothing;
  bool flag = false;
  Whole whole = {};
  union {
    View view;
    std::string_view word;
    double real;
    const Tensor* tensor;
    Operator held;
  };
  std::shared_ptr<const std::vector<Value>> parts = {};  // of a list or pair

  Value() : view() {}
  static Value unknown() { return kind(Is::unknown); }
  static Value truth(bool value) {
    Value made = kind(Is::truth);
    return made.flag = value, made;
  }
  static Value of(Whole value) {
    Value made = kind(Is::whole);
    return made.whole = std::move(value), made;
  }
  static Value of_real(double value) {
    Value made = kind(Is::real);
    return made.real = value, made;
  }
  static Value of_word(std::string_view text) {
    Value made = kind(Is::word);
    return made.word = text, made;
  }
  static Value of_tensor(const Tensor* at) {
    Value made = kind(Is::tensor);
    return made.tensor = at, made;
  }
  static Value of_view(View::Of of, const void* data, int64_t count) {
    Value made = kind(Is::view);
    return made.view = View{of, data, count}, made;
  }
  static Value of_parts(Is is, std::vector<Value> parts) {
    Value made = kind(is);
    return made.parts = std::make_shared<const std::vector<Value>>(std::move(parts)), made;
  }
  static Value kind(Is is) {
    Value made;
    return made.is = is, made;
  }

  bool none() const { return is == Is::nothing; }
  bool open() const { return is == Is::unknown; }
  bool true_() const { return is == Is::truth && flag; }
  bool false_() const { return is == Is::truth && !flag; }
  bool number() const { return is == Is::truth || is == Is::whole || is == Is::real; }
  bool sequence() const { return is == Is::view || is == Is::list; }
  Whole integer() const { return is == Is::truth ? Whole(flag ? 1 : 0) : whole; }
  double floating() const { return is == Is::real ? real : integer().approximate(); }
  int64_t length() const { return is == Is::view ? view.count : is == Is::list ? int64_t(parts->size()) : 0; }

  Value item(int64_t at) const {
    if (is == Is::list) return (*parts)[size_t(at)];
    switch (view.of) {
      case View::Of::whole: return of(Whole(int64_t(load(static_cast<const uint32_t*>(view.data) + at))));
      case View::Of::integer: return of(Whole(int64_t(load(static_cast<const int32_t*>(view.data) + at))));
      case View::Of::real: return of_real(load(static_cast<const float*>(view.data) + at));
      case View::Of::tensor: return of_tensor(static_cast<const Tensor*>(view.data) + at);
      case View::Of::count: return of(Whole(at));
      default: break;
    }
    Value made = kind(Is::held);
    made.held = static_cast<const Operator*>(view.data)[at];
    return made;
  }
};

// Compares two values: their order, 2 if they cannot be ordered.
inline int ordered(const Value& a, const Value& b) {
  if (a.is != Value::Is::real && b.is != Value::Is::real) return compare(a.integer(), b.integer());
  const double one = a.floating(), other = b.floating();
  return one < other ? -1 : one > other ? 1 : one == other ? 0 : 2;
}
inline Value equal(const Value& a, const Value& b) {
  if (a.open() || b.open()) return Value::unknown();
  if (a.sequence() && b.sequence()) {
    if (a.length() != b.length()) return Value::truth(false);
    bool open = false;
    for (int64_t i = 0; i < a.length(); ++i) {
      const Value same = equal(a.item(i), b.item(i));
      if (same.false_()) return same;
      open = open || same.open();
    }
    return open ? Value::unknown() : Value::truth(true);
  }
  if ((a.is == Value::Is::word) != (b.is == Value::Is::word)) return Value::unknown();
  if (a.is == Value::Is::word) return Value::truth(a.word == b.word);
  return Value::truth(a.number() && b.number() && ordered(a, b) == 0);
}

// A fully unknown tensor has no number of sizes.
inline bool stated(const Tensor& tensor) { return tensor.sizes.count >= 0; }
constexpr uint32_t no_type = ~uint32_t(0);

// Owns values and derived expressions while a description is explained.
struct Memory {
  explicit Memory(Arena& arena) : arena(arena) {}

  Arena& arena;
  std::forward_list<Value> values = {};

  // A part of a rule with replaced operands.
  const Node* with(Node node, const Node* parts, size_t count) {
    node.parts = Nodes{arena.keep(parts, count), count};
    return arena.keep(node);
  }
  const Node* subscript(const Node* sequence, const Node* index) {
    const Node parts[] = {*sequence, *index};
    return with(Node{Kind::subscript}, parts, 2);
  }
  const Node* number(int64_t value) {
    Node made;
    made.number = value;
    return arena.keep(made);
  }
};

inline Value member_value(Memory& memory, const void* description, const Member& member);

// The input of rules: the fields of an operator, or one tensor.
struct Context {
  const Layout* layout = nullptr;
  uint32_t place = 0;  // of the level
  std::vector<Value> fields = {};
  const Value* tensor = nullptr;
  const Member* judged = nullptr;  // for a tensor: its field

  const Value* field(std::string_view name) const {
    if (tensor != nullptr) return name == "tensor" ? tensor : nullptr;
    const Member* const found = member(name);
    return found == nullptr ? nullptr : &fields[size_t(found - layout->members.data)];
  }
  const Member* member(std::string_view name) const { return tensor != nullptr ? judged : named(layout->members, name); }
  const Node* define(std::string_view name) const {
    const Define* const found = named(layout->defines, name);
    return found == nullptr ? nullptr : found->meaning;
  }

 private:
  // Rules for all tensors do not name fields of operators.
  template <class T>
  const T* named(const Span<T>& several, std::string_view name) const {
    for (size_t i = 0; tensor == nullptr && i < several.count; ++i)
      if (spells(several[i].name, name)) return &several[i];
    return nullptr;
  }
};

inline Context context_of(Memory& memory, const Layout* layout, const void* description, uint32_t place) {
  Context made{layout, place};
  made.fields.reserve(layout->members.count);
  for (uint32_t i = 0; i < layout->members.count; ++i)
    made.fields.push_back(member_value(memory, description, layout->members[i]));
  return made;
}

inline Value word_value(const Enum& words, uint32_t number) {
  const char* word = word_of(words, number);
  return word == nullptr ? Value::of(Whole(int64_t(number))) : Value::of_word(word);
}

inline Value member_value(Memory& memory, const void* description, const Member& member) {
  const auto array = [](View::Of of, const auto& several) {
    return several.given && several.count <= int64_t(most_elements) ? Value::of_view(of, several.data, several.count)
                                                                    : Value();
  };
  switch (member.shape) {
    case Shape::input:
    case Shape::output: {
      const Tensor tensor = tensor_of(description, member);
      return tensor.given ? Value::of_tensor(memory.arena.keep(tensor)) : Value();
    }
    case Shape::inputs:
    case Shape::outputs: {
      const Tensors several = tensors_of(description, member);
      if (!several.given || several.count > int64_t(most_elements)) return Value();
      Tensor* const made = memory.arena.array<Tensor>(size_t(several.count));
      for (int64_t i = 0; i < several.count; ++i) new (made + i) Tensor(detail::read(several.data + i, true));
      return Value::of_view(View::Of::tensor, made, several.count);
    }
    case Shape::held: {
      const Operator held = fused(member_at<const abi::OperatorDesc*>(description, member.offset));
      Value made = Value::kind(held.given ? Value::Is::held : Value::Is::nothing);
      return made.held = held, made;
    }
    case Shape::helds: {
      const Operators several = operators(member_at<const abi::OperatorDesc*>(description, member.offset),
                                          member_at<uint32_t>(description, member.by));
      if (!several.given || several.count > int64_t(most_operators)) return Value();
      Operator* const made = memory.arena.array<Operator>(size_t(several.count));
      for (int64_t i = 0; i < several.count; ++i) new (made + i) Operator(operator_at(several.data + i));
      return Value::of_view(View::Of::held, made, several.count);
    }
    case Shape::numbers: return array(View::Of::whole, numbers_of<uint32_t>(description, member));
    case Shape::integers: return array(View::Of::integer, numbers_of<int32_t>(description, member));
    case Shape::reals: return array(View::Of::real, numbers_of<float>(description, member));
    case Shape::number: return Value::of(Whole(int64_t(number_of(description, member))));
    case Shape::integer: return Value::of(Whole(int64_t(load(member_at<int32_t>(description, member.offset)))));
    case Shape::real: return Value::of_real(load(member_at<float>(description, member.offset)));
    case Shape::truth: return Value::truth(number_of(description, member) != 0);
    case Shape::word: return word_value(*member.words, number_of(description, member));
    case Shape::scalar: {
      const Scalar scalar = scalar_of(description, member);
      return scalar.floating ? Value::of_real(scalar.real) : Value::of(scalar.whole);
    }
    case Shape::size: {
      const abi::Size2D size = load(member_at<abi::Size2D>(description, member.offset));
      Value made = Value::of_parts(Value::Is::pair, {Value::of(Whole(int64_t(size.Width))), Value::of(Whole(int64_t(size.Height)))});
      return made.flag = true, made;
    }
    case Shape::scale_bias: break;
  }
  const ScaleAndBias pair = scale_bias(member_at<const abi::ScaleAndBias*>(description, member.offset));
  return Value::of_parts(pair.given ? Value::Is::pair : Value::Is::nothing, {Value::of_real(pair.Scale), Value::of_real(pair.Bias)});
}

// The variables of the loops around a part.
struct Scope {
  std::string_view name;
  const Value* value;
  const Scope* outer;
};
inline const Value* variable(const Scope* scope, std::string_view name) {
  for (; scope != nullptr; scope = scope->outer)
    if (scope->name == name) return scope->value;
  return nullptr;
}
