// Descriptions as JSON, as `specgate check` reads them.
//
// Numbers with names are written as words; omitted members are not written. An unreadable part (an absurd count, or
// operators nested without end) becomes null: the text is always valid JSON.
class Json {
 public:
  static std::string of(uint32_t type, const void* description) { return Json().operator_desc(type, description, 0); }

 private:
  // Remaining number of array elements; ends descriptions that contain themselves.
  int64_t left_ = 1 << 20;
  static constexpr int most_nested = 2;

  std::string operator_desc(uint32_t type, const void* description, int depth) {
    const Layout* layout = layout_of(type);
    Texts members;
    for (size_t i = 0; layout != nullptr && description != nullptr && i < layout->members.count; ++i) {
      const Value value = member_value(description, layout->members[i]);
      if (!value.none() || value.problem != nullptr) add(members, layout->members[i].name, any(value, depth));
    }
    const std::string name = layout == nullptr ? std::to_string(type) : fill("\"DML_OPERATOR_$0\"", {layout->name});
    return fill("{\"type\": $0, \"desc\": {$1}}", {name, join(members, ", ", ", ")});
  }

  static void add(Texts& members, const char* name, const std::string& value) {
    members.push_back(fill("\"$0\": $1", {name, value}));
  }
  std::string any(const Value& value, int depth) {
    switch (value.is) {
      case Value::Is::truth:
        return value.problem != nullptr ? value.integer.text() : value.is_true() ? "true" : "false";
      case Value::Is::integer: return value.integer.text();
      case Value::Is::real:
        return value.real - value.real == 0 ? real_text(value.real) : fill("\"$0\"", {real_text(value.real)});
      case Value::Is::word: return fill("\"$0\"", {value.word});
      case Value::Is::list: return list(value, depth);
      case Value::Is::tensor: return tensor(value, depth);
      case Value::Is::pair: {
        Texts members;
        for (int64_t at : {0, 1})
          add(members, std::string(name_in_pair(value, at)).c_str(), any((*value.parts)[size_t(at)], depth));
        return "{" + join(members, ", ", ", ") + "}";
      }
      case Value::Is::fused:
        if (depth >= most_nested || left_-- <= 0) return "null";
        return operator_desc(uint32_t(value.integer.value()), value.desc, depth + 1);
      default: return "null";
    }
  }
  std::string list(const Value& value, int depth) {
    if (value.length() > left_) return "null";
    left_ -= value.length();
    Texts items;
    for (int64_t i = 0; i < value.length(); ++i) items.push_back(any(value.item(i), depth));
    return "[" + join(items, ", ", ", ") + "]";
  }
  // A tensor of no kind was probably left at 0: its members are read all the same.
  std::string tensor(const Value& value, int depth) {
    static constexpr const char* names[] = {
        "DataType", "Sizes", "Strides", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment", "Flags"};
    const auto word = [&](const Enum& words, Part part) {
      return word_value(words, uint32_t(tensor_part(value, part).integer.value()));
    };
    const Value kind = word(enum_TENSOR_TYPE, kind_part);
    Texts members;
    if (compare(kind.integer, BigInt(int64_t(buffer_tensor))) != 0) add(members, "Type", any(kind, depth));
    if (compare(kind.integer, BigInt(int64_t(buffer_tensor))) > 0) add(members, "Desc", "null");
    else
      for (const Part part : {type_part, sizes_part, strides_part, total_part, alignment_part, flags_part}) {
        if (part > sizes_part && tensor_part(value, sizes_part).none()) break;  // too many to read
        const Value member = part == flags_part ? word(enum_TENSOR_FLAGS, part) : tensor_part(value, part);
        if (!tensor_part(value, part).none() || part == sizes_part) add(members, names[part], any(member, depth));
      }
    return "{" + join(members, ", ", ", ") + "}";
  }
};
