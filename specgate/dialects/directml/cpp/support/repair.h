// Fixes of violated rules: changes found from the parts that decide a rule, and tested before they are proposed.

// A part of a description that a fix may set. item: of an array of tensors. at: the dimension, element or member.
// label: the dimension in messages.
struct Spot {
  enum class Kind : uint8_t { set, element, member, length, absent, given, size, sizes, rank, type, elements } kind;
  size_t field;
  int64_t item = -1, at = 0;
  std::string label = {};

  bool same_owner(const Spot& other) const { return field == other.field && item == other.item; }
  bool operator==(const Spot& other) const {
    return kind == other.kind && same_owner(other) && at == other.at && label == other.label;
  }
};

// Sets a part to any of `values`, or with `span` to any from the first to the second, unlimited if there is none.
struct Step {
  Spot spot;
  Values values;
  bool span = false;

  // The values to test.
  Values tried() const {
    Values tested;
    for (const Value& value : values)
      if (!span || !value.none()) tested.push_back(value);
    return tested;
  }
};
using Repair = std::vector<Step>;

// The part that an expression reads, none if it computes something.
inline std::optional<Spot> spot_of(const Node* node, const Context& context) {
  node = resolve(node, context);
  const auto field_of = [&](const Node* owner) {
    return owner->kind == Kind::field ? context.fields[size_t(owner->number)] : Value();
  };
  const auto of_field = [](Spot::Kind kind, const Node* field, int64_t item = -1, int64_t at = 0) {
    return Spot{kind, size_t(field->number), item, at};
  };
  const auto is_list_of_numbers = [](const Value& value) {
    return value.length() > 0 && value.item(0).is != Value::Is::tensor;
  };
  const auto of_tensor = [&](Spot::Kind kind, const Node* owner) -> std::optional<Spot> {
    owner = resolve(owner, context);
    if (field_of(owner).is == Value::Is::tensor) return of_field(kind, owner);
    if (owner->kind != Kind::subscript) return {};
    const Value item = value_of(owner->part(1), context);
    if (!item.is_index() || item.integer.value() >= field_of(owner->part(0)).length()) return {};
    return of_field(kind, owner->part(0), item.integer.value());
  };
  const Node* owner = node->parts.size() > 0 ? node->part(0) : node;
  if (node->kind == Kind::field) {
    const Value value = field_of(node);
    if (!value.is_sequence() && value.is != Value::Is::tensor && value.is != Value::Is::pair)
      return of_field(Spot::Kind::set, node);
  } else if (node->kind == Kind::attribute) {
    if (node->name == "sizes") return of_tensor(Spot::Kind::sizes, owner);
    if (field_of(owner).is == Value::Is::pair) return of_field(Spot::Kind::member, owner, -1, node->number);
  } else if (node->kind == Kind::subscript) {
    const Value index = value_of(node->part(1), context);
    if (!index.is_index()) return {};
    const Node* sequence = resolve(owner, context);
    if (is_list_of_numbers(field_of(sequence)))
      return of_field(Spot::Kind::element, sequence, -1, index.integer.value());
    if (sequence->kind != Kind::attribute || sequence->name != "sizes") return {};
    std::optional<Spot> spot = of_tensor(Spot::Kind::size, sequence->part(0));
    if (spot) spot->at = index.integer.value(), spot->label = dimension(sequence, node->part(1), context);
    return spot;
  } else if (node->calls("len")) {
    const Node* list = resolve(owner, context);
    if (is_list_of_numbers(field_of(list))) return of_field(Spot::Kind::length, list);
  } else if (node->kind == Kind::call) {
    if (node->name == "int") return spot_of(owner, context);
    if (node->name == "rank") return of_tensor(Spot::Kind::rank, owner);
    if (node->name == "type") return of_tensor(Spot::Kind::type, owner);
    if (node->name == "elements") return of_tensor(Spot::Kind::elements, owner);
  }
  return {};
}

// The cast from the type of a tensor to another type; nullptr if one of them is not known.
inline const Cast* cast_of(const Value& tensor, const Value& type) {
  const Value from = tensor.is == Value::Is::tensor ? tensor_part(tensor, type_part) : Value();
  const bool known = from.is == Value::Is::word && type.is == Value::Is::word;
  return known ? &casts[from.integer.value()][type.integer.value()] : nullptr;
}

// Sets a part; returns whether a structure can hold the result.
inline bool change(Value& value, Spot spot, const Value& to) {
  if (spot.item >= 0) {
    const int64_t item = std::exchange(spot.item, -1);
    Value tensor = value.item(item);
    const bool fits = change(tensor, spot, to);
    return value = value.with(item, tensor), fits;
  }
  const int64_t number = to.is == Value::Is::integer && to.integer.is_small() ? to.integer.value() : -1;
  switch (spot.kind) {
    case Spot::Kind::set:
    case Spot::Kind::given: return value = to, true;
    case Spot::Kind::absent: return value = Value(), true;
    case Spot::Kind::member:
    case Spot::Kind::element:
      if (spot.at >= int64_t(value.parts->size())) return false;
      return value = value.with(spot.at, to), true;
    case Spot::Kind::length: {
      Values items = *value.parts;
      if (number < 0 || items.empty()) return false;
      items.resize(size_t(number), Value(items.back()));
      return value = Value(Value::Is::list, std::move(items)), true;
    }
    case Spot::Kind::type: return value = value.with(type_part, to), to.is == Value::Is::word;
    default: break;
  }
  Values sizes;
  const Value old = tensor_part(value, sizes_part), &source = spot.kind == Spot::Kind::sizes ? to : old;
  for (int64_t i = 0; i < source.length(); ++i) sizes.push_back(source.item(i));
  if (spot.kind == Spot::Kind::size) {
    if (number < 0 || size_t(spot.at) >= sizes.size()) return false;
    sizes[size_t(spot.at)] = to;
  } else if (spot.kind == Spot::Kind::rank) {
    if (number < 0) return false;
    const size_t rank = size_t(number);
    if (rank > sizes.size()) sizes.insert(sizes.begin(), rank - sizes.size(), Value(BigInt(1)));
    sizes.erase(sizes.begin(), sizes.end() - number);
  } else if (spot.kind == Spot::Kind::elements) {
    for (Value& size : sizes) size = BigInt(1);
    if (!sizes.empty()) sizes.back() = to;
    else if (number != 1) sizes.push_back(to);
  }
  for (const Value& size : sizes)
    if (!size.is_index() || size.integer.value() > int64_t(UINT32_MAX)) return false;
  value = value.with(sizes_part, Value(Value::Is::list, std::move(sizes))).with(strides_part, Value());
  return true;
}
// The context after steps with their first values; none if structures cannot hold them.
inline std::optional<Context> after(Context context, const Repair& steps) {
  for (const Step& step : steps)
    if (!change(context.fields[step.spot.field], step.spot, step.tried()[0])) return {};
  return context;
}

// Changes that give a deciding part its required value.
struct Proposals {
  const Context& context;

  std::vector<Repair> of(const Leaf& leaf) {
    std::vector<Repair> repairs = direct(leaf);
    return repairs.empty() ? inside(leaf) : repairs;
  }
  using Spots = std::vector<std::optional<Spot>>;

  std::vector<Repair> direct(const Leaf& leaf) {
    const Node* node = leaf.node;
    if (node->kind == Kind::compare && (leaf.wanted || node->links.size() == 1)) {
      static constexpr Link flipped[] = {Link::differs, Link::equal, Link::at_least,  Link::more,
                                         Link::at_most, Link::less,  Link::not_among, Link::among};
      const Link other = flipped[size_t(node->links[0])];
      return of_comparison(node->parts, leaf.wanted ? node->links : Span<Link>{&other, 1});
    }
    const auto spot = spot_of(node, context);
    if (node->kind == Kind::compare || !spot || spot->kind != Spot::Kind::set) return {};
    return {Repair{Step{*spot, {Value::truth(leaf.wanted)}}}};
  }

  std::vector<Repair> of_comparison(const Span<Node>& parts, const Span<Link>& links) {
    Spots spots;
    Values values;
    for (const Node& part : parts) {
      spots.push_back(spot_of(&part, context));
      values.push_back(value_of(&part, context));
      if (values.back().none()) return {};
    }
    const auto all = [&](Link first, Link last) {
      return std::all_of(links.begin(), links.end(), [=](Link link) { return link >= first && link <= last; });
    };
    if (all(Link::equal, Link::equal)) return make_equal(spots, values);
    if (all(Link::less, Link::at_least)) return make_ordered(spots, values, links);
    if (links.size() != 1) return {};
    if (links[0] == Link::among) return make_member(spots[0], values[1]);
    return links[0] == Link::differs ? make_different(spots, values) : std::vector<Repair>();
  }
  static std::vector<Repair> make_member(const std::optional<Spot>& spot, const Value& list) {
    Values values;
    for (int64_t i = 0; list.is == Value::Is::list && i < list.length(); ++i)
      if (!list.item(i).unknown()) add(values, list.item(i));
    if (!spot || values.empty()) return {};
    return {Repair{Step{*spot, values}}};
  }
  static std::vector<Repair> make_different(const Spots& spots, const Values& values) {
    std::vector<Repair> repairs;
    for (size_t i = 0; i < 2; ++i) {
      const Value& other = values[1 - i];
      if (spots[i] && other.is == Value::Is::integer)
        repairs.push_back({Step{*spots[i], {other.integer + BigInt(1), other.integer - BigInt(1)}}});
    }
    return repairs;
  }
  // Gives all parts the value of one of them, the most frequent one first.
  static std::vector<Repair> make_equal(const Spots& spots, const Values& values) {
    if (std::any_of(values.begin(), values.end(), [](const Value& value) { return value.unknown(); })) return {};
    auto groups = group(values, [](const Value& a, const Value& b) { return a == b; });
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<Repair> repairs;
    for (const Values& group : groups) {
      Repair repair;
      bool settable = true;
      for (size_t i = 0; i < values.size(); ++i) {
        if (values[i] == group[0]) continue;
        settable = settable && spots[i];
        if (settable && !touches(repair, *spots[i])) repair.push_back(Step{*spots[i], {group[0]}});
      }
      if (settable && !repair.empty()) repairs.push_back(repair);
    }
    return repairs;
  }
  static std::vector<Repair> make_ordered(const Spots& spots, const Values& values, const Span<Link>& links) {
    std::vector<Repair> repairs;
    for (size_t i = 0; i < spots.size(); ++i) {
      Value low, high;
      if (i > 0) narrow(values[i - 1], links[i - 1], low, high, true);
      if (i < links.size()) narrow(values[i + 1], links[i], low, high, false);
      const bool both = !low.none() && !high.none();
      if (!spots[i] || (low.none() && high.none()) || (both && order(low, high) > 0)) continue;
      const bool single = both && order(low, high) == 0;
      repairs.push_back({single ? Step{*spots[i], {low}} : Step{*spots[i], {low, high}, true}});
    }
    return repairs;
  }
  // Narrows a range by a neighbour. before: it precedes the part.
  static void narrow(const Value& value, Link link, Value& low, Value& high, bool before) {
    const bool strict = link == Link::less || link == Link::more;
    const bool lower = (link == Link::less || link == Link::at_most) == before;
    Value& end = lower ? low : high;
    if (value.is == Value::Is::real && !strict) end = value;
    if (value.is == Value::Is::integer) end = value.integer + BigInt(!strict ? 0 : lower ? 1 : -1);
  }

  // The settable operands of a leaf: presence, then numbers.
  std::vector<Repair> inside(const Leaf& leaf) {
    std::vector<Repair> repairs;
    std::vector<const Node*> waiting{leaf.node};
    for (size_t i = 0; i < waiting.size(); ++i) {
      const Node* node = waiting[i];
      if (node->calls("present") && node->part(0)->kind == Kind::field) {
        const bool absent = Evaluator(context).absent(node->part(0));
        const Spot spot{absent ? Spot::Kind::given : Spot::Kind::absent, size_t(node->part(0)->number)};
        repairs.push_back({Step{spot, {absent ? stated(spot.field) : Value()}}});
      }
      for (const Node& part : node->parts)
        if (node->kind != Kind::define) waiting.push_back(&part);
    }
    Repair parts = numbers(leaf.node);
    constexpr size_t most_parts = 10;
    if (parts.size() > most_parts) parts.erase(parts.begin() + most_parts, parts.end());
    for (const Step& part : parts) {
      const Value number = nearest(leaf, part.spot, part.values[0].integer);
      if (!number.none()) repairs.push_back({Step{part.spot, {number}}});
    }
    return repairs;
  }
  // A value of a field that was absent.
  Value stated(size_t field) const {
    return is_tensor(context.members[field].shape) ? unknown_tensor() : Value(Value::Is::unknown);
  }
  // The integer parts of an expression with their values.
  Repair numbers(const Node* node) {
    Repair parts;
    std::vector<const Node*> waiting{node};
    for (size_t i = 0; i < waiting.size(); ++i) {
      const Node* part = resolve(waiting[i], context);
      const auto spot = spot_of(part, context);
      if (spot && (spot->kind <= Spot::Kind::member || spot->kind == Spot::Kind::size)) {
        const Value value = value_of(part, context);
        if (!touches(parts, *spot) && value.is == Value::Is::integer) parts.push_back(Step{*spot, {value}});
      } else if (part->kind != Kind::loop) {
        for (const Node& inner : part->parts) waiting.push_back(&inner);
      }
    }
    return parts;
  }
  // The nearest number with which a part has the required value, nothing if there is none nearby.
  Value nearest(const Leaf& leaf, const Spot& spot, const BigInt& value) {
    for (int64_t step = 1; step <= 1024; step += step < 16 ? 1 : step)
      for (const BigInt& tried : {value - BigInt(step), value + BigInt(step)})
        if (holds(leaf, spot, tried)) return closest(leaf, spot, value, tried);
    return Value();
  }
  // A number with which the part has the required value, next to one with which it has not.
  BigInt closest(const Leaf& leaf, const Spot& spot, BigInt bad, BigInt good) {
    for (;;) {
      const BigInt apart = good - bad;
      if (compare(apart * apart, BigInt(1)) <= 0) return good;
      BigInt rest;
      const BigInt middle = divide(bad + good, BigInt(2), rest);
      (holds(leaf, spot, middle) ? good : bad) = middle;
    }
  }
  bool holds(const Leaf& leaf, const Spot& spot, const BigInt& value) {
    if (compare(value, BigInt(spot.kind == Spot::Kind::size ? 1 : INT32_MIN)) < 0) return false;
    const std::optional<Context> changed = after(context, {Step{spot, {value}}});
    const Value answer = changed ? value_of(leaf.node, *changed) : Value();
    return answer.is == Value::Is::truth && answer.is_true() == leaf.wanted;
  }
  static bool touches(const Repair& repair, const Spot& spot) {
    return std::any_of(repair.begin(), repair.end(), [&](const Step& step) { return step.spot == spot; });
  }
};

// Searches for changes after which a rule holds.
struct Search {
  const Rule& rule;
  const Context& context;

  // Calls `f` with changes, preferred ones first, until it returns false.
  template <class F>
  void repairs(F f) {
    const std::vector<Repair> first = options(context);
    constexpr size_t most_first = 6;
    for (size_t i = 0; i < first.size() && i < most_first; ++i) {
      const Repair repair = extend(first[i]);
      if (!repair.empty() && !f(repair)) return;
    }
  }

  // Whether the rule holds, or no longer applies.
  bool holds(const Repair& steps) {
    const std::optional<Context> changed = after(context, steps);
    if (!changed) return false;
    Evaluator evaluator(*changed);
    if (evaluator.lacks(rule.require)) return true;
    if (rule.when.tree != nullptr && !evaluator.value(rule.when.tree).is_true()) return false;
    return evaluator.value(rule.require.tree).is_true();
  }
  // An option with the further steps until the rule holds, nothing if it never does.
  Repair extend(const Repair& option) {
    constexpr size_t most_steps = 8;
    Repair steps, next = option;
    while (!next.empty() && steps.size() + next.size() <= most_steps) {
      const Repair last = working(steps, next);
      steps.insert(steps.end(), last.begin(), last.end());
      if (!last.empty()) return steps;
      for (Step& step : next) {
        const Values tried = step.tried();
        if (tried.empty() || !possible(step.spot, tried[0])) return {};
        steps.push_back(Step{step.spot, {tried[0]}});
      }
      next = following(steps);
    }
    return {};
  }
  // The next change after steps, at the same field as the first one if there is a choice.
  Repair following(const Repair& steps) {
    const std::optional<Context> changed = after(context, steps);
    Repair best;
    for (Repair& repair : changed ? options(*changed) : std::vector<Repair>()) {
      if (std::any_of(repair.begin(), repair.end(),
                      [&](const Step& step) { return Proposals::touches(steps, step.spot); }))
        continue;
      const Spot& first = steps[0].spot;
      if (best.empty() || (!best[0].spot.same_owner(first) && repair[0].spot.same_owner(first)))
        best = std::move(repair);
    }
    return best;
  }
  // The option, limited to the values with which the rule holds; nothing if there are none.
  Repair working(Repair steps, Repair option) {
    Step& last = option.back();
    for (Step& step : option) {
      if (&step == &last) continue;
      step = Step{step.spot, {step.tried()[0]}};
      if (!possible(step.spot, step.values[0])) return {};
      steps.push_back(step);
    }
    Values good;
    const Values tried = last.tried();
    for (const Value& value : tried) {
      if (!possible(last.spot, value)) continue;
      steps.push_back(Step{last.spot, {value}});
      if (holds(steps)) good.push_back(value);
      steps.pop_back();
    }
    if (good.empty()) return {};
    if (!last.span || good.size() < tried.size()) last = Step{last.spot, good};
    return option;
  }

  // Whether a part can have a value at all, regardless of rules.
  bool possible(const Spot& spot, const Value& value) const {
    using Of = Spot::Kind;
    const bool size = spot.kind == Of::size || spot.kind == Of::elements;
    if (size || spot.kind == Of::rank || spot.kind == Of::length) {
      const int64_t most = size ? saturated : spot.kind == Of::rank ? 64 : 1000;
      return value.is_index() && value.integer.value() >= (size ? 1 : 0) && value.integer.value() <= most;
    }
    const Shape shape = context.members[spot.field].shape;
    const bool natural = shape == Shape::number || shape == Shape::numbers;
    return !natural || spot.kind > Of::element || value.is != Value::Is::integer || !value.integer.negative();
  }

  // Changes that give a deciding part its required value, preferred ones first.
  std::vector<Repair> options(const Context& now) {
    std::vector<Repair> merged;
    for (const Leaf& leaf : Explainer{now}.decisive(rule.require.tree))
      for (Repair& repair : Proposals{now}.of(leaf)) merge(merged, std::move(repair));
    const auto cost_of = [&](const Repair& repair) {
      std::pair<double, double> worst = cost(repair[0], now);
      for (const Step& step : repair) worst = (std::max)(worst, cost(step, now));
      return worst;
    };
    std::stable_sort(merged.begin(), merged.end(),
                     [&](const Repair& a, const Repair& b) { return cost_of(a) < cost_of(b); });
    return merged;
  }
  static void merge(std::vector<Repair>& merged, Repair repair) {
    for (Repair& known : merged) {
      const auto same_spot = [](const Step& a, const Step& b) { return a.spot == b.spot; };
      if (!std::equal(known.begin(), known.end(), repair.begin(), repair.end(), same_spot)) continue;
      if (known.size() == 1 && !known[0].span && !repair[0].span)
        for (const Value& value : repair[0].values) add(known[0].values, value);
      return;
    }
    merged.push_back(std::move(repair));
  }

  // The cost of a change: outputs follow from the rest, attributes are easily set, inputs come last.
  static std::pair<double, double> cost(const Step& step, const Context& context) {
    using Of = Spot::Kind;
    const Spot& spot = step.spot;
    const Member& member = context.members[spot.field];
    const double later = -double(spot.field) - (spot.item > 0 ? double(spot.item) / 10000 : 0);
    if (is_output(member.shape))
      return {spot.kind == Of::size || spot.kind == Of::sizes || spot.kind == Of::type ? 0 : 1.5, later};
    if (!is_tensor(member.shape)) {
      static constexpr double costs[] = {1.0, 1.2, 1.0, 1.4};  // of set, element, member and length
      return {spot.kind <= Of::length ? costs[size_t(spot.kind)] : 1.6, later};
    }
    const Value& field = context.fields[spot.field];
    const Cast* cast =
        spot.kind != Of::type ? nullptr : cast_of(spot.item < 0 ? field : field.item(spot.item), step.values[0]);
    const bool lossy = spot.kind == Of::type && (cast == nullptr || !cast->exact());
    return {(member.optional ? 2.0 : 3.0) + (lossy ? 1.5 : 0), later};
  }
};

constexpr size_t most_choices = 6;
// The values of a step as prose.
inline std::string choices_text(const Step& step) {
  Texts texts;
  if (step.span) {
    const std::string low = to_text(step.values[0]), high = to_text(step.values[1]);
    if (step.values[0].none()) return high + " or less";
    return step.values[1].none() ? low + " or more" : fill("a value from $0 to $1", {low, high});
  }
  const size_t count = step.values.size();
  for (size_t i = 0; i < (count > most_choices ? most_choices - 1 : count); ++i) add(texts, to_text(step.values[i]));
  if (count > most_choices) texts.push_back("another of " + std::to_string(count) + " values");
  return join(texts, ", ", " or ");
}
// A fix as one phrase, such as "set dimension -1 of B to 3 or 1"; empty if it would not help a reader.
inline std::string phrase(const Repair& repair, const Context& context) {
  using Of = Spot::Kind;
  const auto groups = group(repair, [](const Step& a, const Step& b) {
    const bool together = a.spot.kind >= Of::size && a.spot.kind == b.spot.kind && a.spot.label == b.spot.label;
    return (together || a.spot == b.spot) && a.span == b.span && a.values == b.values;
  });
  if (groups.size() > 3) return "";
  Texts phrases;
  for (const Repair& group : groups) {
    static constexpr const char* patterns[] = {
        "set $0 to $1", "set $0[$2] to $1", "set $0.$2 to $1", "give $0 $1 value$3", "leave $0 out", "give $0",
        "set dimension $2 of $0 to $1", "set the sizes of $0 to $1", "give $0 rank $1", "cast $0 to $1",
        "give $0 $1 element$3"};
    const Spot& spot = group[0].spot;
    const bool output = is_output(context.members[spot.field].shape);
    Texts owners, losses;
    for (const Step& step : group) {
      const Value& field = context.fields[step.spot.field];
      add(owners, context.name(step.spot.field, step.spot.item));
      if (spot.kind != Of::type || is_output(context.members[step.spot.field].shape)) continue;
      const Cast* cast = cast_of(step.spot.item < 0 ? field : field.item(step.spot.item), step.values[0]);
      if (cast != nullptr && *cast->loss != 0) add(losses, std::string(cast->loss));
    }
    const std::string values = choices_text(group[0]), at = std::to_string(spot.at);
    const std::string_view label = spot.kind == Of::member ? name_in_pair(context.fields[spot.field], spot.at)
                                 : spot.kind == Of::size   ? spot.label
                                                           : at;
    const char* pattern = spot.kind == Of::type && output ? "give $0 the type $1" : patterns[size_t(spot.kind)];
    phrases.push_back(fill(pattern, {join(owners), values, label, values == "1" ? "" : "s"}) +
                      (losses.empty() ? "" : " (" + join(losses, "; ", "; ") + ")"));
  }
  return join(phrases, " and ");
}
