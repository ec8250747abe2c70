// Parts of a description that a fix may set, and how to set them.

// at: the dimension, element or member. told: the name of a dimension in messages.
struct Spot {
  enum class Kind : uint8_t { set, element, member, length, absent, given, strides, size, sizes, rank, type, elements };
  Kind kind = Kind::set;
  std::string_view field = {};
  int64_t item = -1, at = 0;
  std::string_view told = {};

  bool operator==(const Spot& other) const {
    return kind == other.kind && field == other.field && item == other.item && at == other.at && told == other.told;
  }
  bool same_owner(const Spot& other) const { return field == other.field && item == other.item; }
};

inline bool same_values(const Value& a, const Value& b) {
  if (a.none() || b.none() || a.open() || b.open()) return a.is == b.is;
  return equal(a, b).true_();
}

class Places : public Resolving {
 public:
  using Resolving::Resolving;
  using Spots = std::vector<Spot>;

  // The part that an expression reads, none if it computes something.
  Spots place_of(const Node* node) {
    node = resolved(node);
    switch (node->kind) {
      case Kind::name: {
        const Value* held = context.field(node->text);
        const bool whole =
            held == nullptr || held->sequence() || held->is == Value::Is::tensor || held->is == Value::Is::pair;
        return whole ? Spots() : Spots{Spot{Spot::Kind::set, node->text}};
      }
      case Kind::attribute: return of_attribute(node);
      case Kind::subscript: return of_element(node);
      case Kind::call: return of_call(node->text, node->parts[0]);
      default: return {};
    }
  }

 private:
  Spots of_attribute(const Node* node) {
    if (node->text == "sizes") return of_tensor(Spot::Kind::sizes, node->parts[0]);
    const Value* held = node->parts[0]->kind == Kind::name ? context.field(node->parts[0]->text) : nullptr;
    if (held == nullptr || held->is != Value::Is::pair) return {};
    Spot made{Spot::Kind::member, node->parts[0]->text};
    made.at = node->text == "Width" || node->text == "Scale" ? 0 : 1;
    return {made};
  }
  Spots of_element(const Node* node) {
    const Value index = value_of(node->parts[1]);
    if (index.is != Value::Is::whole || !index.whole.is_small() || index.whole.negative()) return {};
    const Node* sequence = resolved(node->parts[0]);
    if (sequence->kind == Kind::attribute && sequence->text == "sizes") {
      Spots found = of_tensor(Spot::Kind::size, sequence->parts[0]);
      int64_t told = 0;
      if (found.empty() || !dimension(memory.subscript(sequence, node->parts[1]), told)) return {};
      found[0].at = index.whole.value();
      found[0].told = memory.arena.number(told);
      return found;
    }
    const Value* held = sequence->kind == Kind::name ? context.field(sequence->text) : nullptr;
    if (held == nullptr || !numbers(*held)) return {};
    Spot made{Spot::Kind::element, sequence->text};
    made.at = index.whole.value();
    return {made};
  }
  Spots of_call(std::string_view name, const Node* argument) {
    if (name == "int") return place_of(argument);
    if (name == "rank") return of_tensor(Spot::Kind::rank, argument);
    if (name == "type") return of_tensor(Spot::Kind::type, argument);
    if (name == "elements") return of_tensor(Spot::Kind::elements, argument);
    if (name != "len") return {};
    const Node* found = resolved(argument);
    const Value* held = found->kind == Kind::name ? context.field(found->text) : nullptr;
    return held != nullptr && numbers(*held) && held->length() > 0 ? Spots{Spot{Spot::Kind::length, found->text}}
                                                                   : Spots();
  }
  Spots of_tensor(Spot::Kind kind, const Node* owner) {
    owner = resolved(owner);
    const bool element = owner->kind == Kind::subscript && owner->parts[0]->kind == Kind::name;
    const Node* name = element ? owner->parts[0] : owner;
    const Value* held = name->kind == Kind::name ? context.field(name->text) : nullptr;
    if (held == nullptr) return {};
    if (!element) return held->is == Value::Is::tensor ? Spots{Spot{kind, name->text}} : Spots();
    const Value item = value_of(owner->parts[1]);
    const bool there = item.is == Value::Is::whole && item.whole.is_small() && !item.whole.negative() &&
                       held->sequence() && item.whole.value() < held->length();
    return there ? Spots{Spot{kind, name->text, item.whole.value()}} : Spots();
  }
  static bool numbers(const Value& held) {
    return held.sequence() && !(held.is == Value::Is::view && held.view.of == View::Of::tensor);
  }
};

// Sets parts; new objects are in the arena.
class Changing {
 public:
  explicit Changing(Memory& memory) : memory_(memory) {}

  // Sets a value in a context; returns whether a structure can hold it.
  bool set(Context& context, const Spot& spot, const Value& value) {
    if (context.tensor != nullptr) {
      memory_.values.push_front(*context.tensor);
      if (!made(memory_.values.front(), spot, value)) return false;
      context.tensor = &memory_.values.front();
      return true;
    }
    return made(*const_cast<Value*>(context.field(spot.field)), spot, value);
  }

 private:
  Memory& memory_;

  bool made(Value& held, const Spot& spot, const Value& value) {
    switch (spot.kind) {
      case Spot::Kind::set:
      case Spot::Kind::given: held = value; return true;
      case Spot::Kind::absent: held = Value(); return true;
      case Spot::Kind::member: {
        std::vector<Value> parts = *held.parts;
        parts[size_t(spot.at)] = value;
        const bool flag = held.flag;
        held = Value::of_parts(Value::Is::pair, std::move(parts));
        return held.flag = flag, true;
      }
      case Spot::Kind::element:
      case Spot::Kind::length: return array(held, spot, value);
      default: break;
    }
    if (spot.item < 0) {
      Tensor* const changed = memory_.arena.keep(*held.tensor);
      held.tensor = changed;
      return tensor(*changed, spot, value);
    }
    Tensor* const several = memory_.arena.array<Tensor>(size_t(held.length()));
    for (int64_t i = 0; i < held.length(); ++i) new (several + i) Tensor(*held.item(i).tensor);
    held.view.data = several;
    return tensor(several[size_t(spot.item)], spot, value);
  }

  static bool array(Value& held, const Spot& spot, const Value& value) {
    std::vector<Value> items;
    for (int64_t i = 0; i < held.length(); ++i) items.push_back(held.item(i));
    if (spot.kind == Spot::Kind::element) {
      if (spot.at >= held.length()) return false;
      items[size_t(spot.at)] = value;
    } else {
      if (value.is != Value::Is::whole || items.empty()) return false;
      const Value last = items.back();
      items.resize(size_t(value.whole.value()), last);
    }
    held = Value::of_parts(Value::Is::list, std::move(items));
    return true;
  }

  bool tensor(Tensor& tensor, const Spot& spot, const Value& value) {
    if (spot.kind == Spot::Kind::type) {
      for (uint32_t i = 0; i < enum_TENSOR_DATA_TYPE.count; ++i)
        if (value.is == Value::Is::word && spells(enum_TENSOR_DATA_TYPE.words[i].word, value.word))
          return tensor.type = enum_TENSOR_DATA_TYPE.words[i].number, true;
      return false;
    }
    std::vector<Whole> sizes;
    for (int64_t i = 0; i < tensor.sizes.count; ++i) sizes.push_back(Whole(int64_t(load(tensor.sizes.data + i))));
    const bool number = value.is == Value::Is::whole && value.whole.is_small();
    if (spot.kind == Spot::Kind::size) {
      if (!number || size_t(spot.at) >= sizes.size()) return false;
      sizes[size_t(spot.at)] = value.whole;
    } else if (spot.kind == Spot::Kind::sizes) {
      sizes.clear();
      for (int64_t i = 0; i < value.length(); ++i) sizes.push_back(value.item(i).whole);
    } else if (spot.kind == Spot::Kind::rank) {
      if (!number) return false;
      while (int64_t(sizes.size()) < value.whole.value()) sizes.insert(sizes.begin(), Whole(1));
      sizes.erase(sizes.begin(), sizes.begin() + (int64_t(sizes.size()) - value.whole.value()));
    } else if (spot.kind == Spot::Kind::elements) {
      const size_t rank = sizes.size();
      sizes.assign(rank == 0 ? 0 : rank - 1, Whole(1));
      if (rank != 0 || compare(value.whole, Whole(1)) != 0) sizes.push_back(value.whole);
    }
    uint32_t* const made = memory_.arena.array<uint32_t>(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Whole& size = sizes[i];
      if (!size.is_small() || size.negative() || size.value() > int64_t(UINT32_MAX)) return false;
      made[i] = uint32_t(size.value());
    }
    tensor.sizes.data = made;
    tensor.sizes.count = int64_t(sizes.size());
    tensor.strides = Sizes();
    return true;
  }
};
