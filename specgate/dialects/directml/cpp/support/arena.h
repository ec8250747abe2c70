// Where AddressSanitizer looks on, each piece of memory is a block of its own, so that it sees what reads beyond one.
#if defined(__SANITIZE_ADDRESS__)
#define SPECGATE_WATCHED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPECGATE_WATCHED true
#endif
#endif
#if !defined(SPECGATE_WATCHED)
#define SPECGATE_WATCHED false
#endif

// Memory for all that is made to word one refusal: taken piece by piece, given back at once. Nothing in it is
// destroyed, so that only what needs no destructor lies in it.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    while (blocks_ != nullptr) {
      Block* const next = blocks_->next;
      std::free(blocks_);
      blocks_ = next;
    }
  }

  template <class T>
  T* array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= unit, "it is only given back");
    return static_cast<T*>(take(count * sizeof(T)));
  }
  template <class T>
  T* keep(const T& value) {
    return new (array<T>(1)) T(value);
  }
  template <class T>
  const T* keep(const T* from, size_t count) {
    T* const made = array<T>(count);
    for (size_t i = 0; i < count; ++i) new (made + i) T(from[i]);
    return made;
  }
  // Several texts in one.
  std::string_view text(const std::string_view* parts, size_t count) {
    size_t length = 0;
    for (size_t i = 0; i < count; ++i) length += parts[i].size();
    char* const made = array<char>(length);
    char* at = made;
    for (size_t i = 0; i < count; ++i) at = std::copy(parts[i].begin(), parts[i].end(), at);
    return std::string_view(made, length);
  }
  std::string_view text(List<std::string_view> parts) { return text(parts.begin(), parts.size()); }
  std::string_view text(std::string_view one) { return text(&one, 1); }
  std::string_view number(int64_t value) {
    char digits[24];
    return text(std::string_view(digits, size_t(std::to_chars(digits, digits + sizeof digits, value).ptr - digits)));
  }

 private:
  struct Block {
    Block* next;
  };
  static constexpr bool watched = SPECGATE_WATCHED;
  static constexpr size_t unit = alignof(std::max_align_t), first = watched ? unit : 4096, later = watched ? 0 : 32768;

  alignas(std::max_align_t) char first_[first];
  char* at_ = first_;
  size_t left_ = watched ? 0 : first;
  Block* blocks_ = nullptr;

  void* take(size_t bytes) {
    if (!watched) bytes = (bytes + unit - 1) / unit * unit;
    if (bytes > left_) more(bytes);
    char* const made = at_;
    at_ += bytes;
    left_ -= bytes;
    return made;
  }
  void more(size_t bytes) {
    const size_t size = bytes > later ? bytes : later, head = (sizeof(Block) + unit - 1) / unit * unit;
    auto* const block = static_cast<Block*>(std::malloc(head + size));
    if (block == nullptr) std::abort();  // as operator new does where nothing catches what it throws
    block->next = blocks_;
    blocks_ = block;
    at_ = reinterpret_cast<char*>(block) + head;
    left_ = size;
  }
};

// A list that grows in an arena: what grows out of its place is left there.
template <class T>
class Several {
 public:
  explicit Several(Arena& arena) : arena_(arena) {}
  void push_back(const T& value) {
    if (count_ == room_) grow();
    new (data_ + count_++) T(value);
  }
  void clear() { data_ = nullptr, count_ = room_ = 0; }  // what was copied stays as it is
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](size_t at) { return data_[at]; }
  const T& operator[](size_t at) const { return data_[at]; }
  T& back() { return data_[count_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + count_; }

 private:
  Arena& arena_;
  T* data_ = nullptr;
  size_t count_ = 0, room_ = 0;

  void grow() {
    room_ = room_ == 0 ? 4 : room_ * 2;
    T* const made = arena_.array<T>(room_);
    for (size_t i = 0; i < count_; ++i) new (made + i) T(data_[i]);
    data_ = made;
  }
};
