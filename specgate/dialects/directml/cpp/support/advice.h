// Fixes as prose: "set dimension -1 of B to 3 or 1".
class Advice {
 public:
  // place: the name of the tensor for a rule on all tensors.
  Advice(Arena& arena, const Context& context, std::string_view place)
      : arena_(arena), context_(context), place_(place) {}

  // A fix as one phrase, nothing if it would not help a reader.
  std::string_view of(const Repair& repair) const {
    std::vector<std::vector<const Step*>> groups;
    for (const Step& step : repair) {
      std::vector<const Step*>* found = nullptr;
      for (auto& group : groups)
        if (alike(*group[0], step)) found = &group;
      if (found == nullptr) groups.emplace_back(), found = &groups.back();
      found->push_back(&step);
    }
    if (groups.size() > 3) return "";
    Texts phrases;
    for (const auto& group : groups) phrases.push_back(phrase(group));
    return listed(arena_, phrases, " and ", " and ");
  }

 private:
  using Of = Spot::Kind;
  Arena& arena_;
  const Context& context_;
  const std::string_view place_;

  static bool alike(const Step& one, const Step& other) {
    const Of kind = one.spot.kind;
    const bool together =
        kind == Of::rank || kind == Of::type || kind == Of::size || kind == Of::sizes || kind == Of::elements;
    if (kind != other.spot.kind || one.span != other.span || one.values.size() != other.values.size()) return false;
    if (!together && !(one.spot == other.spot)) return false;
    if (one.spot.told != other.spot.told) return false;
    for (size_t i = 0; i < one.values.size(); ++i)
      if (!same_values(one.values[i], other.values[i])) return false;
    return true;
  }

  std::string_view owner(const Spot& spot) const {
    const std::string_view name = context_.tensor != nullptr ? place_ : spot.field;
    return spot.item < 0 ? name : arena_.text({name, "[", arena_.number(spot.item), "]"});
  }

  std::string_view phrase(const std::vector<const Step*>& steps) const {
    const Step& step = *steps[0];
    const Spot& spot = step.spot;
    Texts owners;
    for (const Step* one : steps) add(owners, owner(one->spot));
    const std::string_view owner = listed(arena_, owners), values = choices(step);
    const std::string_view plural = values == "1" ? "" : "s";
    switch (spot.kind) {
      case Of::set: return arena_.text({"set ", owner, " to ", values});
      case Of::member: return arena_.text({"set ", owner, ".", part_of(spot), " to ", values});
      case Of::element: return arena_.text({"set ", owner, "[", arena_.number(spot.at), "] to ", values});
      case Of::length: return arena_.text({"give ", owner, " ", values, " value", plural});
      case Of::absent: return arena_.text({"leave ", owner, " out"});
      case Of::given: return arena_.text({"give ", owner});
      case Of::strides: return arena_.text({"leave the strides of ", owner, " out"});
      case Of::size: return arena_.text({"set dimension ", spot.told, " of ", owner, " to ", values});
      case Of::sizes: return arena_.text({"set the sizes of ", owner, " to ", values});
      case Of::rank: return arena_.text({"give ", owner, " rank ", values});
      case Of::elements: return arena_.text({"give ", owner, " ", values, " element", plural});
      case Of::type: break;
    }
    const bool output = is_output(context_.member(spot.field)->shape);
    const std::string loss = losses(steps);
    const std::string_view words = arena_.text({output ? "give " : "cast ", owner, output ? " the type " : " to ", values});
    return loss.empty() ? words : arena_.text({words, " (", loss, ")"});
  }
  // The losses of input casts, each once.
  std::string losses(const std::vector<const Step*>& steps) const {
    std::vector<std::string> known;
    for (const Step* one : steps) {
      const Value* held = context_.field(one->spot.field);
      if (held == nullptr || is_output(context_.member(one->spot.field)->shape) || one->values.empty() || one->values[0].is != Value::Is::word) continue;
      const Tensor* tensor = one->spot.item < 0 ? held->tensor : held->item(one->spot.item).tensor;
      if (tensor == nullptr || tensor->type == no_type) continue;
      const char* found = word_of(enum_TENSOR_DATA_TYPE, tensor->type);
      const std::string loss = found == nullptr ? "" : lost(found, one->values[0].word);
      if (!loss.empty() && std::find(known.begin(), known.end(), loss) == known.end()) known.push_back(loss);
    }
    std::string made;
    for (const std::string& loss : known) made += (made.empty() ? "" : "; ") + loss;
    return made;
  }
  const char* part_of(const Spot& spot) const {
    const bool size = context_.field(spot.field)->flag;
    return spot.at == 0 ? (size ? "Width" : "Scale") : (size ? "Height" : "Bias");
  }

  std::string_view choices(const Step& step) const {
    constexpr size_t most = 6;
    if (step.span) {
      const Value &low = step.values[0], &high = step.values[1];
      if (low.none()) return arena_.text({told(arena_, high), " or less"});
      if (high.none()) return arena_.text({told(arena_, low), " or more"});
      return arena_.text({"a value from ", told(arena_, low), " to ", told(arena_, high)});
    }
    Texts shown;
    const size_t count = step.values.size(), alone = count > most ? most - 1 : count;
    for (size_t i = 0; i < alone; ++i) add(shown, told(arena_, step.values[i]));
    if (count > most) shown.push_back(arena_.text({"another of ", arena_.number(int64_t(count))}));
    return listed(arena_, shown, ", ", " or ");
  }
};
