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

// Several things one after another, which lie elsewhere.
template <class T>
struct Span {
  const T* data = nullptr;
  size_t count = 0;

  size_t size() const { return count; }
  const T& operator[](size_t at) const { return data[at]; }
  const T* begin() const { return data; }
  const T* end() const { return data + count; }
};

struct Node;
using Nodes = Span<const Node*>;
using Links = Span<Link>;

// text: a name, a word in quotes without them, or what stands behind a dot. parts: of an attribute its owner, of an
// element the sequence and the index, of a loop what each turn gives, the sequence, and its conditions; of a choice the
// condition and both ways.
struct Node {
  Kind kind = Kind::constant;
  std::string_view text = {};
  Nodes parts = {};
  Links links = {};
  int64_t number = 0;
  double real = 0;
  bool bracketed = false;  // a list in square brackets
};

inline bool is_call(const Node* node, std::string_view name) { return node->kind == Kind::call && node->text == name; }
// Whether a part computes a value of those of its own parts.
inline bool computes(Kind kind) { return kind >= Kind::negation && kind <= Kind::modulo; }
inline bool is_loop(const Node* node) { return node->kind == Kind::loop; }
inline bool is_literal(const Node* node) { return node->kind <= Kind::text; }
// What a number is; long ones stand in their text alone.
inline Whole whole_of(const Node* node) {
  constexpr size_t most_digits = 18;  // of what surely fits 64 bits
  if (node->text.size() <= most_digits) return Whole(node->number);
  Whole made;
  for (const char digit : node->text) made = made * Whole(10) + Whole(digit - '0');
  return made;
}

// Makes the parts of rules, which live as long as the arena does.
class Tree {
 public:
  explicit Tree(Arena& arena) : arena(arena), parsed_(arena) {}

  Arena& arena;

  const Node* make(Kind kind, std::string_view text = {}, List<const Node*> parts = {}) {
    return with(Node{kind, text}, parts.begin(), parts.size());
  }
  // A part with others for its own.
  const Node* with(Node node, const Node* const* parts, size_t count) {
    node.parts = Nodes{arena.keep(parts, count), count};
    return arena.keep(node);
  }
  const Node* number(int64_t value) {
    Node made;
    made.number = value;
    return arena.keep(made);
  }
  const Node* element(const Node* sequence, int64_t index) {
    return make(Kind::subscript, {}, {sequence, number(index)});
  }
  const Node* call(std::string_view name, const Node* argument) { return make(Kind::call, name, {argument}); }

  // What a text means. Only texts of the tables are read, which are whole; each is read once.
  const Node* parse(const char* text) {
    for (const Parsed& one : parsed_)
      if (one.text == text) return one.made;
    const char* before = at_;
    at_ = text;
    const Node* made = choice();
    at_ = before;
    parsed_.push_back(Parsed{text, made});
    return made;
  }

 private:
  struct Parsed {
    const char* text;
    const Node* made;
  };
  Several<Parsed> parsed_;
  const char* at_ = "";

  static bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool digit(char c) { return c >= '0' && c <= '9'; }

  void blanks() {
    while (*at_ == ' ' || *at_ == '\n') ++at_;
  }
  bool sign(std::string_view wanted) {
    blanks();
    if (*at_ != wanted[0] || std::strncmp(at_, wanted.data(), wanted.size()) != 0) return false;
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
    if (*at_ != wanted[0]) return false;
    const char* before = at_;
    if (word() == wanted) return true;
    at_ = before;
    return false;
  }
  const Node* joined(Kind kind, const Node* left, const Node* right) { return make(kind, {}, {left, right}); }
  const Node* all(const Node& node, const Several<const Node*>& parts) {
    return with(node, parts.begin(), parts.size());
  }

  const Node* choice() {
    const Node* body = any_of();
    if (!keyword("if")) return body;
    const Node* test = any_of();
    keyword("else");
    const Node* otherwise = choice();
    return make(Kind::choice, {}, {test, body, otherwise});
  }
  const Node* any_of() {
    const Node* first = all_of();
    if (!keyword("or")) return first;
    Several<const Node*> parts(arena);
    parts.push_back(first);
    do parts.push_back(all_of());
    while (keyword("or"));
    return all(Node{Kind::any_of}, parts);
  }
  const Node* all_of() {
    const Node* first = negation();
    if (!keyword("and")) return first;
    Several<const Node*> parts(arena);
    parts.push_back(first);
    do parts.push_back(negation());
    while (keyword("and"));
    return all(Node{Kind::all_of}, parts);
  }
  const Node* negation() {
    if (!keyword("not")) return compare();
    const Node* operand = negation();
    return make(Kind::negation, {}, {operand});
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
    const Node* first = sum();
    Link found;
    if (!link(found)) return first;
    Several<const Node*> parts(arena);
    Several<Link> links(arena);
    parts.push_back(first);
    do {
      links.push_back(found);
      parts.push_back(sum());
    } while (link(found));
    Node made{Kind::compare};
    made.links = Links{links.begin(), links.size()};
    return all(made, parts);
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
    return make(Kind::minus, {}, {operand});
  }
  const Node* postfix() {
    const Node* made = atom();
    for (;;) {
      if (sign(".")) {
        made = make(Kind::attribute, word(), {made});
      } else if (sign("[")) {
        const Node* index = choice();
        sign("]");
        made = make(Kind::subscript, {}, {made, index});
      } else if (made->kind == Kind::name && sign("(")) {
        made = all(Node{Kind::call, made->text}, arguments(")"));
      } else {
        return made;
      }
    }
  }
  // What stands between brackets, up to the closing one: one loop, or several parts.
  Several<const Node*> arguments(std::string_view end) {
    Several<const Node*> parts(arena);
    while (!sign(end)) {
      const Node* one = choice();
      parts.push_back(keyword("for") ? loop(one) : one);
      sign(",");
    }
    return parts;
  }
  const Node* loop(const Node* element) {
    const std::string_view variable = word();
    keyword("in");
    Several<const Node*> parts(arena);
    parts.push_back(element);
    do parts.push_back(any_of());
    while (keyword("if"));
    return all(Node{Kind::loop, variable}, parts);
  }
  const Node* atom() {
    blanks();
    if (digit(*at_)) return literal();
    if (*at_ == '\'') return quoted();
    if (letter(*at_)) return make(Kind::name, word());
    const bool bracketed = *at_ == '[';
    ++at_;
    const char* inside = at_;
    const Several<const Node*> parts = arguments(bracketed ? "]" : ")");
    const bool several = parts.size() != 1 || bracketed || trailing_comma(inside);
    if (!several) return parts[0];
    Node made{Kind::list};
    made.bracketed = bracketed;
    return all(made, parts);
  }
  const Node* quoted() {
    const char* from = ++at_;
    while (*at_ != '\'') ++at_;
    return make(Kind::text, std::string_view(from, size_t(at_++ - from)));
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
    while (digit(*at_)) ++at_;
    made.text = std::string_view(from, size_t(at_ - from));
    std::from_chars(from, at_, made.number);
    if (*at_ != '.' || !digit(at_[1])) return arena.keep(made);
    Whole digits = whole_of(&made);
    double place = 1;
    made.kind = Kind::real;
    for (++at_; digit(*at_); ++at_, place *= 10) digits = digits * Whole(10) + Whole(*at_ - '0');
    made.real = digits.approximate() / place;
    made.text = std::string_view(from, size_t(at_ - from));
    return arena.keep(made);
  }
};
