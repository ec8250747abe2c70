// Numbers as texts.

// A floating-point number as Python prints it: the shortest digits that round-trip, with an exponent if long.
inline std::string real_text(double number) {
  if (number != number) return "nan";
  if (number - number != 0) return number < 0 ? "-inf" : "inf";
  char text[40];
#if defined(__cpp_lib_to_chars) && !defined(SPECGATE_NO_TO_CHARS)
  *std::to_chars(text, text + sizeof text - 1, number, std::chars_format::scientific).ptr = 0;
#else
  for (int digits = 0; digits < 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*e", digits, number);
    if (std::strtod(text, nullptr) == number) break;
  }
#endif
  std::string digits;
  const char* at = text + (text[0] == '-' ? 1 : 0);
  for (; *at != 'e'; ++at)
    if (*at >= '0' && *at <= '9') digits += *at;
  const int exponent = std::atoi(at + 1);
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::string made = text[0] == '-' ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    made += digits[0];
    if (digits.size() > 1) made += "." + digits.substr(1);
    const std::string power = std::to_string(exponent < 0 ? -exponent : exponent);
    return made + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  if (exponent < 0) return made + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  if (digits.size() <= size_t(exponent) + 1) digits.append(size_t(exponent) + 2 - digits.size(), '0');
  return made + digits.substr(0, size_t(exponent) + 1) + "." + digits.substr(size_t(exponent) + 1);
}
