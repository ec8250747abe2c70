// Evaluation of rules on known values.

inline Value linked(Link link, const Value& left, const Value& right) {
  if (link == Link::among || link == Link::not_among) {
    if (right.open()) return right;
    bool open = false, found = false;
    for (int64_t i = 0; i < right.length() && !found; ++i) {
      const Value same = equal(left, right.item(i));
      found = same.true_();
      open = open || same.open();
    }
    return !found && open ? Value::unknown() : Value::truth(found == (link == Link::among));
  }
  if (link == Link::equal || link == Link::differs) {
    const Value same = equal(left, right);
    return same.open() ? same : Value::truth(same.flag == (link == Link::equal));
  }
  if (!left.number() || !right.number()) return Value::unknown();
  const int order = ordered(left, right);
  if (order == 2) return Value::truth(false);
  return Value::truth(link == Link::less      ? order < 0
                      : link == Link::at_most ? order <= 0
                      : link == Link::more    ? order > 0
                                              : order >= 0);
}

inline Whole count_of(const Tensor& tensor) {
  Whole found(1);
  for (int64_t d = 0; d < tensor.sizes.count; ++d) found = found * Whole(int64_t(load(tensor.sizes.data + d)));
  return found;
}
inline Whole reach_of(const Tensor& tensor) {
  if (!tensor.strides.given) return count_of(tensor);
  Whole found(1);
  for (int64_t d = 0; d < tensor.sizes.count; ++d) {
    const int64_t size = load(tensor.sizes.data + d);
    if (size == 0) return Whole(0);
    found = found + Whole(size - 1) * Whole(int64_t(load(tensor.strides.data + d)));
  }
  return found;
}

inline bool power_of_two(Whole number) {
  if (number.negative() || number.zero()) return false;
  Whole rest;
  while (compare(number, Whole(1)) > 0) {
    number = divided(number, Whole(2), rest);
    if (!rest.zero()) return false;
  }
  return true;
}
// Evaluates parts of rules. error: the message of the last part without a value.
class Evaluator {
 public:
  Evaluator(Memory& memory, const Context& context) : memory_(memory), context_(context) {}

  std::string error;

  Value value(const Node* node, const Scope* scope = nullptr) {
    switch (node->kind) {
      case Kind::constant: return Value::of(whole_of(node));
      case Kind::real: return Value::of_real(node->real);
      case Kind::text: return Value::of_word(node->text);
      case Kind::name: return name(node, scope);
      case Kind::attribute: return attribute(node, scope);
      case Kind::subscript: return subscript(node, scope);
      case Kind::call: return call(node, scope);
      case Kind::list: return list(node, scope);
      case Kind::any_of:
      case Kind::all_of: return joined(node, scope);
      case Kind::negation:
      case Kind::minus: return signed_(node, scope);
      case Kind::compare: return compared(node, scope);
      case Kind::choice: return choice(node, scope);
      case Kind::loop: return Value();
      default: return computed(node, scope);
    }
  }

  // Calls f(value of the variable, index, whether the iteration counts) per iteration of a loop until it returns false.
  template <class F>
  bool turns(const Node* loop, const Value& sequence, const Scope* scope, F f) {
    for (int64_t i = 0; i < sequence.length(); ++i) {
      if (++turns_ > most) return fail("its loops take more than " + std::to_string(most) + " turns"), false;
      const Value item = sequence.item(i);
      const Scope inner{loop->text, &item, scope};
      Value keep = Value::truth(true);
      for (size_t test = 2; test < loop->parts.size() && !keep.false_(); ++test) {
        const Value found = value(loop->parts[test], &inner);
        if (found.none() && !keep.open()) return false;
        keep = found.none() || found.open() ? Value::unknown() : keep.open() && found.true_() ? keep : found;
        if (found.none()) break;
      }
      if (!keep.false_() && !f(inner, i, keep)) return true;
    }
    return true;
  }
  Value turn(const Node* loop, const Scope* inner, const Value& keep, bool decisive) {
    const Value found = value(loop->parts[0], inner);
    if (keep.true_()) return found;
    return found.is == Value::Is::truth && found.flag != decisive ? found : Value::unknown();
  }

  bool absent(const Node* path) const {
    const Node* owner = path->kind == Kind::attribute ? path->parts[0] : path;
    const Value* found = context_.field(owner->text);
    if (found == nullptr || found->none()) return true;
    return path->kind == Kind::attribute && !found->open() && member(*found, path->text).none();
  }

  bool lacks(const Test& test) const {
    for (const Node* path : test.needs)
      if (absent(path)) return true;
    return false;
  }
  // Whether a rule holds; true if it does not apply.
  Value judged(const Rule& rule) {
    if (lacks(rule.require) || lacks(rule.when)) return Value::truth(true);
    const Value applies = rule.when.tree == nullptr ? Value::truth(true) : value(rule.when.tree);
    if (applies.none()) return applies;
    if (applies.false_()) return Value::truth(true);
    const Value held = value(rule.require.tree);
    return applies.true_() || held.true_() ? held : Value::unknown();
  }

  // The value of an attribute, none if it is omitted.
  Value member(const Value& owner, std::string_view name) const {
    if (owner.is == Value::Is::pair) return (*owner.parts)[name == "Width" || name == "Scale" ? 0 : 1];
    if (owner.is == Value::Is::held) {
      const Layout* layout = layout_of(owner.held.type);
      for (uint32_t i = 0; layout != nullptr && owner.held.desc != nullptr && i < layout->members.count; ++i)
        if (spells(layout->members[i].name, name)) return member_value(memory_, owner.held.desc, layout->members[i]);
      return Value();
    }
    const Tensor& tensor = *owner.tensor;
    if (!stated(tensor)) return Value();
    if (name == "sizes") return Value::of_view(View::Of::whole, tensor.sizes.data, tensor.sizes.count);
    if (name == "strides")
      return tensor.strides.given ? Value::of_view(View::Of::whole, tensor.strides.data, tensor.strides.count)
                                  : Value();
    if (name == "TotalTensorSizeInBytes") return Value::of(Whole::of(tensor.total));
    const uint32_t number = name == "Flags" ? tensor.flags : tensor.alignment;
    return number == 0 ? Value() : Value::of(Whole(int64_t(number)));
  }

  std::string_view type_word(uint32_t type) const {
    const char* word = word_of(enum_TENSOR_DATA_TYPE, type);
    if (word != nullptr) return word;
    return memory_.arena.number(type);
  }

 private:
  static constexpr int64_t most = 100000;
  Memory& memory_;
  const Context& context_;
  int64_t turns_ = 0;

  Value fail(std::string why) { return error = std::move(why), Value(); }
  static bool element(const Node* node, const Scope* scope) {
    return node->kind == Kind::name ? variable(scope, node->text) != nullptr : node->kind == Kind::subscript;
  }

  Value name(const Node* node, const Scope* scope) {
    if (const Value* found = variable(scope, node->text)) return *found;
    if (const Node* meaning = context_.define(node->text)) return value(meaning);
    if (const Value* found = context_.field(node->text)) return found->none() ? Value::unknown() : *found;
    int64_t number = 0;
    if (limit_named(node->text, context_.place, number)) return Value::of(Whole(number));
    return Value::of_word(node->text);
  }

  Value attribute(const Node* node, const Scope* scope) {
    const Node* from = node->parts[0];
    const Value owner = value(from, scope);
    if (owner.none() || owner.open()) return owner;
    if (owner.is != Value::Is::tensor && owner.is != Value::Is::held && owner.is != Value::Is::pair)
      return fail(Spelling::of(from) + " is something else");
    const Value found = member(owner, node->text);
    if (!found.none()) return found;
    if (node->text != "sizes" && element(from, scope)) return fail(Spelling::of(node) + " is left out");
    return Value::unknown();
  }

  Value subscript(const Node* node, const Scope* scope) {
    const Value sequence = value(node->parts[0], scope);
    if (sequence.none()) return sequence;
    const Value index = value(node->parts[1], scope);
    if (index.none()) return index;
    if (sequence.open() || !index.number()) return Value::unknown();
    const Whole at = index.integer();
    if (index.is != Value::Is::real && !at.negative() && compare(at, Whole(sequence.length())) < 0)
      return sequence.item(at.value());
    const std::string number = index.is == Value::Is::real ? real_text(index.real) : at.text();
    return fail(Spelling::of(node) + ": index " + number + " of " + std::to_string(sequence.length()));
  }

  Value joined(const Node* node, const Scope* scope) {
    const bool decisive = node->kind == Kind::any_of;
    bool open = false;
    for (const Node* part : node->parts) {
      const Value found = value(part, scope);
      if (found.none()) return open ? Value::unknown() : found;
      if (found.open()) {
        open = true;
      } else if (found.is == Value::Is::truth && found.flag == decisive) {
        return found;
      }
    }
    return open ? Value::unknown() : Value::truth(!decisive);
  }

  Value signed_(const Node* node, const Scope* scope) {
    Value found = value(node->parts[0], scope);
    if (found.none()) return found;
    if (!found.number()) return Value::unknown();
    if (node->kind == Kind::negation)
      return Value::truth(found.is == Value::Is::real ? found.real == 0 : found.integer().zero());
    return found.is == Value::Is::real ? Value::of_real(-found.real) : Value::of(-found.integer());
  }

  Value computed(const Node* node, const Scope* scope) {
    const Value left = value(node->parts[0], scope);
    if (left.none()) return left;
    const Value right = value(node->parts[1], scope);
    if (right.none()) return right;
    if (!left.number() || !right.number()) return Value::unknown();
    if (left.is == Value::Is::real || right.is == Value::Is::real)
      return of_reals(node, left.floating(), right.floating());
    const Whole a = left.integer(), b = right.integer();
    if (node->kind == Kind::sum) return Value::of(a + b);
    if (node->kind == Kind::difference) return Value::of(a - b);
    if (node->kind == Kind::product) return Value::of(a * b);
    const bool modulo = node->kind == Kind::modulo;
    if (b.zero()) return fail(Spelling::of(node) + ": " + by_zero[modulo ? 1 : 0]);
    Whole rest;
    Whole result = divided(a, b, rest);
    return Value::of(modulo ? rest : result);
  }

  Value of_reals(const Node* node, double a, double b) {
    if (node->kind == Kind::sum) return Value::of_real(a + b);
    if (node->kind == Kind::difference) return Value::of_real(a - b);
    if (node->kind == Kind::product) return Value::of_real(a * b);
    const bool modulo = node->kind == Kind::modulo;
    if (b == 0) return fail(Spelling::of(node) + ": " + real_by_zero[modulo ? 1 : 0]);
    double rest = std::fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
    if (rest == 0) rest = std::copysign(0.0, b);
    return Value::of_real(modulo ? rest : std::round((a - rest) / b));
  }

  Value compared(const Node* node, const Scope* scope) {
    Value left = value(node->parts[0], scope);
    if (left.none()) return left;
    bool open = false;
    for (size_t i = 0; i < node->links.size(); ++i) {
      Value right = value(node->parts[i + 1], scope);
      if (right.none()) return open ? Value::unknown() : right;
      const Value found = linked(node->links[i], left, right);
      if (found.false_()) return found;
      open = open || found.open();
      left = std::move(right);
    }
    return open ? Value::unknown() : Value::truth(true);
  }

  Value choice(const Node* node, const Scope* scope) {
    const Value test = value(node->parts[0], scope);
    if (test.none()) return test;
    if (!test.open()) return value(node->parts[test.true_() ? 1 : 2], scope);
    const Value first = value(node->parts[1], scope), second = value(node->parts[2], scope);
    return !first.none() && !second.none() && equal(first, second).true_() ? first : Value::unknown();
  }

  Value list(const Node* node, const Scope* scope) {
    std::vector<Value> parts;
    for (const Node* part : node->parts) {
      parts.push_back(value(part, scope));
      if (parts.back().none()) return Value();
    }
    return Value::of_parts(Value::Is::list, std::move(parts));
  }

  Value quantified(const Node* loop, const Scope* scope, bool decisive) {
    const Value sequence = value(loop->parts[1], scope);
    if (sequence.none() || sequence.open()) return sequence;
    bool open = false, decided = false, broken = false;
    const bool whole = turns(loop, sequence, scope, [&](const Scope& inner, int64_t, const Value& keep) {
      const Value found = turn(loop, &inner, keep, decisive);
      broken = found.none();
      open = open || found.open();
      decided = found.is == Value::Is::truth && found.flag == decisive;
      return !broken && !decided;
    });
    if (decided) return Value::truth(decisive);
    if (open) return Value::unknown();
    return broken || !whole ? Value() : Value::truth(!decisive);
  }

 public:
  // The items of a loop, unknown if it is unknown which ones.
  Value collected(const Node* loop, const Scope* scope) {
    const Value sequence = value(loop->parts[1], scope);
    if (sequence.none() || sequence.open()) return sequence;
    std::vector<Value> parts;
    bool open = false, broken = false;
    const bool whole = turns(loop, sequence, scope, [&](const Scope& inner, int64_t, const Value& keep) {
      if (keep.open()) return open = true, false;
      parts.push_back(value(loop->parts[0], &inner));
      return !(broken = parts.back().none());
    });
    if (open) return Value::unknown();
    return broken || !whole ? Value() : Value::of_parts(Value::Is::list, std::move(parts));
  }

 private:
  Value call(const Node* node, const Scope* scope) {
    const std::string_view name = node->text;
    const Node* argument = node->parts[0];
    if (name == "all" || name == "any") return quantified(argument, scope, name == "any");
    if (name == "present") return present(argument, scope);
    const Value found = is_loop(argument) ? collected(argument, scope) : value(argument, scope);
    if (found.none() || found.open()) return found;
    if (name == "operator") {
      const Layout* layout = layout_of(found.held.type);
      return layout == nullptr ? Value::of(Whole(int64_t(found.held.type))) : Value::of_word(layout->name);
    }
    if (found.is == Value::Is::tensor) return of_tensor(name, *found.tensor);
    return of_numbers(name, node, found);
  }

  Value present(const Node* argument, const Scope* scope) {
    if (argument->kind != Kind::attribute || !element(argument->parts[0], scope))
      return Value::truth(!absent(argument));
    const Value owner = value(argument->parts[0], scope);
    if (owner.none() || owner.open()) return owner;
    return Value::truth(!member(owner, argument->text).none());
  }

  Value of_tensor(std::string_view name, const Tensor& tensor) {
    if (!stated(tensor)) return Value::unknown();
    if (name == "rank") return Value::of(Whole(tensor.sizes.count));
    if (name == "dims") return Value::of_view(View::Of::count, nullptr, tensor.sizes.count);
    if (name == "type") return tensor.type == no_type ? Value::unknown() : Value::of_word(type_word(tensor.type));
    if (name == "elements") return Value::of(count_of(tensor));
    if (name == "extent") return Value::of(reach_of(tensor));
    const int64_t bits = known_bits(tensor.type);
    if (bits == 0) return Value::unknown();
    if (name == "bits") return Value::of(Whole(bits));
    Whole rest;
    return Value::of(divided(reach_of(tensor) * Whole(bits) + Whole(31), Whole(32), rest) * Whole(4));
  }
  Value of_numbers(std::string_view name, const Node* node, const Value& found) {
    if (name == "len") return Value::of(Whole(found.length()));
    const int64_t count = found.sequence() ? found.length() : 1;
    for (int64_t i = 0; i < count; ++i)
      if (!(found.sequence() ? found.item(i) : found).number()) return Value::unknown();
    if (name == "range") {
      const Whole stop = found.integer();
      if (compare(stop, Whole(int64_t(most_turns))) > 0)
        return fail(Spelling::of(node) + ": range(" + stop.text() + ") is longer than " + std::to_string(most_turns));
      return Value::of_view(View::Of::count, nullptr, stop.negative() ? 0 : stop.value());
    }
    if (name == "abs" && found.is == Value::Is::real) return Value::of_real(std::fabs(found.real));
    if (name == "abs") return Value::of(found.integer().negative() ? -found.integer() : found.integer());
    if (name == "int")
      return found.is == Value::Is::real ? Value::of(Whole(int64_t(found.real))) : Value::of(found.integer());
    if (name == "power_of_two") return Value::truth(power_of_two(found.integer()));
    return folded(name, node, found);
  }
  // The sum, product, minimum or maximum of several numbers.
  Value folded(std::string_view name, const Node* node, const Value& found) {
    const bool adds = name == "sum", multiplies = name == "product";
    Value made = Value::of(Whole(multiplies ? 1 : 0));
    for (int64_t i = 0; i < found.length(); ++i) {
      const Value item = found.item(i);
      if (adds || multiplies) {
        const bool real = made.is == Value::Is::real || item.is == Value::Is::real;
        const double a = real ? made.floating() : 0, b = real ? item.floating() : 0;
        if (real) made = Value::of_real(adds ? a + b : a * b);
        else made = Value::of(adds ? made.integer() + item.integer() : made.integer() * item.integer());
      } else if (i == 0 || ordered(item, made) == (name == "max" ? 1 : -1)) {
        made = item;
      }
    }
    if (found.length() == 0 && !adds && !multiplies)
      return fail(Spelling::of(node) + ": " + std::string(name) + "() of nothing");
    return made;
  }
};
