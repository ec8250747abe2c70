// Descriptions as JSON, as `specgate check` reads them.
//
// Numbers with names are written as words; omitted members are not written. An unreadable part (an absurd count, or
// operators nested without end) becomes null: the text is always valid JSON.

inline const Layout* layout_of(uint32_t type);

class Json {
 public:
  std::string text;

  void operator_desc(uint32_t type, const void* description, int depth) {
    const Layout* layout = layout_of(type);
    text += "{\"type\": ";
    if (layout == nullptr) {
      text += std::to_string(type);
    } else {
      text += std::string("\"DML_OPERATOR_") + layout->name + "\"";
    }
    text += ", \"desc\": {";
    if (layout != nullptr && description != nullptr) {
      bool first = true;
      for (uint32_t i = 0; i < layout->members.count; ++i) {
        const Member& one = layout->members[i];
        const size_t before = text.size();
        if (!first) text += ", ";
        text += std::string("\"") + one.name + "\": ";
        if (member(description, one, depth)) {
          first = false;
        } else {
          text.resize(before);
        }
      }
    }
    text += "}}";
  }

 private:
  // Remaining number of array elements; ends descriptions that contain themselves.
  int64_t left_ = 1 << 20;
  static constexpr int most_nested = 2;

  // Whether there is anything to write.
  bool member(const void* description, const Member& member, int depth) {
    switch (member.shape) {
      case Shape::input:
      case Shape::output: return tensor(load(member_at<const abi::TensorDesc*>(description, member.offset)));
      case Shape::inputs:
      case Shape::outputs:
        return listed(tensors_of(description, member), [&](const abi::TensorDesc& one) {
          if (!tensor(&one)) text += "null";
        });
      case Shape::numbers:
        return listed(numbers_of<uint32_t>(description, member), [&](uint32_t one) { text += std::to_string(one); });
      case Shape::integers:
        return listed(numbers_of<int32_t>(description, member), [&](int32_t one) { text += std::to_string(one); });
      case Shape::reals: return listed(numbers_of<float>(description, member), [&](float one) { real(one); });
      case Shape::held: return held(load(member_at<const abi::OperatorDesc*>(description, member.offset)), depth);
      case Shape::helds:
        return listed(
            operators(member_at<const abi::OperatorDesc*>(description, member.offset),
                      member_at<uint32_t>(description, member.by)),
            [&](const abi::OperatorDesc& one) { held(&one, depth); }, most_operators);
      case Shape::scale_bias: return pair(load(member_at<const abi::ScaleAndBias*>(description, member.offset)));
      default: return plain(description, member), true;
    }
  }

  void plain(const void* description, const Member& member) {
    const uint32_t number = number_of(description, member);
    if (member.shape == Shape::number) {
      text += std::to_string(number);
    } else if (member.shape == Shape::integer) {
      text += std::to_string(load(member_at<int32_t>(description, member.offset)));
    } else if (member.shape == Shape::real) {
      real(load(member_at<float>(description, member.offset)));
    } else if (member.shape == Shape::truth) {
      text += number == 0 ? "false" : number == 1 ? "true" : std::to_string(number);
    } else if (member.shape == Shape::word) {
      word(*member.words, number);
    } else if (member.shape == Shape::size) {
      const abi::Size2D size = load(member_at<abi::Size2D>(description, member.offset));
      text += "{\"Width\": " + std::to_string(size.Width) + ", \"Height\": " + std::to_string(size.Height) + "}";
    } else {
      const Scalar value = scalar_of(description, member);
      if (value.floating) {
        real(value.real);
      } else {
        text += value.whole.text();
      }
    }
  }

  void real(double number) {
    const bool finite = number - number == 0;
    text += finite ? real_text(number) : "\"" + real_text(number) + "\"";
  }

  void word(const Enum& words, uint32_t number) {
    const char* found = word_of(words, number);
    text += found == nullptr ? std::to_string(number) : std::string("\"") + found + "\"";
  }

  template <class T, class F>
  bool listed(const T& several, F f, int64_t most = most_elements) {
    if (!several.given) return false;
    if (several.count > most || several.count > left_) return text += "null", true;
    left_ -= several.count;
    text += "[";
    for (int64_t i = 0; i < several.count; ++i) {
      if (i != 0) text += ", ";
      f(load(several.data + i));
    }
    return text += "]", true;
  }

  bool held(const abi::OperatorDesc* at, int depth) {
    if (at == nullptr) return false;
    if (depth >= most_nested || left_-- <= 0) return text += "null", true;
    operator_desc(load(&at->Type), load(&at->Desc), depth + 1);
    return true;
  }

  bool pair(const abi::ScaleAndBias* at) {
    if (at == nullptr) return false;
    text += "{\"Scale\": ";
    real(load(&at->Scale));
    text += ", \"Bias\": ";
    real(load(&at->Bias));
    return text += "}", true;
  }

  // A tensor of no kind was probably left at 0: its members are read all the same.
  bool tensor(const abi::TensorDesc* at) {
    if (at == nullptr || load(&at->Desc) == nullptr) return false;
    const uint32_t kind = load(&at->Type);
    text += "{";
    if (kind != buffer_tensor) {
      text += "\"Type\": ";
      word(enum_TENSOR_TYPE, kind);
      if (kind != 0) return text += ", \"Desc\": null}", true;
      text += ", ";
    }
    buffer(static_cast<const abi::BufferTensorDesc*>(load(&at->Desc)));
    return text += "}", true;
  }

  void buffer(const abi::BufferTensorDesc* at) {
    text += "\"DataType\": ";
    word(enum_TENSOR_DATA_TYPE, load(&at->DataType));
    text += ", \"Sizes\": ";
    const auto number = [&](uint32_t one) { text += std::to_string(one); };
    const Sizes sizes = dimensions(at, load(&at->Sizes)), strides = dimensions(at, load(&at->Strides));
    if (sizes.count > int64_t(most_dimensions)) {
      text += "null";
      return;
    }
    if (!listed(sizes, number)) text += "[]";
    if (strides.given) text += ", \"Strides\": ";
    listed(strides, number);
    text += ", \"TotalTensorSizeInBytes\": " + std::to_string(load(&at->TotalTensorSizeInBytes));
    const uint32_t alignment = load(&at->GuaranteedBaseOffsetAlignment), flags = load(&at->Flags);
    if (alignment != 0) text += ", \"GuaranteedBaseOffsetAlignment\": " + std::to_string(alignment);
    if (flags == 0) return;
    text += ", \"Flags\": ";
    word(enum_TENSOR_FLAGS, flags);
  }

  static Sizes dimensions(const abi::BufferTensorDesc* at, const uint32_t* data) {
    Sizes found;
    found.data = data;
    found.given = data != nullptr || load(&at->DimensionCount) > most_dimensions;
    found.count = load(&at->DimensionCount);
    return found;
  }
};
