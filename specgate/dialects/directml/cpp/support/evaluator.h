// Evaluation of rules on the values of a description, in three-valued logic: a part may be unknown, or without a value.

// A text with another one in place of a name.
inline std::string replace_name(std::string_view text, std::string_view name, std::string_view other) {
  const auto in_name = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  std::string result;
  for (size_t at = 0, end; at < text.size(); at = end) {
    for (end = at + 1; end < text.size() && in_name(text[at]) && in_name(text[end]);) ++end;
    const std::string_view token = text.substr(at, end - at);
    result += token == name ? other : token;
  }
  return result;
}

// Owns the expressions that an explanation derives from rules.
class Pool {
 public:
  const Node* subscript(const Node* sequence, int64_t index) {
    const Node* const at = number(index);
    return keep(Node{Kind::subscript, keep(fill("$0[$1]", {sequence->text, at->text}))}, {*sequence, *at});
  }
  const Node* number(int64_t value) {
    Node node{Kind::constant, keep(std::to_string(value))};
    return node.number = value, keep(node, {});
  }
  // An expression with another one in place of a variable.
  const Node* substitute(const Node* node, std::string_view variable, const Node* other) {
    if (node->kind == Kind::variable) return node->name == variable ? other : node;
    std::vector<Node> parts;
    bool changed = false;
    for (const Node& part : node->parts) {
      const Node* const replaced = substitute(&part, variable, other);
      changed = changed || replaced != &part;
      parts.push_back(*replaced);
    }
    if (!changed) return node;
    Node result = *node;
    result.text = keep(replace_name(node->text, variable, other->text));
    return keep(result, std::move(parts));
  }

 private:
  std::forward_list<std::vector<Node>> rows_ = {};
  std::forward_list<std::string> texts_ = {};

  std::string_view keep(std::string text) { return texts_.emplace_front(std::move(text)); }
  const Node* keep(Node node, std::vector<Node> parts) {
    node.parts.count = parts.size();
    node.parts.data = rows_.emplace_front(std::move(parts)).data();
    return rows_.emplace_front(1, node).data();
  }
};

// What rules read at a level: the members of an operator, or one tensor. place: the position of the level. tensor: the
// name of that tensor, empty for an operator.
struct Context {
  Pool* pool;
  const Layout* layout;
  uint32_t place;
  Span<Member> members;
  Values fields;
  std::string tensor = {};

  Context(Pool& pool, const Layout& layout, const void* description, uint32_t place)
      : pool(&pool), layout(&layout), place(place), members(layout.members) {
    for (const Member& member : members) fields.push_back(member_value(description, member));
  }
  // The context of the rules for all tensors.
  Context of_tensor(size_t field, int64_t item) const {
    Context alone = *this;
    alone.members = {&members[field], 1};
    alone.fields = {item < 0 ? fields[field] : fields[field].item(item)};
    return alone.tensor = name(field, item), alone;
  }

  std::string name(size_t field, int64_t item = -1) const {
    const std::string name = tensor.empty() ? members[field].name : tensor;
    return item < 0 ? name : fill("$0[$1]", {name, std::to_string(item)});
  }
};

// The variables of the loops around a part.
struct Scope {
  std::string_view name;
  const Value* value;
  const Scope* outer;
};

inline Value compare(Link link, const Value& left, const Value& right) {
  if (link == Link::equal || link == Link::differs || link == Link::among || link == Link::not_among) {
    Joined same(true);
    if (right.unknown() || link < Link::less) same.add(equal(left, right));
    else
      for (int64_t i = 0; i < right.length() && !same.add(equal(left, right.item(i)));) ++i;
    return same.result.unknown() ? same.result
                                 : Value::truth(same.result.is_true() == (link == Link::equal || link == Link::among));
  }
  if (!left.is_number() || !right.is_number()) return Value(Value::Is::unknown);
  const int sign = order(left, right);
  return Value::truth(link == Link::less      ? sign < 0
                      : link == Link::at_most ? sign <= 0
                                              : sign < 2 && sign >= (link == Link::more ? 1 : 0));
}

// error: the message of the last part without a value.
class Evaluator {
 public:
  explicit Evaluator(const Context& context) : context_(context) {}

  std::string error;

  Value value(const Node* node, const Scope* scope = nullptr) {
    switch (node->kind) {
      case Kind::constant: return node->name.empty() ? BigInt(node->number) : BigInt::parse(node->name);
      case Kind::real: return Value::of_real(node->real);
      case Kind::text:
      case Kind::word: return Value::of_word(node->name, uint32_t(node->number));
      case Kind::variable:
        while (scope->name != node->name) scope = scope->outer;
        return *scope->value;
      case Kind::field: {
        const Value& field = context_.fields[size_t(node->number)];
        return field.none() ? unknown() : field;
      }
      case Kind::limit: return Value(limits[node->number][context_.place]);
      case Kind::define: return value(node->part(0));
      case Kind::attribute: return attribute(node, scope);
      case Kind::subscript: return subscript(node, scope);
      case Kind::call: return call(node, scope);
      case Kind::list: return list(node, scope);
      case Kind::any_of:
      case Kind::all_of: return joined(node, scope);
      case Kind::compare: return compared(node, scope);
      case Kind::choice: return choice(node, scope);
      case Kind::loop: return Value();
      default: return computed(node, scope);
    }
  }

  // Calls f(scope, index, whether the iteration counts) per iteration of a loop until it returns false; returns whether
  // the loop has a value so far.
  template <class F>
  bool each_turn(const Node* loop, const Value& sequence, const Scope* scope, F f) {
    for (int64_t i = 0; i < sequence.length(); ++i) {
      if (++turns_ > most) return fail("its loops take more than " + std::to_string(most) + " turns"), false;
      const Value item = sequence.item(i);
      const Scope inner{loop->name, &item, scope};
      Value counts = Value::truth(true);
      for (size_t test = 2; test < loop->parts.size() && !counts.is_false(); ++test) {
        const Value answer = value(loop->part(test), &inner);
        if (answer.none() && !counts.unknown()) return false;
        if (answer.none() || answer.unknown()) counts = unknown();
        else if (!counts.unknown() || answer.is_false()) counts = answer;
        if (answer.none()) break;
      }
      if (!counts.is_false() && !f(inner, i, counts)) return true;
    }
    return true;
  }
  // The value of an iteration of any() or all(): decisive ends the loop.
  Value turn(const Node* loop, const Scope* inner, const Value& counts, bool decisive) {
    const Value answer = value(loop->part(0), inner);
    return counts.is_true() || (answer.is == Value::Is::truth && answer.is_true() != decisive) ? answer : unknown();
  }

  // Whether the field or attribute at a path is omitted.
  bool absent(const Node* path) const {
    const Node* owner = path->kind == Kind::attribute ? path->part(0) : path;
    const Value& field = context_.fields[size_t(owner->number)];
    return field.none() || (path->kind == Kind::attribute && !field.unknown() && member(field, path).none());
  }
  bool lacks(const Test& test) const {
    return std::any_of(test.needs.begin(), test.needs.end(), [&](const Node& path) { return absent(&path); });
  }
  bool applies(const Rule& rule) const { return !lacks(rule.require) && !lacks(rule.when); }
  // Whether a rule that is not lacking a field holds.
  Value evaluate(const Rule& rule) {
    const Value condition = rule.when.tree == nullptr ? Value::truth(true) : value(rule.when.tree);
    if (condition.none()) return condition;
    if (condition.is_false()) return Value::truth(true);
    const Value answer = value(rule.require.tree);
    return condition.is_true() || answer.is_true() ? answer : unknown();
  }

  // The items of a loop, unknown if it is unknown which ones.
  Value collect(const Node* loop, const Scope* scope = nullptr) {
    const Value sequence = value(loop->part(1), scope);
    if (sequence.none() || sequence.unknown()) return sequence;
    Values items;
    Value failure;
    const bool complete = each_turn(loop, sequence, scope, [&](const Scope& inner, int64_t, const Value& counts) {
      if (counts.unknown()) return failure = counts, false;
      items.push_back(value(loop->part(0), &inner));
      return !items.back().none();
    });
    const bool broken = !complete || (!items.empty() && items.back().none());
    return broken || failure.unknown() ? failure : Value(Value::Is::list, std::move(items));
  }

 private:
  static constexpr int64_t most = 100000;
  const Context& context_;
  int64_t turns_ = 0;

  static Value unknown() { return Value(Value::Is::unknown); }
  Value fail(std::string why) { return error = std::move(why), Value(); }
  static bool element(const Node* node) { return node->kind == Kind::variable || node->kind == Kind::subscript; }
  // The value of an attribute, nothing if it is omitted.
  static Value member(const Value& owner, const Node* attribute) {
    if (owner.is != Value::Is::fused) return (*owner.parts)[size_t(attribute->number)];
    const Member* member = fused_member({true, uint32_t(owner.integer.value()), owner.desc}, attribute->name);
    return member == nullptr ? Value() : member_value(owner.desc, *member);
  }

  Value attribute(const Node* node, const Scope* scope) {
    const Node* from = node->part(0);
    const Value owner = value(from, scope);
    if (owner.none() || owner.unknown()) return owner;
    if (owner.is < Value::Is::tensor) return fail(std::string(from->text) + " is something else");
    const Value part = member(owner, node);
    if (!part.none()) return part;
    return element(from) ? fail(std::string(node->text) + " is left out") : unknown();
  }

  Value subscript(const Node* node, const Scope* scope) {
    const Value sequence = value(node->part(0), scope);
    if (sequence.none()) return sequence;
    const Value index = value(node->part(1), scope);
    if (index.none()) return index;
    if (sequence.unknown() || !index.is_number()) return unknown();
    if (index.is != Value::Is::real && compare(index.integer, BigInt(sequence.length())) < 0 &&
        !index.integer.negative())
      return sequence.item(index.integer.value());
    const std::string number = index.is == Value::Is::real ? real_text(index.real) : index.integer.text();
    return fail(std::string(node->text) + ": index " + number + " of " + std::to_string(sequence.length()));
  }

  // The value of `and` or `or`.
  Value joined(const Node* node, const Scope* scope) {
    Joined joined(node->kind == Kind::any_of);
    for (const Node& part : node->parts)
      if (joined.add(value(&part, scope))) break;
    return joined.result;
  }

  Value computed(const Node* node, const Scope* scope) {
    const Value left = value(node->part(0), scope);
    if (left.none()) return left;
    if (node->kind == Kind::negation || node->kind == Kind::minus) {
      if (!left.is_number()) return unknown();
      const bool real = left.is == Value::Is::real;
      if (node->kind == Kind::negation) return Value::truth(real ? left.real == 0 : left.integer.zero());
      return real ? Value::of_real(-left.real) : Value(-left.integer);
    }
    const Value right = value(node->part(1), scope);
    if (right.none()) return right;
    if (!left.is_number() || !right.is_number()) return unknown();
    const bool real = left.is == Value::Is::real || right.is == Value::Is::real, modulo = node->kind == Kind::modulo;
    if ((modulo || node->kind == Kind::quotient) && order(right, Value(BigInt(0))) == 0)
      return fail(std::string(node->text) + ": " + (real ? real_by_zero : by_zero)[modulo ? 1 : 0]);
    if (real) return Value::of_real(compute(node->kind, left.floating(), right.floating()));
    const BigInt &a = left.integer, &b = right.integer;
    BigInt rest;
    switch (node->kind) {
      case Kind::sum: return a + b;
      case Kind::difference: return a - b;
      case Kind::product: return a * b;
      default: break;
    }
    const BigInt quotient = divide(a, b, rest);
    return modulo ? rest : quotient;
  }
  static double compute(Kind kind, double a, double b) {
    if (kind == Kind::sum) return a + b;
    if (kind == Kind::difference) return a - b;
    if (kind == Kind::product) return a * b;
    double rest = std::fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
    if (rest == 0) rest = std::copysign(0.0, b);
    return kind == Kind::modulo ? rest : std::round((a - rest) / b);
  }

  Value compared(const Node* node, const Scope* scope) {
    Joined joined(false);
    Value left = value(node->part(0), scope);
    if (left.none()) return left;
    for (size_t i = 0; i < node->links.size(); ++i) {
      Value right = value(node->part(i + 1), scope);
      if (joined.add(right.none() ? right : compare(node->links[i], left, right))) break;
      left = std::move(right);
    }
    return joined.result;
  }

  Value choice(const Node* node, const Scope* scope) {
    const Value test = value(node->part(0), scope);
    if (test.none()) return test;
    if (!test.unknown()) return value(node->part(test.is_true() ? 1 : 2), scope);
    const Value first = value(node->part(1), scope), second = value(node->part(2), scope);
    return !first.none() && !second.none() && equal(first, second).is_true() ? first : unknown();
  }

  Value list(const Node* node, const Scope* scope) {
    Values items;
    for (const Node& part : node->parts) {
      items.push_back(value(&part, scope));
      if (items.back().none()) return Value();
    }
    return Value(Value::Is::list, std::move(items));
  }

  // The value of any() or all().
  Value quantified(const Node* loop, const Scope* scope, bool decisive) {
    const Value sequence = value(loop->part(1), scope);
    if (sequence.none() || sequence.unknown()) return sequence;
    Joined joined(decisive);
    const bool complete = each_turn(loop, sequence, scope, [&](const Scope& inner, int64_t, const Value& counts) {
      return !joined.add(turn(loop, &inner, counts, decisive));
    });
    if (!complete) joined.add(Value());
    return joined.result;
  }

  Value call(const Node* node, const Scope* scope) {
    const std::string_view name = node->name;
    const Node* argument = node->part(0);
    if (name == "all" || name == "any") return quantified(argument, scope, name == "any");
    if (name == "present") return present(argument, scope);
    const Value input = argument->kind == Kind::loop ? collect(argument, scope) : value(argument, scope);
    if (input.none() || input.unknown()) return input;
    if (name == "operator") {
      const Layout* layout = layout_of(uint32_t(input.integer.value()));
      return layout == nullptr ? Value(input.integer) : Value::of_word(layout->name);
    }
    return input.is == Value::Is::tensor ? of_tensor(name, input) : of_numbers(name, node, input);
  }

  Value present(const Node* argument, const Scope* scope) {
    if (argument->kind != Kind::attribute || !element(argument->part(0))) return Value::truth(!absent(argument));
    const Value owner = value(argument->part(0), scope);
    return owner.none() || owner.unknown() ? owner : Value::truth(!member(owner, argument).none());
  }

  // The number of elements from the first to the last one, inclusive.
  static BigInt extent(const Value& tensor) {
    const Value sizes = tensor_part(tensor, sizes_part), strides = tensor_part(tensor, strides_part);
    BigInt elements(1);
    for (int64_t d = 0; d < sizes.length(); ++d) {
      const BigInt size = sizes.item(d).integer;
      if (size.zero()) return BigInt(0);
      elements = strides.none() ? elements * size : elements + (size - BigInt(1)) * strides.item(d).integer;
    }
    return elements;
  }
  static Value of_tensor(std::string_view name, const Value& tensor) {
    const Value sizes = tensor_part(tensor, sizes_part), type = tensor_part(tensor, type_part);
    if (sizes.unknown() || name == "type") return type;
    if (name == "rank") return BigInt(sizes.length());
    if (name == "dims") return Value(Value::Is::range, sizes.length());
    if (name == "elements") return extent(tensor.with(strides_part, Value()));
    if (name == "extent") return extent(tensor);
    const BigInt bits = known_bits(uint32_t(type.integer.value()));
    if (bits.zero()) return unknown();
    BigInt rest;
    return name == "bits" ? bits : divide(extent(tensor) * bits + BigInt(31), BigInt(32), rest) * BigInt(4);
  }

  Value of_numbers(std::string_view name, const Node* node, const Value& input) {
    if (name == "len") return BigInt(input.length());
    if (!input.is_sequence() && !input.is_number()) return unknown();
    for (int64_t i = 0; i < input.length(); ++i)
      if (!input.item(i).is_number()) return unknown();
    const bool real = input.is == Value::Is::real;
    if (name == "range") {
      if (compare(input.integer, BigInt(int64_t(most_turns))) > 0)
        return fail(std::string(node->text) + ": range(" + input.integer.text() + ") is longer than " +
                    std::to_string(most_turns));
      return Value(Value::Is::range, input.integer.negative() ? BigInt(0) : input.integer);
    }
    if (name == "abs")
      return real ? Value::of_real(std::fabs(input.real))
                  : Value(input.integer.negative() ? -input.integer : input.integer);
    if (name == "int") return real ? Value(int64_t(input.real)) : Value(input.integer);
    if (name != "power_of_two") return folded(name, node, input);
    BigInt left = input.integer, rest;
    while (compare(left, BigInt(1)) > 0 && rest.zero()) left = divide(left, BigInt(2), rest);
    return Value::truth(rest.zero() && compare(left, BigInt(1)) == 0);
  }
  // The sum, product, minimum or maximum of several numbers.
  Value folded(std::string_view name, const Node* node, const Value& input) {
    const bool adds = name == "sum", multiplies = name == "product";
    Value result = Value(BigInt(multiplies ? 1 : 0));
    for (int64_t i = 0; i < input.length(); ++i) {
      const Value item = input.item(i);
      if (!adds && !multiplies) {
        if (i == 0 || order(item, result) == (name == "max" ? 1 : -1)) result = item;
      } else if (result.is == Value::Is::real || item.is == Value::Is::real) {
        result = Value::of_real(compute(adds ? Kind::sum : Kind::product, result.floating(), item.floating()));
      } else {
        result = adds ? result.integer + item.integer : result.integer * item.integer;
      }
    }
    if (input.length() > 0 || adds || multiplies) return result;
    return fail(std::string(node->text) + ": " + std::string(name) + "() of nothing");
  }
};
