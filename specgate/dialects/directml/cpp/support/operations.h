// What parts of rules compute of values that are known.

inline Value linked(Link link, const Value& left, const Value& right) {
  if (link == Link::among || link == Link::not_among) {
    if (right.open()) return right;
    bool open = false, found = false;
    for (int64_t i = 0; i < right.length() && !found; ++i) {
      const Value same = equal(left, right.item(i));
      found = same.true_();
      open = open || same.open();
    }
    return !found && open ? Value::unknown() : Value::truth(found == (link == Link::among));
  }
  if (link == Link::equal || link == Link::differs) {
    const Value same = equal(left, right);
    return same.open() ? same : Value::truth(same.flag == (link == Link::equal));
  }
  if (!left.number() || !right.number()) return Value::unknown();
  const int order = ordered(left, right);
  if (order == 2) return Value::truth(false);
  return Value::truth(link == Link::less      ? order < 0
                      : link == Link::at_most ? order <= 0
                      : link == Link::more    ? order > 0
                                              : order >= 0);
}

inline Whole count_of(const Tensor& tensor) {
  Whole found(1);
  for (int64_t d = 0; d < tensor.sizes.count; ++d) found = found * Whole(int64_t(load(tensor.sizes.data + d)));
  return found;
}
inline Whole reach_of(const Tensor& tensor) {
  if (!tensor.strides.given) return count_of(tensor);
  Whole found(1);
  for (int64_t d = 0; d < tensor.sizes.count; ++d) {
    const int64_t size = load(tensor.sizes.data + d);
    if (size == 0) return Whole(0);
    found = found + Whole(size - 1) * Whole(int64_t(load(tensor.strides.data + d)));
  }
  return found;
}

inline bool power_of_two(Whole number) {
  if (number.negative() || number.zero()) return false;
  Whole rest;
  while (compare(number, Whole(1)) > 0) {
    number = divided(number, Whole(2), rest);
    if (!rest.zero()) return false;
  }
  return true;
}
