// The language of rules, read from their texts when a finding has to say which values break one. Its parts are those of
// Python's syntax, which it is a piece of.

enum class Kind : uint8_t {
  constant,
  real,
  text,
  name,
  attribute,
  subscript,
  call,
  list,
  loop,
  all_of,
  any_of,
  negation,
  minus,
  sum,
  difference,
  product,
  quotient,
  modulo,
  compare,
  choice
};
enum class Link : uint8_t { equal, differs, less, at_most, more, at_least, among, not_among };

struct Node;
using Nodes = std::vector<const Node*>;

// text: a name, a word in quotes without them, or what stands behind a dot. parts: of an attribute its owner, of an
// element the sequence and the index, of a loop what each turn gives, the sequence, and its conditions; of a choice the
// condition and both ways.
struct Node {
  Kind kind = Kind::constant;
  std::string_view text = {};
  Nodes parts = {};
  std::vector<Link> links = {};
  Whole number = {};
  double real = 0;
  bool bracketed = false;  // a list in square brackets
};

inline bool is_call(const Node* node, std::string_view name) { return node->kind == Kind::call && node->text == name; }
// Whether a part computes a value of those of its own parts.
inline bool computes(Kind kind) { return kind >= Kind::negation && kind <= Kind::modulo; }
inline bool is_loop(const Node* node) { return node->kind == Kind::loop; }
inline bool is_literal(const Node* node) { return node->kind <= Kind::text; }

// Owns the parts of rules; what it gives lives as long as it does.
class Tree {
 public:
  const Node* make(Node node) {
    nodes_.push_front(std::move(node));
    return &nodes_.front();
  }
  const Node* number(int64_t value) {
    Node made;
    made.number = value;
    return make(std::move(made));
  }
  const Node* element(const Node* sequence, int64_t index) {
    Node made{Kind::subscript};
    made.parts = {sequence, number(index)};
    return make(std::move(made));
  }
  const Node* call(std::string_view name, const Node* argument) { return make(Node{Kind::call, name, {argument}}); }

  // What a text means. Only texts of the tables are read, which are whole; each is read once.
  const Node* parse(const char* text) {
    for (const auto& one : parsed_)
      if (one.first == text) return one.second;
    const char* before = at_;
    at_ = text;
    const Node* made = choice();
    at_ = before;
    parsed_.emplace_back(text, made);
    return made;
  }

 private:
  std::forward_list<Node> nodes_;
  std::vector<std::pair<const char*, const Node*>> parsed_;
  const char* at_ = "";

  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool digit(char c) { return c >= '0' && c <= '9'; }

  void blanks() {
    while (*at_ == ' ' || *at_ == '\n') ++at_;
  }
  bool sign(std::string_view wanted) {
    blanks();
    if (std::strncmp(at_, wanted.data(), wanted.size()) != 0) return false;
    at_ += wanted.size();
    return true;
  }
  std::string_view word() {
    blanks();
    const char* from = at_;
    while (letter(*at_) || digit(*at_)) ++at_;
    return std::string_view(from, size_t(at_ - from));
  }
  bool keyword(std::string_view wanted) {
    blanks();
    const char* before = at_;
    if (letter(*at_) && word() == wanted) return true;
    at_ = before;
    return false;
  }
  const Node* joined(Kind kind, const Node* left, const Node* right) { return make(Node{kind, {}, {left, right}}); }

  const Node* choice() {
    const Node* body = any_of();
    if (!keyword("if")) return body;
    const Node* test = any_of();
    keyword("else");
    const Node* otherwise = choice();
    return make(Node{Kind::choice, {}, {test, body, otherwise}});
  }
  const Node* any_of() {
    Node made{Kind::any_of, {}, {all_of()}};
    while (keyword("or")) made.parts.push_back(all_of());
    return made.parts.size() == 1 ? made.parts[0] : make(std::move(made));
  }
  const Node* all_of() {
    Node made{Kind::all_of, {}, {negation()}};
    while (keyword("and")) made.parts.push_back(negation());
    return made.parts.size() == 1 ? made.parts[0] : make(std::move(made));
  }
  const Node* negation() {
    if (!keyword("not")) return compare();
    const Node* operand = negation();
    return make(Node{Kind::negation, {}, {operand}});
  }
  bool link(Link& found) {
    const char* before = at_;
    if (keyword("in")) return found = Link::among, true;
    if (keyword("not") && keyword("in")) return found = Link::not_among, true;
    at_ = before;
    if (sign("==")) return found = Link::equal, true;
    if (sign("!=")) return found = Link::differs, true;
    if (sign("<=")) return found = Link::at_most, true;
    if (sign(">=")) return found = Link::at_least, true;
    if (sign("<")) return found = Link::less, true;
    if (sign(">")) return found = Link::more, true;
    return false;
  }
  const Node* compare() {
    Node made{Kind::compare, {}, {sum()}};
    for (Link found; link(found);) {
      made.links.push_back(found);
      made.parts.push_back(sum());
    }
    return made.links.empty() ? made.parts[0] : make(std::move(made));
  }
  const Node* sum() {
    const Node* left = product();
    for (;;) {
      if (sign("+")) {
        left = joined(Kind::sum, left, product());
      } else if (sign("-")) {
        left = joined(Kind::difference, left, product());
      } else {
        return left;
      }
    }
  }
  const Node* product() {
    const Node* left = minus();
    for (;;) {
      if (sign("//")) {
        left = joined(Kind::quotient, left, minus());
      } else if (sign("*")) {
        left = joined(Kind::product, left, minus());
      } else if (sign("%")) {
        left = joined(Kind::modulo, left, minus());
      } else {
        return left;
      }
    }
  }
  const Node* minus() {
    if (!sign("-")) return postfix();
    const Node* operand = minus();
    return make(Node{Kind::minus, {}, {operand}});
  }
  const Node* postfix() {
    const Node* made = atom();
    for (;;) {
      if (sign(".")) {
        made = make(Node{Kind::attribute, word(), {made}});
      } else if (sign("[")) {
        const Node* index = choice();
        sign("]");
        made = make(Node{Kind::subscript, {}, {made, index}});
      } else if (made->kind == Kind::name && sign("(")) {
        made = make(Node{Kind::call, made->text, arguments(")").parts});
      } else {
        return made;
      }
    }
  }
  // What stands between brackets, up to the closing one: one loop, or several parts.
  Node arguments(std::string_view end) {
    Node made{Kind::list};
    while (!sign(end)) {
      const Node* one = choice();
      made.parts.push_back(keyword("for") ? loop(one) : one);
      sign(",");
    }
    return made;
  }
  const Node* loop(const Node* element) {
    const std::string_view variable = word();
    keyword("in");
    Node made{Kind::loop, variable, {element, any_of()}};
    while (keyword("if")) made.parts.push_back(any_of());
    return make(std::move(made));
  }
  const Node* atom() {
    blanks();
    if (digit(*at_)) return literal();
    if (*at_ == '\'') return quoted();
    if (letter(*at_)) return make(Node{Kind::name, word()});
    const bool bracketed = *at_ == '[';
    ++at_;
    const char* inside = at_;
    Node made = arguments(bracketed ? "]" : ")");
    const bool several = made.parts.size() != 1 || bracketed || trailing_comma(inside);
    if (!several) return made.parts[0];
    made.bracketed = bracketed;
    return make(std::move(made));
  }
  const Node* quoted() {
    const char* from = ++at_;
    while (*at_ != '\'') ++at_;
    return make(Node{Kind::text, std::string_view(from, size_t(at_++ - from))});
  }
  // Whether the brackets that end here hold one part and a comma.
  bool trailing_comma(const char* inside) const {
    const char* last = at_ - 1;
    while (last > inside && (*last == ')' || *last == ' ')) --last;
    return *last == ',';
  }
  const Node* literal() {
    Node made;
    const char* from = at_;
    while (digit(*at_)) made.number = made.number * Whole(10) + Whole(*at_++ - '0');
    if (*at_ == '.' && digit(at_[1])) {
      made.kind = Kind::real;
      double place = 1;
      for (++at_; digit(*at_); ++at_, place *= 10) made.number = made.number * Whole(10) + Whole(*at_ - '0');
      made.real = made.number.approximate() / place;
    }
    made.text = std::string_view(from, size_t(at_ - from));
    return make(std::move(made));
  }
};
