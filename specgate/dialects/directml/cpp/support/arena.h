// With AddressSanitizer, each piece of memory is a separate block, so that it detects reads past the end.
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

// Memory for the texts, tensors and expressions of one explanation, which is released at once.
// Destructors do not run, so it only contains objects that need none.
class Arena {
 public:
  template <class T>
  T* array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(std::max_align_t), "it is only given back");
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
  // Concatenates texts.
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
  std::string_view number(int64_t value) { return text(std::to_string(value)); }

 private:
  static constexpr size_t unit = SPECGATE_WATCHED ? 1 : alignof(std::max_align_t), together = SPECGATE_WATCHED ? 0 : 16384;
  std::forward_list<std::unique_ptr<char[]>> blocks_ = {};
  char* at_ = nullptr;
  size_t left_ = 0;

  void* take(size_t bytes) {
    bytes = (bytes + unit - 1) / unit * unit;
    if (bytes > left_) {
      left_ = (std::max)(bytes, together);
      blocks_.emplace_front(new char[left_]);
      at_ = blocks_.front().get();
    }
    left_ -= bytes;
    return std::exchange(at_, at_ + bytes);
  }
};
