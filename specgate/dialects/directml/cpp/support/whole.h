// Integers of any length for rules: most fit into 64 bits, and stay so.
class Whole {
 public:
  Whole() = default;
  Whole(int64_t value) : small_(value) {}
  static Whole of(int64_t value) { return Whole(value); }
  static Whole of(uint64_t value) { return made(false, {uint32_t(value), uint32_t(value >> 32)}); }

  bool is_small() const { return large_ == nullptr; }
  int64_t value() const { return small_; }  // only if it fits
  bool negative() const { return is_small() ? small_ < 0 : large_->negative; }
  bool zero() const { return is_small() && small_ == 0; }

  friend Whole operator+(const Whole& a, const Whole& b) {
    if (a.is_small() && b.is_small()) {
      const bool over = b.small_ > 0 ? a.small_ > INT64_MAX - b.small_ : a.small_ < INT64_MIN - b.small_;
      if (!over) return Whole(a.small_ + b.small_);
    }
    const Digits one = a.magnitude(), other = b.magnitude();
    if (a.negative() == b.negative()) return made(a.negative(), sum(one, other));
    return compared(one, other) >= 0 ? made(a.negative(), difference(one, other))
                                     : made(b.negative(), difference(other, one));
  }
  friend Whole operator-(const Whole& a) { return made(!a.negative(), a.magnitude()); }
  friend Whole operator-(const Whole& a, const Whole& b) { return a + -b; }
  friend Whole operator*(const Whole& a, const Whole& b) {
    if (a.is_small() && b.is_small() && small_product(a.small_) && small_product(b.small_))
      return Whole(a.small_ * b.small_);
    return made(a.negative() != b.negative(), product(a.magnitude(), b.magnitude()));
  }
  // Division that rounds down, by a nonzero divisor; `rest` has its sign.
  friend Whole divided(const Whole& a, const Whole& b, Whole& rest) {
    if (a.is_small() && b.is_small() && a.small_ > INT64_MIN) {
      const int64_t left = a.small_ % b.small_;
      const bool other_way = left != 0 && (left < 0) != (b.small_ < 0);
      rest = Whole(other_way ? left + b.small_ : left);
      return Whole(a.small_ / b.small_ - (other_way ? 1 : 0));
    }
    Digits left;
    Whole result = made(a.negative() != b.negative(), quotient(a.magnitude(), b.magnitude(), left));
    rest = made(a.negative(), left);
    if (rest.zero() || a.negative() == b.negative()) return result;
    rest = rest + b;
    return result - Whole(1);
  }
  // Negative if it is less than another one, 0 if both are equal.
  friend int compare(const Whole& a, const Whole& b) {
    if (a.is_small() && b.is_small()) return a.small_ < b.small_ ? -1 : a.small_ > b.small_ ? 1 : 0;
    if (a.negative() != b.negative()) return a.negative() ? -1 : 1;
    const int found = compared(a.magnitude(), b.magnitude());
    return a.negative() ? -found : found;
  }

  double approximate() const {
    if (is_small()) return double(small_);
    double found = 0;
    const Digits& digits = large_->digits;
    for (size_t i = digits.size(); i-- > 0;) found = found * 4294967296.0 + digits[i];
    return large_->negative ? -found : found;
  }
  int64_t bits() const {
    const Digits digits = magnitude();
    int64_t found = int64_t(digits.size()) * 32;
    for (uint32_t top = digits.empty() ? 0 : digits.back(); found > 0 && (top & 0x80000000u) == 0; top <<= 1) --found;
    return found;
  }
  std::string text() const {
    if (is_small()) return std::to_string(small_);
    std::string found;
    for (Digits left = large_->digits; !left.empty();) {
      uint64_t rest = 0;
      for (size_t i = left.size(); i-- > 0;) {
        rest = rest << 32 | left[i];
        left[i] = uint32_t(rest / 10);
        rest %= 10;
      }
      found.insert(found.begin(), char('0' + rest));
      trim(left);
    }
    return large_->negative ? "-" + found : found;
  }

 private:
  using Digits = std::vector<uint32_t>;  // the lowest first, without leading zeros
  struct Large {
    bool negative;
    Digits digits;
  };

  static bool small_product(int64_t value) { return value > -(int64_t(1) << 31) && value < (int64_t(1) << 31); }
  static void trim(Digits& digits) {
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
  }
  Digits magnitude() const {
    if (!is_small()) return large_->digits;
    const uint64_t value = small_ < 0 ? ~uint64_t(small_) + 1 : uint64_t(small_);
    Digits found{uint32_t(value), uint32_t(value >> 32)};
    trim(found);
    return found;
  }
  static Whole made(bool negative, Digits digits) {
    trim(digits);
    if (digits.size() <= 2) {
      const uint64_t low = digits.empty() ? 0 : digits[0], high = digits.size() < 2 ? 0 : digits[1];
      const uint64_t value = high << 32 | low;
      if (value <= uint64_t(INT64_MAX)) return Whole(negative ? -int64_t(value) : int64_t(value));
    }
    Whole found;
    found.large_ = std::make_shared<const Large>(Large{negative, std::move(digits)});
    return found;
  }
  static int compared(const Digits& a, const Digits& b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    for (size_t i = a.size(); i-- > 0;)
      if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
  }
  static Digits sum(const Digits& a, const Digits& b) {
    Digits found;
    uint64_t carry = 0;
    for (size_t i = 0; i < a.size() || i < b.size() || carry != 0; ++i, carry >>= 32) {
      carry += uint64_t(i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
      found.push_back(uint32_t(carry));
    }
    return found;
  }
  static Digits difference(const Digits& a, const Digits& b) {
    Digits found;
    int64_t borrow = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t left = int64_t(a[i]) - (i < b.size() ? int64_t(b[i]) : 0) - borrow;
      borrow = left < 0 ? 1 : 0;
      found.push_back(uint32_t(left));
    }
    trim(found);
    return found;
  }
  static Digits product(const Digits& a, const Digits& b) {
    Digits found(a.size() + b.size(), 0);
    for (size_t i = 0; i < a.size(); ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; j < b.size(); ++j, carry >>= 32) {
        carry += uint64_t(a[i]) * b[j] + found[i + j];
        found[i + j] = uint32_t(carry);
      }
      found[i + b.size()] = uint32_t(carry);
    }
    return found;
  }
  static Digits quotient(const Digits& a, const Digits& b, Digits& rest) {
    Digits found(a.size(), 0);
    rest.clear();
    for (size_t bit = a.size() * 32; bit-- > 0;) {
      uint32_t carry = a[bit / 32] >> (bit % 32) & 1;
      for (uint32_t& digit : rest) {
        const uint32_t out = digit >> 31;
        digit = digit << 1 | carry;
        carry = out;
      }
      if (carry != 0) rest.push_back(carry);
      if (compared(rest, b) < 0) continue;
      rest = difference(rest, b);
      found[bit / 32] |= uint32_t(1) << (bit % 32);
    }
    return found;
  }

  int64_t small_ = 0;
  std::shared_ptr<const Large> large_ = {};  // if 64 bits are not enough
};
