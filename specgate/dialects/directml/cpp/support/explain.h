// The reasons for a violation: the parts that decide a rule, and their values as prose.

// A part without operands that decides a rule, with loop variables replaced by their values. shown: as in the rule.
// wanted: the value that would make the rule hold.
struct Leaf {
  const Node *node, *shown;
  bool wanted;
};
using Leaves = std::vector<Leaf>;

inline Value value_of(const Node* node, const Context& context) { return Evaluator(context).value(node); }

// The deciding parts of a rule; for a loop those of its first deciding iteration.
struct Explainer {
  const Context& context;
  Leaves leaves = {};

  Leaves decisive(const Node* rule) {
    blame(rule, rule, true);
    return std::move(leaves);
  }
  Value value(const Node* node) { return value_of(node, context); }
  static bool same(const Value& a, const Value& b) {
    return a.is == b.is && (a.is == Value::Is::truth ? a.is_true() == b.is_true() : a.unknown() || a.none());
  }

  void blame(const Node* node, const Node* shown, bool wanted) {
    if (node->kind == Kind::any_of || node->kind == Kind::all_of) {
      const Value whole = value(node);
      for (size_t i = 0; i < node->parts.size(); ++i)
        if (same(value(node->part(i)), whole)) blame(node->part(i), shown->part(i), wanted);
    } else if (node->kind == Kind::negation) {
      blame(node->part(0), shown->part(0), !wanted);
    } else if (node->kind == Kind::call && node->part(0)->kind == Kind::loop) {
      loop(node, shown, wanted);
    } else if (node->kind == Kind::choice) {
      const Value test = value(node->part(0));
      const size_t branch = test.unknown() ? 0 : test.is_true() ? 1 : 2;
      blame(node->part(branch), shown->part(branch), wanted);
    } else {
      leaves.push_back(Leaf{node, shown, wanted});
    }
  }

  void loop(const Node* node, const Node* shown, bool wanted) {
    const Node *loop = node->part(0), *sequence = loop->part(1), *shown_loop = shown->part(0);
    Evaluator evaluator(context);
    const Value items = evaluator.value(sequence);
    if (items.none() || items.unknown()) return blame_count(sequence, shown_loop->part(1), wanted);
    const Value whole = value(node);
    evaluator.each_turn(loop, items, nullptr, [&](const Scope& inner, int64_t at, const Value& counts) {
      const Value answer = evaluator.turn(loop, &inner, counts, node->name == "any");
      if (answer.none() || !same(answer, whole)) return !answer.none();
      Pool& pool = *context.pool;
      const Node* item = sequence->kind == Kind::list                        ? sequence->part(size_t(at))
                       : sequence->calls("dims") || sequence->calls("range") ? pool.number(at)
                                                                             : pool.subscript(sequence, at);
      const Node* body = shown_loop->part(0);
      if (inner.value->is == Value::Is::tensor)
        body = pool.substitute(body, loop->name, pool.subscript(shown_loop->part(1), at));
      blame(pool.substitute(loop->part(0), loop->name, item), body, wanted);
      return false;
    });
  }

  // The unknown numbers that leave the range of a loop open.
  void blame_count(const Node* node, const Node* shown, bool wanted) {
    const bool combines = node->kind == Kind::list || node->calls("max") || node->calls("min") || node->calls("range");
    if (!combines) return blame(node, shown, wanted);
    for (size_t i = 0; i < node->parts.size(); ++i)
      if (node->part(i)->kind == Kind::list || value(node->part(i)).unknown())
        blame_count(node->part(i), shown->part(i), wanted);
  }
};

inline bool is_literal(const Node* node) { return node->kind <= Kind::text; }
inline bool computes(const Node* node) { return node->kind >= Kind::negation && node->kind <= Kind::modulo; }
// The expression that a conditional or a name stands for.
inline const Node* resolve(const Node* node, const Context& context) {
  for (;;) {
    if (node->kind == Kind::choice) {
      const Value test = value_of(node->part(0), context);
      if (test.is != Value::Is::truth) return node;
      node = node->part(test.is_true() ? 1 : 2);
    } else if (node->kind == Kind::define) {
      const Node* inner = resolve(node->part(0), context);
      const bool simple =
          inner->calls("rank") || inner->calls("type") || inner->calls("elements") || inner->calls("len");
      if (computes(inner) || inner->kind == Kind::choice || (inner->kind == Kind::call && !simple)) return node;
      node = inner;
    } else {
      return node;
    }
  }
}

// Whether an index is computed from the rank of its tensor.
inline bool reads_rank(const Node* node, std::string_view owner, const Context& context) {
  if (node->calls("rank")) return node->part(0)->text == owner;
  if (node->kind == Kind::choice) {
    const Node* chosen = resolve(node, context);
    return chosen != node && reads_rank(chosen, owner, context);
  }
  return std::any_of(node->parts.begin(), node->parts.end(),
                     [&](const Node& part) { return part.kind != Kind::loop && reads_rank(&part, owner, context); });
}
// The dimension of an element of `sizes`, from the end if the rule counts so; empty if there is none.
inline std::string dimension(const Node* sizes, const Node* index, const Context& context) {
  const Node* owner = sizes->part(0);
  const Value at = value_of(index, context), tensor = value_of(owner, context);
  if (at.is != Value::Is::integer) return "";
  const bool stated = tensor.is == Value::Is::tensor && !tensor_part(tensor, sizes_part).unknown();
  const bool from_end = stated && reads_rank(index, owner->text, context);
  return (from_end ? at.integer - BigInt(tensor_part(tensor, sizes_part).length()) : at.integer).text();
}

// A value. pattern: its sentence, with $0 for the names of its owners, $1 for the value, $2 for "s" if it is not 1, $3
// for "has", $4 for "is" and $5 for the dimension.
constexpr std::string_view is_pattern = "$0 $4 $1", dimension_pattern = "dimension $5 of $0 is $1";
struct Fact {
  std::string_view pattern;
  std::string of, value, at = {};

  bool same(const Fact& other) const { return pattern == other.pattern && value == other.value && at == other.at; }
  bool operator==(const Fact& other) const { return same(other) && of == other.of; }
};
using Facts = std::vector<Fact>;

inline void add(Facts& facts, const Facts& more) {
  for (const Fact& fact : more) add(facts, fact);
}

// Sentences that state facts; facts that differ in their owner only become one.
inline Texts sentences(const Facts& facts) {
  const auto groups = group(facts, [](const Fact& a, const Fact& b) { return a.same(b); });
  const auto names_of = [](const Facts& group) {
    Texts names;
    for (const Fact& fact : group) names.push_back(fact.of);
    return join(names);
  };
  Texts texts;
  for (const Facts& group : groups) {
    const Fact& fact = group[0];
    Texts each;  // the sizes of one dimension of several tensors
    for (const Facts& other : groups)
      if (other[0].pattern == dimension_pattern && other[0].at == fact.at)
        each.push_back(other[0].value + " in " + names_of(other));
    if (fact.pattern == dimension_pattern && each.size() > 1) {
      add(texts, fill("dimension $0 is $1", {fact.at, join(each)}));
      continue;
    }
    const bool several = group.size() > 1;
    texts.push_back(fill(fact.pattern, {names_of(group), fact.value, fact.value == "1" ? "" : "s",
                                        several ? "have" : "has", several ? "are" : "is", fact.at}));
  }
  return texts;
}

// The number of characters of a UTF-8 text.
inline size_t count_characters(std::string_view text) {
  return size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
// Sentences as one text; those beyond 200 characters are only counted.
inline std::string join_sentences(const Texts& parts) {
  Texts distinct, shown;
  for (const std::string& part : parts) add(distinct, part);
  size_t length = 0;
  for (const std::string& part : distinct) {
    length += count_characters(part);
    if (!shown.empty() && length > 200) break;
    shown.push_back(part);
  }
  if (shown.size() < distinct.size()) shown.push_back(std::to_string(distinct.size() - shown.size()) + " more");
  const bool expected = join(shown).find(", expected") != std::string::npos;
  return expected ? join(shown, "; ", "; ") : join(shown);
}

// Describes the parts that decide a rule.
struct Describer {
  const Context& context;

  std::string describe(const Leaves& leaves) {
    Facts facts;
    Texts equations;
    for (const Leaf& leaf : leaves) {
      const std::string equation = leaf.wanted ? expected(leaf.node) : "";
      if (equation.empty()) add(facts, of_leaf(leaf.node));
      else equations.push_back(equation);
    }
    Texts texts = sentences(facts);
    texts.insert(texts.end(), equations.begin(), equations.end());
    return join_sentences(texts);
  }
  Value value(const Node* node) { return value_of(node, context); }
  const Node* resolve(const Node* node) { return detail::resolve(node, context); }

  // The operands of a comparison, left and right; names before computed numbers in an order.
  Facts of_leaf(const Node* node) {
    if (node->kind != Kind::compare) return facts(node);
    const bool ordered = std::any_of(node->links.begin(), node->links.end(),
                                     [](Link link) { return link >= Link::less && link <= Link::at_least; });
    Facts result;
    for (const bool first : {true, false})
      for (const Node& part : node->parts) {
        const Kind kind = resolve(&part)->kind;
        const bool name = (kind >= Kind::word && kind <= Kind::define) || kind == Kind::subscript;
        if ((!ordered || name) == first) add(result, facts(&part));
      }
    return result;
  }

  // For an equation with one computed side: the other side, and the computed value.
  std::string expected(const Node* node) {
    if (node->kind != Kind::compare || node->links.size() != 1 || node->links[0] != Link::equal) return "";
    const bool left = composed(node->part(0));
    if (left == composed(node->part(1))) return "";
    const Node* computed = node->part(left ? 0 : 1);
    const Value result = value(computed);
    const Facts other = facts(node->part(left ? 1 : 0));
    if (result.none() || result.unknown() || result.is == Value::Is::truth || other.size() != 1) return "";
    std::string because = items(computed);
    if (because.empty()) {
      Facts distinct;
      add(distinct, facts(computed));
      because = join_sentences(sentences(distinct));
    }
    const std::string text = join_sentences(sentences(other)) + ", expected " + to_text(result);
    constexpr size_t longest = 110;
    return because.empty() || count_characters(because) > longest ? text : text + " (" + because + ")";
  }

  // The operands of a sum or product of a loop.
  std::string items(const Node* node) {
    node = resolve(node);
    if ((!node->calls("sum") && !node->calls("product")) || node->part(0)->kind != Kind::loop) return "";
    const Value list = Evaluator(context).collect(node->part(0));
    if (list.length() < 2 || list.length() > 16) return "";
    Texts texts;
    for (const Value& item : *list.parts) texts.push_back(to_text(item));
    const char* const sign = node->name == "sum" ? " + " : " * ";
    return join(texts, sign, sign);
  }

  static bool names_something(const Node* node) {
    if ((node->kind >= Kind::word && node->kind <= Kind::define) || node->kind == Kind::call ||
        node->kind == Kind::loop)
      return true;
    return std::any_of(node->parts.begin(), node->parts.end(), [](const Node& part) { return names_something(&part); });
  }
  // Whether a part is computed from several others.
  bool composed(const Node* node) {
    node = resolve(node);
    if (computes(node) || node->kind == Kind::choice) return names_something(node);
    if (node->kind == Kind::list)
      return !std::all_of(node->parts.begin(), node->parts.end(), [](const Node& part) { return is_literal(&part); });
    if (node->calls("len")) return node->part(0)->kind == Kind::loop;
    if (node->kind == Kind::call) return groups(node) || node->name == "abs" || node->name == "int";
    return node->kind == Kind::define || (node->kind == Kind::subscript && node->part(0)->kind == Kind::list);
  }
  // Whether a call computes one number from several.
  static bool groups(const Node* call) {
    return !call->words.empty() && call->words.find('$') == std::string_view::npos;
  }

  // The values of the operands of a part, except missing ones.
  Facts facts(const Node* node) {
    if (node->kind == Kind::choice && node->part(0)->calls("present") && is_literal(node->part(1)) &&
        is_literal(node->part(2)))
      node = node->part(0);
    node = resolve(node);
    if (node->kind <= Kind::word) return {};
    if (node->kind == Kind::attribute) return of_attribute(node);
    if (node->kind == Kind::subscript)
      return node->part(0)->kind == Kind::list ? facts(node->part(1)) : of_element(node);
    if (node->kind == Kind::call) return of_call(node);
    if (!computes(node) && node->kind != Kind::list) return fact(name_of(node), node);
    Facts result;
    for (const Node& part : node->parts)
      for (const Fact& fact : facts(&part)) result.push_back(fact);
    return result;
  }
  // unknown: the pattern for an unknown value.
  Facts fact(std::string of, const Node* node, std::string_view pattern = is_pattern,
             std::string_view unknown = is_pattern, std::string at = "") {
    const Value result = value(node);
    if (result.none()) return {};
    return {Fact{result.unknown() ? unknown : pattern, std::move(of), to_text(result), std::move(at)}};
  }

  // The name of a field, of a part of one, or of another expression.
  std::string name_of(const Node* node) {
    node = resolve(node);
    if (node->kind == Kind::subscript) return fill("$0[$1]", {name_of(node->part(0)), to_text(value(node->part(1)))});
    if (node->kind == Kind::attribute) return fill("$0.$1", {name_of(node->part(0)), node->name});
    return context.tensor.empty() ? std::string(node->text) : replace_name(node->text, "tensor", context.tensor);
  }

  Facts of_attribute(const Node* node) {
    const std::string owner = name_of(node->part(0));
    if (value(node->part(0)).is != Value::Is::tensor) return fact(fill("$0.$1", {owner, node->name}), node);
    if (node->name == "sizes") return fact(owner, node, "$0 $3 the sizes $1", "the sizes of $0 are unknown");
    return fact(fill("$1 of $0", {owner, node->name}), node);
  }

  Facts of_element(const Node* node) {
    const Node *sequence = resolve(node->part(0)), *index = node->part(1);
    if (sequence->kind != Kind::attribute) return fact(name_of(node), node);
    const std::string owner = name_of(sequence->part(0));
    if (sequence->name == "sizes") return fact(owner, node, dimension_pattern, dimension_pattern, dimension(sequence, index, context));
    if (sequence->name == "strides") return fact(fill("stride $1 of $0", {owner, to_text(value(index))}), node);
    return fact(name_of(node), node);
  }

  Facts of_call(const Node* node) {
    const std::string_view name = node->name;
    const Node* argument = node->part(0);
    if (name == "abs" || name == "int" || name == "power_of_two") return facts(argument);
    if (groups(node) && argument->kind == Kind::list) return facts(argument);
    if (groups(node)) return of_group(node, argument);
    if (argument->kind == Kind::loop) return fact(name_of(node), node);
    const std::string owner = name_of(argument);
    if (name == "present") return {Fact{is_pattern, owner, value(node).is_true() ? "given" : "missing"}};
    if (name == "operator") return fact(owner, node);
    if (name == "rank") return fact(owner, node, "$0 $3 rank $1", "the rank of $0 is unknown");
    if (name == "type") return fact(owner, node, is_pattern, "the type of $0 is unknown");
    if (name == "elements") return fact(owner, node, "$0 $3 $1 element$2", "the number of elements of $0 is unknown");
    if (!node->words.empty()) return fact(fill(node->words, {owner}), node);
    return fact(name_of(node), node);
  }

  // The result of a function of several numbers.
  Facts of_group(const Node* node, const Node* argument) {
    const bool loop = argument->kind == Kind::loop;
    if (loop || node->name != "len") {
      const Node *item = loop ? argument->part(0) : argument, *sequence = loop ? argument->part(1) : argument;
      return fact(fill("$0 $1", {node->words, name_of_numbers(item, sequence)}), node);
    }
    const Value list = value(argument);
    if (list.is == Value::Is::list && list.length() == 0)
      return {Fact{is_pattern, name_of(argument), "empty"}};
    const bool tensors = list.length() > 0 && list.item(0).is == Value::Is::tensor;
    return fact(name_of(argument), node, tensors ? "$0 $3 $1 tensor$2" : "$0 $3 $1 value$2");
  }
  std::string name_of_numbers(const Node* item, const Node* sequence) {
    const Node* list = resolve(sequence);
    if (list->kind == Kind::attribute && list->name == "sizes") return "the sizes of " + name_of(list->part(0));
    if (list->kind != Kind::field && list->kind != Kind::define) return name_of(item);
    const bool sizes = item->kind == Kind::subscript && item->text.find(".sizes") != std::string::npos;
    return (sizes ? "these sizes of " : "") + name_of(sequence);
  }
};
