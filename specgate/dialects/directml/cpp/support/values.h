// Values of the members of a description and of the parts of its rules.

struct Value;
using Values = std::vector<Value>;
using Texts = std::vector<std::string>;

// integer: also the number of a word, the type of a fused operator, and the count of a range. word: also the names of a
// pair's members. parts: the items of a list, or the members of a tensor or pair. problem: why a member is unreadable.
// hollow: a null pointer where the description states data.
struct Value {
  enum class Is : uint8_t { nothing, unknown, truth, integer, real, word, list, range, tensor, pair, fused };
  Is is = Is::nothing;
  bool hollow = false;
  BigInt integer = {};
  double real = 0;
  std::string_view word = {};
  std::shared_ptr<const Values> parts = {};
  const void* desc = nullptr;
  const char* problem = nullptr;

  Value(Is is = Is::nothing, BigInt integer = {}) : is(is), integer(std::move(integer)) {}
  Value(BigInt integer) : Value(Is::integer, std::move(integer)) {}
  Value(Is is, Values items) : is(is), parts(std::make_shared<const Values>(std::move(items))) {}
  static Value truth(bool value) { return Value(Is::truth, value ? 1 : 0); }
  static Value of_real(double number) {
    Value value(Is::real);
    return value.real = number, value;
  }
  static Value of_word(std::string_view text, uint32_t number = 0) {
    Value value(Is::word, int64_t(number));
    return value.word = text, value;
  }

  bool none() const { return is == Is::nothing; }
  bool unknown() const { return is == Is::unknown; }
  bool is_true() const { return is == Is::truth && !integer.zero(); }
  bool is_false() const { return is == Is::truth && integer.zero(); }
  bool is_number() const { return is == Is::truth || is == Is::integer || is == Is::real; }
  bool is_index() const { return is == Is::integer && integer.is_small() && !integer.negative(); }
  bool is_sequence() const { return is == Is::list || is == Is::range; }
  double floating() const { return is == Is::real ? real : integer.approximate(); }
  int64_t length() const { return is == Is::range ? integer.value() : is == Is::list ? int64_t(parts->size()) : 0; }
  Value item(int64_t at) const { return is == Is::range ? Value(BigInt(at)) : (*parts)[size_t(at)]; }
  // The same with another item or member.
  Value with(int64_t at, Value part) const {
    Value value = *this;
    Values items = *parts;
    items[size_t(at)] = std::move(part);
    return value.parts = std::make_shared<const Values>(std::move(items)), value;
  }
};

// The members of a tensor, in the order of its parts.
enum Part : int64_t { type_part, sizes_part, strides_part, total_part, alignment_part, flags_part, kind_part };
inline Value tensor_part(const Value& tensor, Part part) { return (*tensor.parts)[part]; }
// A tensor of which nothing is known.
inline Value unknown_tensor() {
  return Value(Value::Is::tensor, {Value(Value::Is::unknown), Value(Value::Is::unknown), {}, {}, {}, {}, {}});
}

inline Value word_value(const Enum& words, uint32_t number) {
  const char* word = word_of(words, number);
  return word == nullptr ? Value(int64_t(number)) : Value::of_word(word, number);
}
inline Value value_of(uint32_t number) { return Value(int64_t(number)); }
inline Value value_of(int32_t number) { return Value(int64_t(number)); }
inline Value value_of(int64_t number) { return BigInt(number); }
inline Value value_of(uint64_t number) { return BigInt::of(number); }
inline Value value_of(double number) { return Value::of_real(number); }
inline Value value_of(const abi::OperatorDesc& desc) {
  Value value(Value::Is::fused, int64_t(desc.Type));
  return value.desc = desc.Desc, value;
}
inline Value value_of(const abi::TensorDesc& desc);
template <class T>
inline Value value_of(const Array<T>& array, const char* problem) {
  Value value;
  value.hollow = array.hollow;
  if (!array.given) return value;
  if (array.count > int64_t(most_of<T>)) return value.problem = problem, value;
  Values items;
  for (int64_t i = 0; i < array.count; ++i) items.push_back(value_of(load(array.data + i)));
  return Value(Value::Is::list, std::move(items));
}
inline Value value_of(const Tensor& tensor) {
  Value value;
  if (tensor.given) {
    const Value strides = tensor.strides.given ? value_of(tensor.strides, "") : Value();
    const auto stated = [](uint32_t number) { return number == 0 ? Value() : Value(int64_t(number)); };
    Value sizes = tensor.sizes.given ? value_of(tensor.sizes, "") : Value(Value::Is::list, Values());
    if (tensor.sizes.count < 0) sizes = Value();
    value = Value(Value::Is::tensor,
                  {word_value(enum_TENSOR_DATA_TYPE, tensor.type), sizes, strides, BigInt::of(tensor.total),
                   stated(tensor.alignment), stated(tensor.flags), Value(int64_t(tensor.kind))});
    if (!tensor.readable) value.problem = "is no buffer tensor of at most 64 dimensions";
  }
  return value.hollow = tensor.hollow, value;
}
inline Value value_of(const abi::TensorDesc& desc) { return value_of(read(&desc, false)); }

inline Value pair_value(std::string_view names, Value first, Value second) {
  Value value(Value::Is::pair, {std::move(first), std::move(second)});
  return value.word = names, value;
}

// The value of a member of an operator, nothing if it is omitted.
inline Value member_value(const void* description, const Member& member) {
  switch (member.shape) {
    case Shape::input:
    case Shape::output: return value_of(tensor(member.at<const abi::TensorDesc*>(description)));
    case Shape::inputs:
    case Shape::outputs: return value_of(member.array<abi::TensorDesc>(description), "has too many tensors");
    case Shape::all_fused: return value_of(member.array<abi::OperatorDesc>(description), "has too many operators");
    case Shape::numbers: return value_of(member.array<uint32_t>(description), "has too many elements");
    case Shape::integers: return value_of(member.array<int32_t>(description), "has too many elements");
    case Shape::reals: return value_of(member.array<float>(description), "has too many elements");
    case Shape::number: return value_of(member.get<uint32_t>(description));
    case Shape::integer: return value_of(member.get<int32_t>(description));
    case Shape::real: return value_of(member.get<float>(description));
    case Shape::word: return word_value(*member.words, member.get<uint32_t>(description));
    case Shape::scalar: {
      const uint32_t type = load(member_at<uint32_t>(description, member.by));
      return scalar(member.at<abi::ScalarUnion>(description), type, [](auto number) { return value_of(number); });
    }
    case Shape::size: {
      const auto size = member.get<abi::Size2D>(description);
      return pair_value("Width Height", value_of(size.Width), value_of(size.Height));
    }
    case Shape::scale_bias: {
      const ScaleAndBias pair = scale_bias(member.at<const abi::ScaleAndBias*>(description));
      return pair.given ? pair_value("Scale Bias", value_of(pair.Scale), value_of(pair.Bias)) : Value();
    }
    case Shape::fused: {
      const auto* desc = member.get<const abi::OperatorDesc*>(description);
      return desc == nullptr ? Value() : value_of(load(desc));
    }
    case Shape::truth: break;
  }
  Value value(Value::Is::truth, int64_t(member.get<uint32_t>(description)));
  if (compare(value.integer, BigInt(1)) > 0) value.problem = "is neither 0 nor 1";
  return value;
}

// The order of two values, 2 if they cannot be ordered.
inline int order(const Value& a, const Value& b) {
  if (a.is != Value::Is::real && b.is != Value::Is::real) return compare(a.integer, b.integer);
  const double one = a.floating(), other = b.floating();
  return one < other ? -1 : one > other ? 1 : one == other ? 0 : 2;
}
// The value of several conditions. decisive: the answer that decides it: true for any of them, false for all.
struct Joined {
  explicit Joined(bool decisive) : decisive(decisive), result(Value::truth(!decisive)) {}

  bool decisive;
  Value result;

  // Adds the next answer; returns whether the result is final.
  bool add(const Value& answer) {
    const bool decides = answer.is == Value::Is::truth && answer.is_true() == decisive;
    if (decides || answer.unknown() || (answer.none() && !result.unknown())) result = answer;
    return decides || answer.none();
  }
};
inline Value equal(const Value& a, const Value& b) {
  if (a.unknown() || b.unknown()) return Value(Value::Is::unknown);
  if (a.is_sequence() && b.is_sequence()) {
    Joined joined(false);
    bool done = joined.add(Value::truth(a.length() == b.length()));
    for (int64_t i = 0; i < a.length() && !done; ++i) done = joined.add(equal(a.item(i), b.item(i)));
    return joined.result;
  }
  if ((a.is == Value::Is::word) != (b.is == Value::Is::word)) return Value(Value::Is::unknown);
  if (a.is == Value::Is::word) return Value::truth(a.word == b.word);
  return Value::truth(a.is_number() && b.is_number() && order(a, b) == 0);
}
inline bool operator==(const Value& a, const Value& b) {
  if (a.none() || b.none() || a.unknown() || b.unknown()) return a.is == b.is;
  return equal(a, b).is_true();
}

// Adds an item that is not there yet.
template <class T>
inline void add(std::vector<T>& items, const T& item) {
  if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(item);
}
// Items in groups of those that are alike, in the order of their first ones.
template <class T, class F>
inline std::vector<std::vector<T>> group(const std::vector<T>& items, F alike) {
  std::vector<std::vector<T>> groups;
  for (const T& item : items) {
    auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return alike(group[0], item); });
    if (known == groups.end()) known = groups.emplace(known);
    known->push_back(item);
  }
  return groups;
}
// Texts as one, with separators: "a, b and c".
inline std::string join(const Texts& parts, const char* between = ", ", const char* last = " and ") {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : i + 1 == parts.size() ? last : between) + parts[i];
  return text;
}
// A pattern with texts in place of $0, $1 and so on.
inline std::string fill(std::string_view pattern, std::initializer_list<std::string_view> texts) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$') text += texts.begin()[pattern[++i] - '0'];
    else text += pattern[i];
  }
  return text;
}
// The name of a member of a pair.
inline std::string_view name_in_pair(const Value& pair, int64_t at) {
  const size_t space = pair.word.find(' ');
  return at == 0 ? pair.word.substr(0, space) : pair.word.substr(space + 1);
}

// A value as in messages. quoted: with quotes around words.
inline std::string to_text(const Value& value, bool quoted = false) {
  switch (value.is) {
    case Value::Is::truth: return value.is_true() ? "True" : "False";
    case Value::Is::real: return real_text(value.real);
    case Value::Is::word: return quoted ? fill("'$0'", {value.word}) : std::string(value.word);
    case Value::Is::integer: {
      const std::string text = value.integer.text();
      const size_t digits = text.size() - (value.integer.negative() ? 1 : 0);
      return digits <= 40 ? text : fill("an integer of $0 bits", {std::to_string(value.integer.bits())});
    }
    case Value::Is::pair: {
      const std::string first = to_text((*value.parts)[0]), second = to_text((*value.parts)[1]);
      const std::string text =
          fill("{'$0': $1, '$2': $3}", {name_in_pair(value, 0), first, name_in_pair(value, 1), second});
      return text.size() <= 60 ? text : text.substr(0, 59) + "\xE2\x80\xA6";
    }
    case Value::Is::fused: {
      const Layout* layout = layout_of(uint32_t(value.integer.value()));
      return layout == nullptr ? value.integer.text() : layout->name;
    }
    case Value::Is::list:
    case Value::Is::range: {
      constexpr int64_t most_items = 16;
      Texts items;
      for (int64_t i = 0; i < value.length() && i < most_items; ++i) items.push_back(to_text(value.item(i)));
      return "[" + join(items, ", ", ", ") + (value.length() > most_items ? ", \xE2\x80\xA6]" : "]");
    }
    default: return "unknown";
  }
}
