// The fix of a failed rule: the first change that mends it and spoils nothing else.

// An operator's structure with changes in it, for what rows and tensors must obey. What structures cannot hold beside
// one another, an array that is longer than its count, stays as it is.
class Changed {
 public:
  Changed(const language::Context& before, const language::Context& after, const void* description)
      : words_(before.layout->size / sizeof(uint64_t) + 1) {
    std::memcpy(words_.data(), description, before.layout->size);
    for (uint32_t i = 0; i < before.layout->count; ++i) {
      const language::Value &from = before.fields[i], &to = after.fields[i];
      if (same(from, to)) continue;
      write(*before.layout, before.layout->members[i], to);
    }
  }
  const void* description() const { return words_.data(); }

 private:
  using Is = language::Value::Is;
  struct Held {
    abi::TensorDesc head;
    abi::BufferTensorDesc buffer;
  };
  std::vector<uint64_t> words_;
  std::forward_list<Held> tensors_ = {};
  std::forward_list<std::vector<abi::TensorDesc>> arrays_ = {};
  std::forward_list<std::vector<uint32_t>> numbers_ = {};

  static bool same(const language::Value& a, const language::Value& b) {
    if (a.is != b.is) return false;
    if (a.is == Is::tensor) return a.tensor == b.tensor;
    if (a.is == Is::view) return a.view.data == b.view.data && a.view.count == b.view.count;
    if (a.is == Is::list || a.is == Is::pair)
      return a.is == Is::pair && language::same_values((*a.parts)[0], (*b.parts)[0]) &&
             language::same_values((*a.parts)[1], (*b.parts)[1]);
    return a.is == Is::held || language::same_values(a, b);
  }
  template <class T>
  void put(size_t offset, const T& value) {
    std::memcpy(reinterpret_cast<char*>(words_.data()) + offset, &value, sizeof value);
  }
  static bool is_array(Shape shape) {
    return shape == Shape::inputs || shape == Shape::outputs || shape == Shape::numbers || shape == Shape::integers ||
           shape == Shape::reals || shape == Shape::helds;
  }
  // Whether a member says how long an array is.
  static bool counts(const Layout& layout, const Member& member) {
    for (uint32_t i = 0; i < layout.count; ++i)
      if (is_array(layout.members[i].shape) && layout.members[i].by == member.offset) return true;
    return false;
  }

  const abi::TensorDesc* tensor(const Tensor& from) {
    tensors_.push_front(Held{{buffer_tensor, nullptr},
                             {from.type, from.flags, uint32_t(from.sizes.count), from.sizes.data, from.strides.data,
                              from.total, from.alignment}});
    tensors_.front().head.Desc = &tensors_.front().buffer;
    return &tensors_.front().head;
  }

  void write(const Layout& layout, const Member& member, const language::Value& value) {
    const bool pointer = is_tensor(member.shape) || is_array(member.shape) || member.shape == Shape::held ||
                         member.shape == Shape::scale_bias;
    if (value.none() && pointer) return put<const void*>(member.offset, nullptr);
    if (value.is == Is::tensor && language::stated(*value.tensor)) return put(member.offset, tensor(*value.tensor));
    if (member.shape == Shape::inputs || member.shape == Shape::outputs) return tensors(member, value);
    if (member.shape == Shape::word && value.is == Is::word) {
      for (uint32_t i = 0; i < member.words->count; ++i)
        if (spells(member.words->words[i].word, value.word)) put(member.offset, member.words->words[i].number);
    } else if (member.shape == Shape::truth && value.is == Is::truth) {
      put(member.offset, uint32_t(value.flag ? 1 : 0));
    } else if (member.shape == Shape::real && value.number()) {
      put(member.offset, float(value.floating()));
    } else if ((member.shape == Shape::number || member.shape == Shape::integer) && value.is == Is::whole &&
               !counts(layout, member)) {
      if (value.whole.is_small()) put(member.offset, uint32_t(value.whole.value()));
    }
  }
  void tensors(const Member& member, const language::Value& value) {
    arrays_.emplace_front();
    for (int64_t i = 0; i < value.length(); ++i) arrays_.front().push_back(*tensor(*value.item(i).tensor));
    put<const abi::TensorDesc*>(member.offset, arrays_.front().data());
  }
};

class Remedy {
 public:
  Remedy(language::Tree& tree, language::Memory& memory, const language::Context& context, const Noted& failed)
      : tree_(tree), memory_(memory), context_(context), failed_(failed) {}

  // The change in words, nothing where none is known. before: what fails anyway.
  std::string fix(const language::Context& whole, uint32_t type, const void* description, Basis side,
                  const std::vector<Noted>& before) {
    const language::Advice advice(memory_.arena, context_, failed_.where);
    language::Search search(tree_, memory_, *failed_.rule, context_);
    language::Repair first, best;
    int tried = 0;
    search.repairs([&](const language::Repair& repair) {
      if (advice.of(repair).empty()) return true;
      if (first.empty()) first = repair;
      if (failed_.part == Part::tensor) return false;
      best = kept(search, repair,
                  [&](const language::Context& then) { return spoils(whole, then, type, description, side, before); });
      constexpr int most_tried = 3;
      return best.empty() && ++tried < most_tried;
    });
    const language::Repair& found = best.empty() ? first : best;
    return found.empty() ? "" : std::string(advice.of(found));
  }

 private:
  language::Tree& tree_;
  language::Memory& memory_;
  const language::Context& context_;
  const Noted& failed_;

  // A repair with those of its last part's values that spoil nothing, nothing where all do.
  template <class F>
  static language::Repair kept(language::Search& search, const language::Repair& repair, F spoiled) {
    language::Done done;
    for (const language::Step& step : repair) done.emplace_back(step.spot, step.tried()[0]);
    const std::vector<language::Value> tried = repair.back().tried();
    std::vector<language::Value> clean;
    for (size_t i = 0; i < tried.size() && i < most_choices; ++i) {
      done.back().second = tried[i];
      language::Context then;
      if (!search.after(done, then) || !spoiled(then)) clean.push_back(tried[i]);
    }
    if (clean.size() == tried.size()) return repair;
    language::Repair made;
    if (clean.empty()) return made;
    made = repair;
    made.back().values = clean;
    made.back().span = false;
    return made;
  }

  // Whether something fails after a change that did not before.
  bool spoils(const language::Context& whole, const language::Context& then, uint32_t type, const void* description,
              Basis side, const std::vector<Noted>& before) {
    const Changed changed(whole, then, description);
    const Entry entry = entry_of(type, whole.level);
    Notes notes(memory_.arena);
    std::vector<const Rule*> rules;
    Check check = prepared(whole.level, side, Options());
    check.operator_name = entry.name;
    check.layout = whole.layout;
    check.notes = &notes;
    check.collected = &rules;
    entry.judge(check, changed.description());
    const std::vector<Noted> others = told_of(notes);
    for (const Noted& one : others)
      if (!has(before, one)) return true;
    return breaks(rules, then, others.empty(), before);
  }
  bool breaks(const std::vector<const Rule*>& rules, const language::Context& then, bool alone,
              const std::vector<Noted>& before) {
    uint64_t failed = 0, hidden = failed_.rule->bit;
    std::vector<Noted> broken = {};
    for (const Rule* rule : rules) {
      if ((rule->after & hidden) != 0) hidden |= rule->bit;
      if ((rule->after & failed) != 0) continue;
      const language::Value held = judged(*rule, then);
      if (held.true_() || held.open()) continue;
      failed |= rule->bit;
      if (held.none()) {
        if ((rule->bit & hidden) == 0) broken.push_back(Noted{Part::rule, rule->id, "", ""});
        continue;
      }
      alone = false;
      if ((rule->bit & hidden) != 0) continue;
      const std::string where = place(*rule, then);
      if (!has(before, Noted{Part::rule, rule->id, where, ""})) return true;
    }
    for (const Noted& one : broken)
      if (alone && !has(before, one)) return true;
    return false;
  }
  language::Value judged(const Rule& rule, const language::Context& then) {
    language::Evaluator evaluator(tree_, memory_, then);
    const language::Node* require = tree_.parse(rule.require);
    if (language::lacks(require, then, evaluator)) return language::Value::truth(true);
    if (rule.when == nullptr) return evaluator.value(require);
    const language::Node* when = tree_.parse(rule.when);
    if (language::lacks(when, then, evaluator)) return language::Value::truth(true);
    const language::Value applies = evaluator.value(when);
    if (applies.none()) return applies;
    if (applies.false_()) return language::Value::truth(true);
    const language::Value held = evaluator.value(require);
    if (applies.true_() || held.true_()) return held;
    return language::Value::unknown();
  }

  // The field that a rule points at: one that is compared itself, else the first that decides it.
  std::string place(const Rule& rule, const language::Context& then) {
    std::vector<std::string> fields;
    const language::Node* require = tree_.parse(rule.require);
    named(require, then, fields);
    language::Explainer explainer(tree_, memory_, then);
    const auto values = explainer.values(require);
    const auto text = std::string_view(rule.require);
    std::string best[3];
    size_t at[3] = {0, 0, 0};
    for (const std::string& field : fields) {
      bool alone = false, within = false;
      for (const auto& value : values) {
        alone = alone || value.first == field;
        within = within || value.first.find(field) != std::string::npos;
      }
      const size_t found = text.find(field) + 1;  // 0 for what a short name stands for
      for (int rank = alone ? 0 : within ? 1 : 2; rank < 3; ++rank)
        if (best[rank].empty() || found < at[rank] || (found == at[rank] && field < best[rank]))
          best[rank] = field, at[rank] = found;
    }
    return !best[0].empty() ? best[0] : !best[1].empty() ? best[1] : best[2];
  }
  void named(const language::Node* node, const language::Context& then, std::vector<std::string>& fields) {
    if (node->kind == language::Kind::name) {
      if (const char* text = then.define(node->text)) return named(tree_.parse(text), then, fields);
      if (then.field(node->text) != nullptr) fields.push_back(std::string(node->text));
    }
    for (const language::Node* part : node->parts) named(part, then, fields);
  }
};
