// The functions that tests call through ctypes: a description in memory, and what the header says of it.
#include "specgate_dml.h"

namespace {

struct Described {
  unsigned Type;
  const void* Desc;
};

specgate::Options options(int basis, int device_known, unsigned capabilities, unsigned implementation) {
  specgate::Options made;
  made.basis = specgate::Basis(basis);
  made.device.known = device_known != 0;
  made.device.capabilities = capabilities;
  made.implementation = implementation;
  made.fixes = true;
  return made;
}

}  // namespace

extern "C" int accepts(const void* description, unsigned level, int basis, int device_known, unsigned capabilities,
                       unsigned implementation) {
  const auto given = options(basis, device_known, capabilities, implementation);
  return specgate::accepts(*static_cast<const Described*>(description), level, given);
}

// The findings, a line for each with id, place, basis, message and fix, then the levels that accept; returns the length.
extern "C" size_t explain(const void* description, unsigned level, int basis, int device_known, unsigned capabilities,
                          unsigned implementation, char* to, size_t room) {
  const auto given = options(basis, device_known, capabilities, implementation);
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

// A device of the level that it is made with, which counts what it is asked to create.
enum class Feature { levels = 1 };
struct Device {
  unsigned level;
  bool refusing;
  int asked = 0;
  int32_t CheckFeatureSupport(Feature feature, unsigned size, const void* query, unsigned room, void* found) {
    const auto* levels = static_cast<const specgate::detail::LevelsQuery*>(query);
    if (feature != Feature::levels || size != sizeof *levels || room != 4 || levels->count != 1) return -1;
    if (*levels->levels > level) return -2;
    return std::memcpy(found, levels->levels, 4), 0;
  }
  int32_t CreateOperator(const Described*, const int&, void** made) {
    ++asked;
    return refusing ? int32_t(0x80070057u) : (*made = this, 0);
  }
};

}  // namespace

// What create_operator returns and tells of a device that refuses everything, or takes everything; asked: how often it
// asked that. It asks the device for its level where `states_level` is 0.
extern "C" int create(const void* description, unsigned level, int states_level, int refusing, int* asked, char* to,
                      size_t room) {
  std::string told;
  const auto tell = [](const char* text, void* context) { *static_cast<std::string*>(context) += text; };
  void* made = nullptr;
  Device device{level, refusing != 0};
  const auto given = specgate::of_this_system();
  const auto* desc = static_cast<const Described*>(description);
  const int32_t result = states_level ? specgate::create_operator(&device, level, desc, 0, &made, given, tell, &told)
                                      : specgate::create_operator(&device, desc, 0, &made, given, tell, &told);
  *asked = device.asked;
  if (told.size() < room) std::memcpy(to, told.c_str(), told.size() + 1);
  return result;
}
