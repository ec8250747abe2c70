// Numbers of messages and of the evaluator.

// An integer of any length; most fit into 64 bits.
class BigInt {
 public:
  BigInt(int64_t value = 0) : small_(value) {}
  BigInt(bool negative, std::vector<uint32_t> digits) {
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    digits.resize((std::max)(digits.size(), size_t(2)));
    const uint64_t low = uint64_t(digits[1]) << 32 | digits[0];
    if (digits.size() == 2 && low <= uint64_t(INT64_MAX)) small_ = negative ? -int64_t(low) : int64_t(low);
    else large_ = std::make_shared<const Large>(Large{negative, std::move(digits)});
  }
  static BigInt of(uint64_t value) { return BigInt(false, {uint32_t(value), uint32_t(value >> 32)}); }

  static BigInt parse(std::string_view text) {
    BigInt number;
    for (const char digit : text) number = number * BigInt(10) + BigInt(digit - '0');
    return number;
  }

  bool is_small() const { return large_ == nullptr; }
  int64_t value() const { return small_; }  // only if it fits
  bool negative() const { return is_small() ? small_ < 0 : large_->negative; }
  bool zero() const { return is_small() && small_ == 0; }

  friend BigInt operator-(const BigInt& a) { return BigInt(!a.negative(), a.digits()); }
  friend BigInt operator-(const BigInt& a, const BigInt& b) { return a + -b; }
  friend BigInt operator+(const BigInt& a, const BigInt& b) {
    constexpr int64_t half = INT64_MAX / 2;
    if (a.within(half) && b.within(half)) return a.small_ + b.small_;
    const Digits one = a.digits(), other = b.digits();
    if (a.negative() == b.negative()) return BigInt(a.negative(), sum(one, other, 1));
    const bool less = order(one, other) < 0;
    return BigInt(less ? b.negative() : a.negative(), less ? sum(other, one, -1) : sum(one, other, -1));
  }
  friend BigInt operator*(const BigInt& a, const BigInt& b) {
    if (a.within(INT32_MAX) && b.within(INT32_MAX)) return a.small_ * b.small_;
    const Digits one = a.digits(), other = b.digits();
    Digits product(one.size() + other.size(), 0);
    for (size_t i = 0; i < one.size(); ++i) {
      uint64_t carry = 0;
      for (size_t j = 0; j < other.size(); ++j, carry >>= 32)
        product[i + j] = uint32_t(carry += uint64_t(one[i]) * other[j] + product[i + j]);
      product[i + other.size()] = uint32_t(carry);
    }
    return BigInt(a.negative() != b.negative(), product);
  }
  // The quotient by a nonzero divisor, rounded down; `rest` has the divisor's sign.
  friend BigInt divide(const BigInt& a, const BigInt& b, BigInt& rest) {
    BigInt quotient;
    if (a.within(INT64_MAX) && b.is_small()) {
      quotient = a.small_ / b.small_;
      rest = a.small_ % b.small_;
    } else {
      const Digits digits = a.digits();
      const BigInt divisor(false, b.digits());
      rest = 0;
      for (size_t bit = digits.size() * 32; bit-- > 0;) {  // long division, one bit at a time
        rest = rest + rest + BigInt(digits[bit / 32] >> (bit % 32) & 1);
        const bool fits = compare(rest, divisor) >= 0;
        if (fits) rest = rest - divisor;
        quotient = quotient + quotient + BigInt(fits ? 1 : 0);
      }
      if (a.negative()) rest = -rest;
      if (a.negative() != b.negative()) quotient = -quotient;
    }
    if (rest.zero() || rest.negative() == b.negative()) return quotient;
    rest = rest + b;
    return quotient - BigInt(1);
  }
  // Negative if a < b, 0 if both are equal.
  friend int compare(const BigInt& a, const BigInt& b) {
    if (a.is_small() && b.is_small()) return a.small_ < b.small_ ? -1 : a.small_ > b.small_ ? 1 : 0;
    if (a.negative() != b.negative()) return a.negative() ? -1 : 1;
    return a.negative() ? order(b.digits(), a.digits()) : order(a.digits(), b.digits());
  }

  double approximate() const { return is_small() ? double(small_) : std::strtod(text().c_str(), nullptr); }
  size_t bits() const {
    const Digits digits = this->digits();
    size_t count = digits.size() * 32;
    while (count > 0 && (digits[(count - 1) / 32] >> ((count - 1) % 32) & 1) == 0) --count;
    return count;
  }
  std::string text() const {
    if (is_small()) return std::to_string(small_);
    std::string text;
    BigInt left(false, large_->digits), digit;
    for (; !left.zero(); text.insert(text.begin(), char('0' + digit.small_))) left = divide(left, BigInt(10), digit);
    return large_->negative ? "-" + text : text;
  }

 private:
  using Digits = std::vector<uint32_t>;  // the lowest first
  struct Large {
    bool negative;
    Digits digits;
  };
  int64_t small_ = 0;
  std::shared_ptr<const Large> large_ = {};  // if 64 bits are not enough

  bool within(int64_t limit) const { return is_small() && small_ <= limit && small_ >= -limit; }
  Digits digits() const {
    if (!is_small()) return large_->digits;
    const uint64_t value = small_ < 0 ? ~uint64_t(small_) + 1 : uint64_t(small_);
    return {uint32_t(value), uint32_t(value >> 32)};
  }
  static int order(const Digits& a, const Digits& b) {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    for (size_t i = a.size(); i-- > 0;)
      if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
  }
  // a + sign * b; for a difference a is not less than b.
  static Digits sum(const Digits& a, const Digits& b, int sign) {
    Digits digits;
    int64_t carry = 0;
    for (size_t i = 0; i < (std::max)(a.size(), b.size()); ++i) {
      carry += int64_t(i < a.size() ? a[i] : 0) + sign * int64_t(i < b.size() ? b[i] : 0);
      digits.push_back(uint32_t(carry));
      carry = carry < 0 ? -1 : carry >> 32;
    }
    digits.push_back(uint32_t(carry));
    return digits;
  }
};

// A floating-point number as Python prints it: the shortest digits that round-trip, with an exponent if long.
inline std::string real_text(double number) {
  if (number != number) return "nan";
  if (number - number != 0) return number < 0 ? "-inf" : "inf";
  char buffer[40];
  for (int digits = 0; digits < 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*e", digits, number);
    if (std::strtod(buffer, nullptr) == number) break;
  }
  const char* const end = std::strchr(buffer, 'e');
  const int exponent = std::atoi(end + 1);
  if (exponent < -4 || exponent >= 16) return buffer;
  std::string digits, sign = buffer[0] == '-' ? "-" : "";
  std::copy_if<const char*>(buffer, end, std::back_inserter(digits), [](char c) { return c >= '0' && c <= '9'; });
  if (exponent < 0) return sign + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  if (digits.size() <= size_t(exponent) + 1) digits.append(size_t(exponent) + 2 - digits.size(), '0');
  return sign + digits.insert(size_t(exponent) + 1, ".");
}
