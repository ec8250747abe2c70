// What to change, in words: "give dimension -1 of B the size 3 or 1".
class Advice {
 public:
  // place: how the tensor is called that a rule of every tensor was judged on.
  Advice(const Context& context, const std::string& place) : context_(context), place_(place) {}

  // A repair in one phrase, nothing where a reader could make nothing of it.
  std::string of(const Repair& repair) const {
    std::vector<std::vector<const Step*>> groups;
    for (const Step& step : repair) {
      std::vector<const Step*>* found = nullptr;
      for (auto& group : groups)
        if (alike(*group[0], step)) found = &group;
      if (found == nullptr) groups.emplace_back(), found = &groups.back();
      found->push_back(&step);
    }
    std::vector<std::string> phrases;
    for (const auto& group : groups) phrases.push_back(phrase(group));
    std::string made;
    for (const std::string& one : phrases) made += (made.empty() ? "" : " and ") + one;
    return phrases.size() <= 3 ? made : "";
  }

  static std::string either(const std::vector<std::string>& parts, const char* last) {
    std::vector<std::string> every;
    for (const std::string& part : parts)
      if (std::find(every.begin(), every.end(), part) == every.end()) every.push_back(part);
    return listed(every, last);
  }

 private:
  using Of = Spot::Kind;
  const Context& context_;
  const std::string& place_;

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

  std::string owner(const Spot& spot) const {
    const std::string name = context_.tensor != nullptr ? place_ : std::string(spot.field);
    return spot.item < 0 ? name : name + "[" + std::to_string(spot.item) + "]";
  }

  std::string phrase(const std::vector<const Step*>& steps) const {
    const Step& step = *steps[0];
    const Spot& spot = step.spot;
    std::vector<std::string> owners;
    for (const Step* one : steps) owners.push_back(owner(one->spot));
    const std::string owner = either(owners, " and "), values = choices(step);
    const std::string plural = values == "1" ? "" : "s", at = std::to_string(spot.at);
    const Member* member = context_.tensor != nullptr ? context_.judged : context_.member(spot.field);
    switch (spot.kind) {
      case Of::set: return "set " + owner + " to " + values;
      case Of::member: return "set " + owner + "." + part_of(spot) + " to " + values;
      case Of::element: return "set " + owner + "[" + at + "] to " + values;
      case Of::length: return "give " + owner + " " + values + " value" + plural;
      case Of::absent: return "leave " + owner + " out";
      case Of::given: return "give " + owner;
      case Of::strides: return "leave the strides of " + owner + " out";
      case Of::size: return "give dimension " + spot.told + " of " + owner + " the size " + values;
      case Of::sizes: return "give " + owner + " the sizes " + values;
      case Of::rank: return "give " + owner + " rank " + values;
      case Of::elements: return "give " + owner + " " + values + " element" + plural;
      case Of::type: break;
    }
    const bool output = member != nullptr && is_output(member->shape);
    return output ? "give " + owner + " the type " + values : "cast " + owner + " to " + values;
  }
  const char* part_of(const Spot& spot) const {
    const bool size = context_.field(spot.field)->flag;
    return spot.at == 0 ? (size ? "Width" : "Scale") : (size ? "Height" : "Bias");
  }

  static std::string choices(const Step& step) {
    constexpr size_t most = 6;
    if (step.span) {
      const Value &low = step.values[0], &high = step.values[1];
      if (low.none()) return told(high) + " or less";
      return high.none() ? told(low) + " or more" : "a value from " + told(low) + " to " + told(high);
    }
    std::vector<std::string> shown;
    for (size_t i = 0; i < step.values.size() && i < most; ++i) shown.push_back(told(step.values[i]));
    if (step.values.size() > most) shown.back() = "another of " + std::to_string(step.values.size());
    return either(shown, " or ");
  }
};
