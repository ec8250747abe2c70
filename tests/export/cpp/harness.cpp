// The functions that tests call through ctypes: a description in memory, and what the header says of it.
#include "specgate_dml.h"

namespace {

struct Described {
  unsigned Type;
  const void* Desc;
};

specgate::Options options(int basis, int device_known, unsigned capabilities) {
  specgate::Options made;
  made.basis = specgate::Basis(basis);
  made.device.known = device_known != 0;
  made.device.capabilities = capabilities;
  return made;
}

}  // namespace

extern "C" int accepts(const void* description, unsigned level, int basis, int device_known, unsigned capabilities) {
  return specgate::accepts(*static_cast<const Described*>(description), level, options(basis, device_known, capabilities));
}

// The findings, a line for each with id, place, basis, message and fix, then the levels that accept; returns the length.
extern "C" size_t explain(const void* description, unsigned level, int basis, int device_known, unsigned capabilities,
                          char* to, size_t room) {
  const auto given = options(basis, device_known, capabilities);
  const specgate::Verdict verdict = specgate::check(*static_cast<const Described*>(description), level, given);
  std::string text = verdict.accepted ? "accepted\n" : "refused\n";
  for (const specgate::Finding& one : verdict.findings)
    text += one.id + "\t" + one.where + "\t" + std::to_string(int(one.basis)) + "\t" + one.message + "\t" + one.fix + "\n";
  for (const uint32_t accepting : verdict.levels) text += std::to_string(accepting) + " ";
  text += "\n" + verdict.text();
  if (text.size() < room) std::memcpy(to, text.c_str(), text.size() + 1);
  return text.size();
}

// The proposals of all findings, with or without those that take a search.
extern "C" size_t fixes(const void* description, unsigned level, int searched, char* to, size_t room) {
  specgate::Options given;
  given.fixes = searched != 0;
  std::string text;
  for (const specgate::Finding& one : specgate::check(*static_cast<const Described*>(description), level, given).findings)
    text += one.fix + "\n";
  if (text.size() < room) std::memcpy(to, text.c_str(), text.size() + 1);
  return text.size();
}

// A description as JSON.
extern "C" size_t json(const void* description, char* to, size_t room) {
  const std::string text = specgate::to_json(*static_cast<const Described*>(description));
  if (text.size() < room) std::memcpy(to, text.c_str(), text.size() + 1);
  return text.size();
}

namespace {

struct Refusing {
  long CreateOperator(const Described*, const int&, void**) { return long(0x80070057) - (1L << 32); }
};
struct Taking {
  long CreateOperator(const Described*, const int&, void** made) { return *made = this, 0; }
};

}  // namespace

// What create_operator tells of a device that refuses everything, or takes everything.
extern "C" long create(const void* description, unsigned level, int refusing, char* to, size_t room) {
  std::string told;
  const auto tell = [](const char* text, void* context) { *static_cast<std::string*>(context) += text; };
  void* made = nullptr;
  Refusing one;
  Taking other;
  const auto* desc = static_cast<const Described*>(description);
  const long result = refusing ? specgate::create_operator(&one, level, desc, 0, &made, {}, tell, &told)
                               : specgate::create_operator(&other, level, desc, 0, &made, {}, tell, &told);
  if (told.size() < room) std::memcpy(to, told.c_str(), told.size() + 1);
  return result;
}
