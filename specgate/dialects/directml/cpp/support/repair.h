// Changes after which a rule holds, found from its parts and tested before they are proposed.

class Search {
 public:
  Search(Memory& memory, const Rule& rule, const Context& context)
      : memory_(memory), rule_(rule), context_(context) {}

  // Calls `f` with changes, preferred ones first, until it returns false.
  template <class F>
  void repairs(F f) {
    Explainer explainer(memory_, context_);
    const std::vector<Repair> first = options(explainer.decisive(rule_.require.tree), context_);
    constexpr size_t most_first = 6;
    for (size_t i = 0; i < first.size() && i < most_first; ++i) {
      const Repair found = followed(first[i]);
      if (!found.empty() && !f(found)) return;
    }
  }

  // The context after changes; returns whether structures can hold it.
  bool after(const Done& done, Context& made) {
    made = context_;
    for (const auto& one : done)
      if (!Changing(memory_).set(made, one.first, one.second)) return false;
    return true;
  }

 private:
  Memory& memory_;
  const Rule& rule_;
  const Context& context_;

  // Whether the rule holds, or no longer applies.
  bool holds(const Done& done) {
    Context then;
    if (!after(done, then)) return false;
    Evaluator evaluator(memory_, then);
    if (evaluator.lacks(rule_.require)) return true;
    if (rule_.when.tree != nullptr && !evaluator.value(rule_.when.tree).true_()) return false;
    return evaluator.value(rule_.require.tree).true_();
  }
  // An option with the further steps until the rule holds, nothing if it never does.
  Repair followed(const Repair& option) {
    constexpr size_t most_steps = 8;
    Repair taken, wanted = option;
    Done done;
    while (!wanted.empty() && taken.size() + wanted.size() <= most_steps) {
      Repair helping = helped(done, wanted);
      if (!helping.empty()) {
        taken.insert(taken.end(), helping.begin(), helping.end());
        return taken;
      }
      for (Step& step : wanted) {
        const std::vector<Value> tried = step.tried();
        if (tried.empty() || !possible(step.spot, tried[0])) return {};
        done.emplace_back(step.spot, tried[0]);
        taken.push_back(Step{step.spot, {tried[0]}});
      }
      wanted = next(done, option[0].spot);
    }
    return {};
  }
  // The next change, at the same field if there is a choice.
  Repair next(const Done& done, const Spot& first) {
    Context then;
    if (!after(done, then)) return {};
    Explainer explainer(memory_, then);
    Repair best;
    for (Repair& repair : options(explainer.decisive(rule_.require.tree), then)) {
      bool touched = false;
      for (const Step& step : repair)
        for (const auto& one : done) touched = touched || one.first == step.spot;
      if (touched) continue;
      if (best.empty() || (!best[0].spot.same_owner(first) && repair[0].spot.same_owner(first)))
        best = std::move(repair);
    }
    return best;
  }

  // The option, limited to the values with which the rule holds; nothing if there are none.
  Repair helped(const Done& done, const Repair& option) {
    Step last = option.back();
    bool every = true;
    for (const Step& step : option)
      for (const Value& value : step.tried()) every = every && possible(step.spot, value);
    if (!every) {
      std::vector<Value> values;
      for (const Value& value : last.tried())
        if (possible(last.spot, value)) values.push_back(value);
      last = Step{last.spot, values};
    }
    Done fixed = done;
    Repair made;
    for (size_t i = 0; i + 1 < option.size(); ++i) {
      const Value value = option[i].tried()[0];
      if (!possible(option[i].spot, value)) return {};
      fixed.emplace_back(option[i].spot, value);
      made.push_back(Step{option[i].spot, {value}});
    }
    std::vector<Value> good;
    const std::vector<Value> tried = last.tried();
    for (const Value& value : tried) {
      fixed.emplace_back(last.spot, value);
      if (holds(fixed)) good.push_back(value);
      fixed.pop_back();
    }
    if (good.empty()) return {};
    if (last.span && good.size() == tried.size()) made.push_back(last);
    else made.push_back(Step{last.spot, good});
    return made;
  }

  // Whether a part can have a value at all, regardless of rules.
  bool possible(const Spot& spot, const Value& value) const {
    using Of = Spot::Kind;
    const bool size = spot.kind == Of::size || spot.kind == Of::elements;
    if (size || spot.kind == Of::rank || spot.kind == Of::length) {
      const int64_t most = size ? int64_t(1) << 62 : spot.kind == Of::rank ? 64 : 1000;
      return value.is == Value::Is::whole && compare(value.whole, Whole(size ? 1 : 0)) >= 0 &&
             compare(value.whole, Whole(most)) <= 0;
    }
    if (spot.kind != Of::set && spot.kind != Of::element) return true;
    const Member* held = context_.member(spot.field);
    const bool natural = held != nullptr && (held->shape == Shape::number || held->shape == Shape::numbers);
    return !(natural && value.is == Value::Is::whole && value.whole.negative());
  }

  // Changes that give a deciding part its required value, preferred ones first.
  std::vector<Repair> options(const Leaves& leaves, const Context& context) {
    std::vector<Repair> merged;
    for (const Leaf& leaf : leaves) {
      Proposals proposals(memory_, context);
      for (Repair& repair : proposals.of(leaf)) {
        if (repair[0].spot.kind == Spot::Kind::given) repair[0].values = {unstated(repair[0].spot)};
        merge(merged, std::move(repair));
      }
    }
    std::vector<std::pair<std::pair<double, double>, size_t>> costs;
    for (size_t i = 0; i < merged.size(); ++i) {
      std::pair<double, double> worst = cost(merged[i][0], context);
      for (const Step& step : merged[i]) worst = (std::max)(worst, cost(step, context));
      costs.emplace_back(worst, i);
    }
    std::stable_sort(costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Repair> found;
    for (const auto& one : costs) found.push_back(merged[one.second]);
    return found;
  }
  Value unstated(const Spot& spot) {
    const Member* held = context_.member(spot.field);
    if (held == nullptr || !is_tensor(held->shape)) return Value::unknown();
    Tensor made;
    made.given = true;
    made.type = no_type;
    made.sizes.count = -1;
    return Value::of_tensor(memory_.arena.keep(made));
  }
  static void merge(std::vector<Repair>& merged, Repair repair) {
    for (Repair& known : merged) {
      bool same = known.size() == repair.size();
      for (size_t i = 0; same && i < known.size(); ++i) same = known[i].spot == repair[i].spot;
      if (!same) continue;
      if (known.size() > 1 || known[0].span || repair[0].span) return;
      for (const Value& value : repair[0].values) {
        bool there = false;
        for (const Value& other : known[0].values) there = there || same_values(value, other);
        if (!there) known[0].values.push_back(value);
      }
      return;
    }
    merged.push_back(std::move(repair));
  }

  // The cost of a change: outputs follow from the rest, attributes are easily set, inputs come last.
  std::pair<double, double> cost(const Step& step, const Context& context) {
    using Of = Spot::Kind;
    const Spot& spot = step.spot;
    const Member* held = context_.member(spot.field);
    double later = 0;
    if (held != nullptr && context_.tensor == nullptr) later = -double(held - context_.layout->members.data);
    later -= spot.item > 0 ? double(spot.item) / 10000 : 0;
    const bool output = held != nullptr && is_output(held->shape);
    if (output) return {spot.kind == Of::size || spot.kind == Of::sizes || spot.kind == Of::type ? 0 : 1.5, later};
    if (held == nullptr || !is_tensor(held->shape)) {
      const Of kind = spot.kind;
      return {kind == Of::set || kind == Of::member ? 1.0
              : kind == Of::element                 ? 1.2
              : kind == Of::length                  ? 1.4
                                                    : 1.6,
              later};
    }
    double lossy = 0;
    if (spot.kind == Of::type) {
      const Value* value = context.field(spot.field);
      const Tensor* tensor = spot.item < 0 ? value->tensor : value->item(spot.item).tensor;
      Evaluator evaluator(memory_, context);
      const Value& wanted = step.values[0];
      const bool kept = wanted.is == Value::Is::word && lossless(evaluator.type_word(tensor->type), wanted.word);
      lossy = kept ? 0 : 1.5;
    }
    return {(held->optional ? 2.0 : 3.0) + lossy, later};
  }
};
