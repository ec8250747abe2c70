// Changes that give a part of a rule its required value.
// A part to set: to any of `values`, or with `span` to any from the first to the second, unlimited if there is none.
struct Step {
  Spot spot;
  std::vector<Value> values;
  bool span = false;

  std::vector<Value> tried() const {
    if (!span) return values;
    std::vector<Value> ends;
    for (const Value& end : values)
      if (!end.none()) ends.push_back(end);
    return ends;
  }
};

using Repair = std::vector<Step>;
using Spots = std::vector<Spot>;
using Done = std::vector<std::pair<Spot, Value>>;

class Proposals : Places {
 public:
  using Places::Places;

  std::vector<Repair> of(const Leaf& leaf) {
    std::vector<Repair> found = direct(leaf);
    return found.empty() ? inside(leaf) : found;
  }

 private:
  using Ends = std::pair<Value, Value>;

  static Link flipped(Link link) {
    static constexpr Link others[] = {Link::differs, Link::equal, Link::at_least,  Link::more,
                                      Link::at_most, Link::less,  Link::not_among, Link::among};
    return others[size_t(link)];
  }
  std::vector<Repair> direct(const Leaf& leaf) {
    const Node* node = leaf.node;
    if (node->kind == Kind::compare) {
      if (leaf.wanted) return of_compare(node->parts, node->links);
      if (node->links.size() != 1) return {};
      const Link other = flipped(node->links[0]);
      return of_compare(node->parts, Span<Link>{&other, 1});
    }
    const Spots place = place_of(node);
    if (place.empty() || place[0].kind != Spot::Kind::set) return {};
    return {Repair{Step{place[0], {Value::truth(leaf.wanted)}}}};
  }

  std::vector<Repair> of_compare(const Nodes& parts, const Span<Link>& links) {
    std::vector<Spots> places;
    std::vector<Value> values;
    for (const Node* part : parts) {
      places.push_back(place_of(part));
      values.push_back(value_of(part));
      if (values.back().none()) return {};
    }
    bool equal = true, order = true;
    for (const Link link : links) {
      equal = equal && link == Link::equal;
      order = order && link >= Link::less && link <= Link::at_least;
    }
    if (equal) return made_equal(places, values);
    if (order) return made_ordered(places, values, links);
    if (links.size() != 1) return {};
    if (links[0] == Link::among) return made_one_of(places[0], values[1]);
    return links[0] == Link::differs ? made_different(places, values) : std::vector<Repair>();
  }
  static std::vector<Repair> made_one_of(const Spots& place, const Value& listed) {
    Step made;
    const bool range = listed.is == Value::Is::view && listed.view.of == View::Of::count;
    for (int64_t i = 0; listed.sequence() && !range && i < listed.length(); ++i) {
      const Value value = listed.item(i);
      bool there = value.open();
      for (const Value& other : made.values) there = there || same_values(value, other);
      if (!there) made.values.push_back(value);
    }
    if (place.empty() || made.values.empty()) return {};
    made.spot = place[0];
    return {Repair{made}};
  }
  static std::vector<Repair> made_different(const std::vector<Spots>& places, const std::vector<Value>& values) {
    std::vector<Repair> found;
    for (size_t i = 0; i < 2; ++i) {
      const Value& other = values[1 - i];
      if (places[i].empty() || other.is != Value::Is::whole) continue;
      const Whole more = other.whole.zero() ? Whole(1) : other.whole + Whole(1);
      found.push_back({Step{places[i][0], {Value::of(more), Value::of(other.whole - Whole(1))}}});
    }
    return found;
  }
  // Gives all parts the value of one of them, the most frequent one first.
  static std::vector<Repair> made_equal(const std::vector<Spots>& places, const std::vector<Value>& values) {
    std::vector<std::pair<size_t, size_t>> counted;  // the value, and its count
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].open()) return {};
      bool known = false;
      for (auto& one : counted)
        if (same_values(values[one.first], values[i])) ++one.second, known = true;
      if (!known) counted.emplace_back(i, 1);
    }
    std::stable_sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<Repair> found;
    for (const auto& one : counted) {
      Repair made;
      bool settable = true;
      for (size_t i = 0; i < values.size(); ++i) {
        if (same_values(values[i], values[one.first])) continue;
        settable = settable && !places[i].empty();
        bool there = false;
        for (const Step& step : made) there = there || (settable && step.spot == places[i][0]);
        if (settable && !there) made.push_back(Step{places[i][0], {values[one.first]}});
      }
      if (settable && !made.empty()) found.push_back(made);
    }
    return found;
  }
  static std::vector<Repair> made_ordered(const std::vector<Spots>& places, const std::vector<Value>& values,
                                          const Span<Link>& links) {
    std::vector<Repair> found;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].empty()) continue;
      Ends ends;
      if (i > 0) bound(values[i - 1], links[i - 1], ends, true);
      if (i < links.size()) bound(values[i + 1], links[i], ends, false);
      const bool both = !ends.first.none() && !ends.second.none();
      if ((ends.first.none() && ends.second.none()) || (both && ordered(ends.first, ends.second) > 0)) continue;
      const bool one = both && ordered(ends.first, ends.second) == 0;
      found.push_back({one ? Step{places[i][0], {ends.first}} : Step{places[i][0], {ends.first, ends.second}, true}});
    }
    return found;
  }
  // Narrows by a neighbour: `above` if it precedes the part.
  static void bound(const Value& value, Link link, Ends& ends, bool above) {
    const bool up = link == Link::less || link == Link::at_most, strict = link == Link::less || link == Link::more;
    const bool low = up == above;
    if (value.is == Value::Is::real && !strict) (low ? ends.first : ends.second) = value;
    if (value.is != Value::Is::whole) return;
    const Whole by(strict ? 1 : 0);
    if (low) ends.first = Value::of(value.whole + by);
    else ends.second = Value::of(value.whole - by);
  }

  // The settable operands of a leaf: presence, then numbers.
  std::vector<Repair> inside(const Leaf& leaf) {
    std::vector<Repair> found;
    std::vector<const Node*> waiting{leaf.node};
    for (size_t i = 0; i < waiting.size(); ++i) {
      const Node* node = waiting[i];
      if (is_call(node, "present") && node->parts[0]->kind == Kind::name) {
        const bool absent = Evaluator(memory, context).absent(node->parts[0]);
        found.push_back({Step{Spot{absent ? Spot::Kind::given : Spot::Kind::absent, node->parts[0]->text}, {Value()}}});
      }
      for (const Node* part : node->parts) waiting.push_back(part);
    }
    size_t asked = 0;
    constexpr size_t most_parts = 10;
    for (const auto& one : numbers(leaf.node)) {
      if (asked++ >= most_parts) break;
      Whole nearby;
      if (nearest(leaf, one.first, one.second, nearby)) found.push_back({Step{one.first, {Value::of(nearby)}}});
    }
    return found;
  }
  // The integer parts of an expression, with their context.
  std::vector<std::pair<Spot, Whole>> numbers(const Node* node) {
    using Of = Spot::Kind;
    std::vector<std::pair<Spot, Whole>> found;
    std::vector<const Node*> waiting{node};
    for (size_t i = 0; i < waiting.size(); ++i) {
      const Node* part = resolved(waiting[i]);
      if (const Node* meaning = part->kind == Kind::name ? context.define(part->text) : nullptr) {
        waiting.push_back(meaning);
        continue;
      }
      const Spots place = place_of(part);
      const bool number = !place.empty() && (place[0].kind == Of::set || place[0].kind == Of::element ||
                                             place[0].kind == Of::size || place[0].kind == Of::member);
      if (number) {
        const Value value = value_of(part);
        bool known = value.is != Value::Is::whole;
        for (const auto& one : found) known = known || one.first == place[0];
        if (!known) found.emplace_back(place[0], value.whole);
      } else if (!is_loop(part)) {
        for (const Node* inner : part->parts) waiting.push_back(inner);
      }
    }
    return found;
  }
  bool nearest(const Leaf& leaf, const Spot& spot, const Whole& value, Whole& found) {
    const auto at = [&](int64_t step) {
      for (const Whole& tried : {value - Whole(step), value + Whole(step)})
        if (holds(leaf, spot, tried)) return found = closest(leaf, spot, value, tried), true;
      return false;
    };
    for (int64_t step = 1; step <= 16; ++step)
      if (at(step)) return true;
    for (int64_t step = 32; step <= 1024; step *= 2)
      if (at(step)) return true;
    return false;
  }
  // A value with which it holds, next to one without.
  Whole closest(const Leaf& leaf, const Spot& spot, Whole bad, Whole found) {
    for (;;) {
      const Whole apart = found - bad;
      if (compare(apart, Whole(1)) <= 0 && compare(apart, Whole(-1)) >= 0) return found;
      Whole rest;
      const Whole middle = divided(bad + found, Whole(2), rest);
      (holds(leaf, spot, middle) ? found : bad) = middle;
    }
  }
  bool holds(const Leaf& leaf, const Spot& spot, const Whole& value) {
    const int64_t least = spot.kind == Spot::Kind::size ? 1 : -(int64_t(1) << 31);
    if (compare(value, Whole(least)) < 0) return false;
    Context then = context;
    if (!Changing(memory).set(then, spot, Value::of(value))) return false;
    const Value answer = Evaluator(memory, then).value(leaf.node);
    return answer.is == Value::Is::truth && answer.flag == leaf.wanted;
  }
};
