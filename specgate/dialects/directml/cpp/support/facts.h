// Descriptions of the parts that decide a rule.
class Words : Resolving {
 public:
  // place: the name of the tensor for a rule on all tensors.
  Words(Memory& memory, const Context& context, std::string_view place)
      : Resolving(memory, context), arena_(memory.arena), sentences_(memory.arena), place_(place) {}

  std::string_view of(const Leaves& leaves) {
    Facts facts;
    Texts parts;
    for (const Leaf& leaf : leaves) {
      std::string_view said;
      if (expected(leaf, said)) parts.push_back(said);
      else add(facts, of_leaf(leaf.node));
    }
    Texts every = sentences_.of(facts);
    for (const std::string_view part : parts) every.push_back(part);
    return sentences_.joined(every);
  }

 private:
  using Says = Fact::Says;
  Arena& arena_;
  const Sentences sentences_;
  const std::string_view place_;

  // The operands of a comparison, left and right.
  Facts of_leaf(const Node* node) {
    Facts found;
    if (node->kind != Kind::compare) return add(found, facts(node)), found;
    bool ordered = false;
    for (const Link link : node->links) ordered = ordered || (link >= Link::less && link <= Link::at_least);
    const auto plain = [&](const Node* part) {
      const Kind kind = resolved(part)->kind;
      return kind == Kind::name || kind == Kind::subscript;
    };
    for (const bool first : {true, false})
      for (const Node* part : node->parts)
        if ((!ordered || plain(part)) == first) add(found, facts(part));
    return found;
  }

  // For an equation with a computed side: the value, and the computed value.
  bool expected(const Leaf& leaf, std::string_view& said) {
    const Node* node = leaf.node;
    if (node->kind != Kind::compare || !leaf.wanted || node->links.size() != 1 || node->links[0] != Link::equal)
      return false;
    const bool one = composed(node->parts[0]), other = composed(node->parts[1]);
    if (one == other) return false;
    const Node* computed = node->parts[one ? 0 : 1];
    const Value value = value_of(computed);
    const Facts found = facts(node->parts[one ? 1 : 0]);
    if (value.none() || value.open() || value.is == Value::Is::truth || found.size() != 1) return false;
    said = arena_.text({sentences_.joined(sentences_.of(found)), ", expected ", told(arena_, value)});
    std::string_view because = items(computed);
    if (because.empty()) {
      Facts of;
      add(of, facts(computed));
      because = sentences_.joined(sentences_.of(of));
    }
    constexpr size_t longest_beside = 110;
    if (!because.empty() && columns(because) <= longest_beside) said = arena_.text({said, " (", because, ")"});
    return true;
  }

  // The operands of a sum or product.
  std::string_view items(const Node* node) {
    node = resolved(node);
    if (node->kind != Kind::call || (node->text != "sum" && node->text != "product") || !is_loop(node->parts[0]))
      return "";
    const Value found = Evaluator(memory, context).collected(node->parts[0], nullptr);
    if (found.is != Value::Is::list || found.length() < 2 || found.length() > 16) return "";
    Texts parts;
    for (const Value& one : *found.parts) parts.push_back(told(arena_, one));
    const char* const sign = node->text == "sum" ? " + " : " * ";
    return listed(arena_, parts, sign, sign);
  }

  static bool grouping(std::string_view name) {
    return name == "sum" || name == "product" || name == "min" || name == "max" || name == "len";
  }
  static bool names(const Node* node) {
    if (node->kind == Kind::name || node->kind == Kind::call || is_loop(node)) return true;
    for (const Node* part : node->parts)
      if (names(part)) return true;
    return false;
  }
  // Whether a part is computed from several others.
  bool composed(const Node* node) {
    node = resolved(node);
    if (computes(node->kind)) return names(node);
    switch (node->kind) {
      case Kind::choice: return names(node);
      case Kind::list:
        for (const Node* part : node->parts)
          if (!is_literal(part)) return true;
        return false;
      case Kind::call:
        if (node->text == "len") return is_loop(node->parts[0]);
        return grouping(node->text) || node->text == "abs" || node->text == "int";
      case Kind::name: return context.define(node->text) != nullptr;
      case Kind::subscript: return node->parts[0]->kind == Kind::list;
      default: return false;
    }
  }

  // The values of a part's operands, except missing ones.
  Facts facts(const Node* node) {
    Facts found;
    for (const Fact& one : every(node))
      if (!one.value.empty()) found.push_back(one);
    return found;
  }
  Facts of_parts(const Nodes& parts) {
    Facts found;
    for (const Node* part : parts)
      for (const Fact& one : facts(part)) found.push_back(one);
    return found;
  }
  Facts only(const Fact& fact) {
    Facts found;
    found.push_back(fact);
    return found;
  }

  Facts every(const Node* node) {
    if (node->kind == Kind::choice && is_call(node->parts[0], "present") && is_literal(node->parts[1]) &&
        is_literal(node->parts[2]))
      node = node->parts[0];
    node = resolved(node);
    if (computes(node->kind)) return of_parts(node->parts);
    switch (node->kind) {
      case Kind::constant:
      case Kind::real:
      case Kind::text: return Facts();
      case Kind::list: return of_parts(node->parts);
      case Kind::name: {
        int64_t number = 0;
        const bool known = context.field(node->text) != nullptr || context.define(node->text) != nullptr ||
                           limit_named(node->text, context.place, number);
        return known ? only(fact(Says::is, called(node), node)) : Facts();
      }
      case Kind::attribute: return only(of_attribute(node));
      case Kind::subscript:
        if (node->parts[0]->kind == Kind::list) return facts(node->parts[1]);
        return only(of_element(node));
      case Kind::call: return of_call(node);
      default: return only(fact(Says::is, spelled(node), node));
    }
  }

  Fact fact(Says says, std::string_view of, const Node* node, std::string_view at = "") {
    const Value value = value_of(node);
    return Fact{says, of, value.none() ? "" : told(arena_, value), at};
  }
  std::string_view spelled(const Node* node) { return arena_.text(Spelling::of(node)); }

  // The name of a field, of a part of one, or of an alias.
  std::string_view called(const Node* node) {
    node = resolved(node);
    if (node->kind == Kind::name) return context.tensor != nullptr && node->text == "tensor" ? place_ : node->text;
    if (node->kind == Kind::subscript)
      return arena_.text({called(node->parts[0]), "[", told(arena_, value_of(node->parts[1])), "]"});
    if (node->kind == Kind::attribute) return arena_.text({called(node->parts[0]), ".", node->text});
    return spelled(node);
  }

  Fact of_attribute(const Node* node) {
    const std::string_view owner = called(node->parts[0]);
    if (value_of(node->parts[0]).is != Value::Is::tensor)
      return fact(Says::is, arena_.text({owner, ".", node->text}), node);
    if (node->text == "sizes") return fact(Says::sizes, owner, node);
    return fact(Says::is, arena_.text({node->text, " of ", owner}), node);
  }

  Fact of_element(const Node* node) {
    const Node* sequence = resolved(node->parts[0]);
    if (sequence->kind == Kind::attribute && sequence->text == "sizes") {
      int64_t at = 0;
      if (!dimension(memory.subscript(sequence, node->parts[1]), at)) return fact(Says::is, spelled(node), node);
      return fact(Says::size, called(sequence->parts[0]), node, arena_.number(at));
    }
    if (sequence->kind == Kind::attribute && sequence->text == "strides") {
      const std::string_view at = told(arena_, value_of(node->parts[1]));
      return fact(Says::is, arena_.text({"stride ", at, " of ", called(sequence->parts[0])}), node);
    }
    return fact(Says::is, called(node), node);
  }

  Facts of_call(const Node* node) {
    const std::string_view name = node->text;
    const Node* argument = node->parts[0];
    if (name == "abs" || name == "int" || name == "power_of_two") return facts(argument);
    if (name == "operator") return only(fact(Says::is, called(argument), node));
    if (name == "present")
      return only(Fact{Says::given, called(argument), value_of(node).true_() ? "given" : "missing"});
    if (grouping(name) && argument->kind == Kind::list) return facts(argument);
    return only(grouping(name) ? of_group(name, node, argument) : of_tensor(name, node, argument));
  }

  Fact of_tensor(std::string_view name, const Node* node, const Node* argument) {
    const std::string_view tensor = called(argument);
    const auto computed = [&](std::string_view what) { return fact(Says::is, arena_.text({what, tensor}), node); };
    if (name == "rank" || name == "type" || name == "elements")
      return fact(name == "rank" ? Says::rank : name == "type" ? Says::type : Says::elements, tensor, node);
    if (name == "bits") return computed("the number of bits of an element of ");
    if (name == "extent") return computed("the reach in elements of ");
    if (name == "minimum_size") return computed("the least size in bytes of ");
    if (name == "dims") return fact(Says::rank, tensor, memory.with(Node{Kind::call, "rank"}, argument, 1));
    return fact(Says::is, spelled(node), node);
  }

  // The result of a function of several numbers.
  Fact of_group(std::string_view name, const Node* node, const Node* argument) {
    const char* const group = name == "sum"       ? "the sum of "
                              : name == "product" ? "the product of "
                              : name == "min"     ? "the least of "
                              : name == "max"     ? "the greatest of "
                                                  : "the number of ";
    const bool loop = is_loop(argument);
    if (loop || name != "len") {
      const Node *one = loop ? argument->parts[0] : argument, *over = loop ? argument->parts[1] : argument;
      return fact(Says::is, arena_.text({group, numbers(one, over)}), node);
    }
    const Value items = value_of(argument);
    if (items.is == Value::Is::list && items.length() == 0) return Fact{Says::empty, called(argument), "empty"};
    if (items.is == Value::Is::view && items.view.of != View::Of::count && items.view.count == 0)
      return Fact{Says::empty, called(argument), "empty"};
    const bool tensors = items.is == Value::Is::view && items.view.of == View::Of::tensor;
    return fact(tensors ? Says::tensors : Says::count, called(argument), node);
  }

  // The name of several numbers.
  std::string_view numbers(const Node* node, const Node* over) {
    const Node* found = resolved(over);
    if (found->kind == Kind::attribute && found->text == "sizes")
      return arena_.text({"the sizes of ", called(found->parts[0])});
    if (found->kind == Kind::name) {
      const bool sizes = node->kind == Kind::subscript && Spelling::of(node).find(".sizes") != std::string::npos;
      return sizes ? arena_.text({"these sizes of ", called(over)}) : called(over);
    }
    return spelled(node);
  }
};
