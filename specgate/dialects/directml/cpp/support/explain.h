// Why a rule has its value: the parts that decide it.

// A part without operands that decides a rule, with loop variables replaced by their values. wanted: the value that
// would make the rule hold.
struct Leaf {
  const Node* node;
  bool wanted;
};

using Leaves = std::vector<Leaf>;

class Explainer {
 public:
  Explainer(Memory& memory, const Context& context)
      : memory_(memory), context_(context) {}

  // The deciding parts; for a loop those of its first deciding iteration.
  Leaves decisive(const Node* rule) {
    leaves_.clear();
    blame(rule, rule, nullptr, true);
    return leaves_;
  }
  // The values of those parts, by their texts in the rule.
  std::vector<std::pair<std::string, Value>> values(const Node* rule) {
    closing_ = false;
    blame(rule, rule, nullptr, true);
    closing_ = true;
    return values_;
  }

 private:
  Memory& memory_;
  const Context& context_;
  bool closing_ = true;
  Leaves leaves_;
  std::vector<std::pair<std::string, Value>> values_ = {};

  Value value(const Node* node, const Scope* scope) { return Evaluator(memory_, context_).value(node, scope); }
  static bool same(const Value& a, const Value& b) {
    return a.is == b.is && (a.is == Value::Is::truth ? a.flag == b.flag : a.open() || a.none());
  }

  // Walks two forms of a part together: the original, and the one with replaced variables.
  void blame(const Node* node, const Node* closed, const Scope* scope, bool wanted) {
    if (node->kind == Kind::any_of || node->kind == Kind::all_of) {
      const Value whole = value(node, scope);
      for (size_t i = 0; i < node->parts.size(); ++i)
        if (same(value(node->parts[i], scope), whole)) blame(node->parts[i], closed->parts[i], scope, wanted);
    } else if (node->kind == Kind::negation) {
      blame(node->parts[0], closed->parts[0], scope, !wanted);
    } else if (node->kind == Kind::call && is_loop(node->parts[0])) {
      loop(node, closed, scope, wanted);
    } else if (node->kind == Kind::choice) {
      const Value test = value(node->parts[0], scope);
      const size_t way = test.open() ? 0 : test.true_() ? 1 : 2;
      blame(node->parts[way], closed->parts[way], scope, wanted);
    } else {
      leaf(node, closed, scope, wanted);
    }
  }

  void leaf(const Node* node, const Node* closed, const Scope* scope, bool wanted) {
    if (closing_) {
      leaves_.push_back(Leaf{closed, wanted});
      return;
    }
    for (const Node* part : node->kind == Kind::compare ? node->parts : Nodes{node, 1}) {
      if (!says_more(part, scope)) continue;
      const Value found = value(part, scope);
      if (found.none()) continue;
      const std::string text = Spelling::of(part);
      bool known = false;
      for (auto& one : values_)
        if (one.first == text) known = true, one.second = found;
      if (!known) values_.emplace_back(text, found);
    }
  }

  // A number or word repeats the text of the rule, so it is left out.
  bool says_more(const Node* node, const Scope* scope) const { return node->kind != Kind::list && names(node, scope); }
  bool names(const Node* node, const Scope* scope) const {
    int64_t number = 0;
    if (node->kind == Kind::name)
      return variable(scope, node->text) != nullptr || context_.field(node->text) != nullptr ||
             context_.define(node->text) != nullptr || limit_named(node->text, context_.place, number);
    for (const Node* part : node->parts)
      if (names(part, scope)) return true;
    return false;
  }

  void loop(const Node* node, const Node* closed, const Scope* scope, bool wanted) {
    const Node* loop = node->parts[0];
    const Node* same_loop = closed->parts[0];
    const bool decisive = node->text == "any";
    Evaluator evaluator(memory_, context_);
    const Value sequence = evaluator.value(loop->parts[1], scope);
    if (sequence.none() || sequence.open()) {
      blame_count(loop->parts[1], same_loop->parts[1], scope, wanted);
      return;
    }
    const Value whole = value(node, scope);
    evaluator.turns(loop, sequence, scope, [&](const Scope& inner, int64_t place, const Value& keep) {
      const Value found = evaluator.turn(loop, &inner, keep, decisive);
      if (found.none()) return false;
      if (!same(found, whole)) return true;
      blame_turn(loop, same_loop, inner, place, wanted);
      return false;
    });
  }

  void blame_turn(const Node* loop, const Node* closed, const Scope& inner, int64_t place, bool wanted) {
    const Node* body = loop->parts[0];
    if (inner.value->is == Value::Is::tensor && !closing_)
      body = written(body, loop->text, memory_.subscript(loop->parts[1], memory_.number(place)));
    const Node* closed_body =
        closing_ ? written(closed->parts[0], loop->text, item(closed->parts[1], place)) : closed->parts[0];
    blame(body, closed_body, &inner, wanted);
  }

  // The unknown numbers that leave a loop's range open.
  void blame_count(const Node* node, const Node* closed, const Scope* scope, bool wanted) {
    const bool several =
        node->kind == Kind::list ||
        (node->kind == Kind::call && (node->text == "max" || node->text == "min" || node->text == "range"));
    if (!several) return blame(node, closed, scope, wanted);
    for (size_t i = 0; i < node->parts.size(); ++i)
      if (node->parts[i]->kind == Kind::list || value(node->parts[i], scope).open())
        blame_count(node->parts[i], closed->parts[i], scope, wanted);
  }

  // The loop variable in an iteration: a number for ranges, else a part of its field.
  const Node* item(const Node* over, int64_t place) {
    if (over->kind == Kind::list) return over->parts[size_t(place)];
    if (is_call(over, "dims") || is_call(over, "range")) return memory_.number(place);
    return memory_.subscript(over, memory_.number(place));
  }

  // A part with an expression in place of the loop variable.
  const Node* written(const Node* node, std::string_view name, const Node* stands) {
    if (node->kind == Kind::name) return node->text == name ? stands : node;
    const bool hides = is_loop(node) && node->text == name;
    std::vector<Node> parts;
    bool changed = false;
    for (size_t i = 0; i < node->parts.size(); ++i) {
      const Node* part = hides && i != 1 ? node->parts[i] : written(node->parts[i], name, stands);
      changed = changed || part != node->parts[i];
      parts.push_back(*part);
    }
    return changed ? memory_.with(*node, parts.data(), parts.size()) : node;
  }
};

// The conditional parts and names of rules, resolved for one description.
class Resolving {
 public:
  Resolving(Memory& memory, const Context& context) : memory(memory), context(context) {}

  Memory& memory;
  const Context& context;

  Value value_of(const Node* node) { return Evaluator(memory, context).value(node); }

  const Node* resolved(const Node* node) {
    for (;;) {
      if (node->kind == Kind::choice) {
        const Value test = value_of(node->parts[0]);
        if (test.is != Value::Is::truth) return node;
        node = node->parts[test.flag ? 1 : 2];
        continue;
      }
      const Node* meaning = node->kind == Kind::name ? context.define(node->text) : nullptr;
      if (meaning == nullptr) return node;
      const Node* inner = resolved(meaning);
      const Kind kind = inner->kind;
      const bool computed = (kind >= Kind::sum && kind <= Kind::modulo) || kind == Kind::minus ||
                            kind == Kind::negation || kind == Kind::choice;
      if (computed || (kind == Kind::call && !simple(inner->text))) return node;
      node = inner;
    }
  }

  // The dimension of a size, from the end if the rule counts so; returns whether there is one.
  bool dimension(const Node* node, int64_t& at) {
    const Node* owner = node->parts[0]->parts[0];
    const Value index = value_of(node->parts[1]), tensor = value_of(owner);
    if (index.is != Value::Is::whole || !index.whole.is_small()) return false;
    at = index.whole.value();
    const bool known = tensor.is == Value::Is::tensor && stated(*tensor.tensor);
    if (known && reads_rank(node->parts[1], Spelling::of(owner))) at -= tensor.tensor->sizes.count;
    return true;
  }

 private:
  static bool simple(std::string_view name) {
    return name == "rank" || name == "type" || name == "elements" || name == "value" || name == "values" ||
           name == "len";
  }
  bool reads_rank(const Node* node, const std::string& owner) {
    if (is_call(node, "rank")) return Spelling::of(node->parts[0]) == owner;
    if (node->kind == Kind::choice) {
      const Node* chosen = resolved(node);
      return chosen != node && reads_rank(chosen, owner);
    }
    const Node* meaning = node->kind == Kind::name ? context.define(node->text) : nullptr;
    if (meaning != nullptr) return reads_rank(meaning, owner);
    for (const Node* part : node->parts)
      if (!is_loop(part) && reads_rank(part, owner)) return true;
    return false;
  }
};
