// Properties of expressions, and their text.

inline bool is_call(const Node* node, std::string_view name) { return node->kind == Kind::call && node->text == name; }
// Whether a node computes a value from its operands.
inline bool computes(Kind kind) { return kind >= Kind::negation && kind <= Kind::modulo; }
inline bool is_loop(const Node* node) { return node->kind == Kind::loop; }
inline bool is_literal(const Node* node) { return node->kind <= Kind::text; }
// The value of a number; long ones exist as text only.
inline Whole whole_of(const Node* node) {
  constexpr size_t most_digits = 18;  // surely fits into 64 bits
  if (node->text.size() <= most_digits) return Whole(node->number);
  Whole made;
  for (const char digit : node->text) made = made * Whole(10) + Whole(digit - '0');
  return made;
}

// A part of a rule as text, with the parentheses of Python's `ast.unparse`.
class Spelling {
 public:
  static std::string of(const Node* node) { return part(node, 0); }

 private:
  // Precedence; the missing numbers are those of operators that rules do not have.
  static int binding(Kind kind) {
    switch (kind) {
      case Kind::choice: return 1;
      case Kind::any_of: return 2;
      case Kind::all_of: return 3;
      case Kind::negation: return 4;
      case Kind::compare: return 5;
      case Kind::sum:
      case Kind::difference: return 10;
      case Kind::product:
      case Kind::quotient:
      case Kind::modulo: return 11;
      case Kind::minus: return 12;
      default: return strongest;
    }
  }
  static constexpr int strongest = 15;

  static std::string part(const Node* node, int least) {
    const std::string text = bare(node);
    return binding(node->kind) < least ? "(" + text + ")" : text;
  }
  // each: the increase of the required precedence per operand.
  static std::string listed(const Nodes& parts, const char* between, int least = 0, int each = 0) {
    std::string made;
    for (const Node* one : parts) {
      made += (made.empty() ? "" : between) + part(one, least);
      least = (std::min)(least + each, strongest);
    }
    return made;
  }
  static std::string binary(const Node* node, const char* sign) {
    const int binds = binding(node->kind);
    return part(node->parts[0], binds) + sign + part(node->parts[1], binds + 1);
  }
  static std::string bare(const Node* node) {
    const Nodes& parts = node->parts;
    const std::string text(node->text);
    switch (node->kind) {
      case Kind::constant: return whole_of(node).text();
      case Kind::real: return real_text(node->real);
      case Kind::text: return "'" + text + "'";
      case Kind::name: return text;
      case Kind::attribute: return part(parts[0], strongest) + "." + text;
      case Kind::subscript: return part(parts[0], strongest) + "[" + part(parts[1], 0) + "]";
      case Kind::call: return text + "(" + listed(parts, ", ") + ")";
      case Kind::list:
        if (node->bracketed) return "[" + listed(parts, ", ") + "]";
        return "(" + listed(parts, ", ") + (parts.size() == 1 ? ",)" : ")");
      case Kind::loop: return loop(node);
      case Kind::any_of: return listed(parts, " or ", 3, 1);
      case Kind::all_of: return listed(parts, " and ", 4, 1);
      case Kind::negation: return "not " + part(parts[0], 4);
      case Kind::minus: return "-" + part(parts[0], 12);
      case Kind::sum: return binary(node, " + ");
      case Kind::difference: return binary(node, " - ");
      case Kind::product: return binary(node, " * ");
      case Kind::quotient: return binary(node, " // ");
      case Kind::modulo: return binary(node, " % ");
      case Kind::compare: return compared(node);
      default: return part(parts[1], 2) + " if " + part(parts[0], 2) + " else " + part(parts[2], 1);
    }
  }
  static std::string loop(const Node* node) {
    const Nodes& parts = node->parts;
    std::string made = "(" + part(parts[0], 0) + " for " + std::string(node->text) + " in " + part(parts[1], 2);
    for (size_t i = 2; i < parts.size(); ++i) made += " if " + part(parts[i], 2);
    return made + ")";
  }
  static std::string compared(const Node* node) {
    static constexpr const char* signs[] = {" == ", " != ", " < ", " <= ", " > ", " >= ", " in ", " not in "};
    std::string made = part(node->parts[0], 6);
    for (size_t i = 0; i < node->links.size(); ++i) made += signs[size_t(node->links[i])] + part(node->parts[i + 1], 6);
    return made;
  }
};
