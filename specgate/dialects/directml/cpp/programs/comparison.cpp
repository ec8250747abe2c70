// The header and a DirectML library in one process.
//
//     comparison LIBRARY QUESTIONS [ROUNDS]
//
// QUESTIONS contains images of descriptions: size, number of pointers, offset of the DML_OPERATOR_DESC, level (32 bits
// each), the offsets of the pointers, and the bytes; level 0 is that of the device. The output has a line per image:
// whether the header accepts it, the number of calls into the library, the result, and the length of the message.
//
// With ROUNDS, the output is five numbers, in nanoseconds of processor time, the best of ROUNDS rounds: accepts(),
// check(), and CreateOperator with Release for accepted descriptions; check() with its text, without and with searched
// fixes, for rejected ones. The others are 0.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "specgate_dml.h"

// Not in an unnamed namespace: compilers would know that these are not implemented.
struct Id {
  uint32_t a;
  uint16_t b, c;
  uint8_t d[8];
};

// As declared in DirectML.h, with the methods that are used here.
struct Unknown {
  virtual int32_t QueryInterface(const Id&, void**) = 0;
  virtual uint32_t AddRef() = 0;
  virtual uint32_t Release() = 0;
};
struct Object : Unknown {
  virtual int32_t GetPrivateData(const Id&, uint32_t*, void*) = 0;
  virtual int32_t SetPrivateData(const Id&, uint32_t, const void*) = 0;
  virtual int32_t SetPrivateDataInterface(const Id&, Unknown*) = 0;
  virtual int32_t SetName(const wchar_t*) = 0;
};
struct Library : Object {
  virtual int32_t CheckFeatureSupport(uint32_t, uint32_t, const void*, uint32_t, void*) = 0;
  virtual int32_t CreateOperator(const specgate::abi::OperatorDesc*, const Id&, void**) = 0;
};

namespace {

constexpr Id id_of_operators = {0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};

// The device for create_operator: it counts the calls into the library.
struct Counting {
  Library* library;
  int asked = 0;
  template <class Feature>
  int32_t CheckFeatureSupport(Feature feature, uint32_t size, const void* query, uint32_t room, void* found) {
    return library->CheckFeatureSupport(feature, size, query, room, found);
  }
  int32_t CreateOperator(const specgate::abi::OperatorDesc* desc, const Id& id, void** made) {
    return ++asked, library->CreateOperator(desc, id, made);
  }
};

struct Question {
  std::vector<char> bytes;
  specgate::abi::OperatorDesc* desc = nullptr;
  uint32_t level = 0;
};

bool next(std::FILE* file, Question& question) {
  uint32_t head[4];
  if (std::fread(head, sizeof head, 1, file) != 1) return false;
  std::vector<uint32_t> pointers(head[1]);
  question.bytes.assign(head[0], 0);
  if (head[1] != 0 && std::fread(pointers.data(), 4, head[1], file) != head[1]) std::exit(2);
  if (std::fread(question.bytes.data(), 1, head[0], file) != head[0]) std::exit(2);
  for (const uint32_t at : pointers) {
    uint64_t pointer;
    std::memcpy(&pointer, question.bytes.data() + at, 8);
    pointer += uint64_t(question.bytes.data());
    std::memcpy(question.bytes.data() + at, &pointer, 8);
  }
  question.desc = reinterpret_cast<specgate::abi::OperatorDesc*>(question.bytes.data() + head[2]);
  question.level = head[3];
  return true;
}

volatile size_t kept;  // so that the timed work is not optimized away

template <class F>
double fastest(int rounds, F f) {
  double best = 1e18;
  for (int round = 0, loops = 8; round < rounds; ++round) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < loops; ++i) kept = f();
    const double spent = double(std::clock() - start) / CLOCKS_PER_SEC;
    if (spent < 2e-4 && loops < (1 << 20)) {
      loops *= 2, --round;  // too short for the clock
      continue;
    }
    best = spent / loops < best ? spent / loops : best;
  }
  return best * 1e9;
}

void time(Library* library, const Question& question, int rounds) {
  const auto create = [&] {
    void* made = nullptr;
    library->CreateOperator(question.desc, id_of_operators, &made);
    if (made != nullptr) static_cast<Unknown*>(made)->Release();
    return size_t(made);
  };
  const auto& desc = *question.desc;
  double accepting = 0, checking = 0, creating = 0, telling = 0, proposing = 0;
  if (!specgate::accepts(desc, question.level)) {
    specgate::Options proposed;
    proposed.fixes = true;
    telling = fastest(rounds, [&] { return specgate::check(desc, question.level).text().size(); });
    proposing = fastest(rounds, [&] { return specgate::check(desc, question.level, proposed).text().size(); });
  } else if (create() != 0) {
    accepting = fastest(rounds, [&] { return size_t(specgate::accepts(desc, question.level)); });
    checking = fastest(rounds, [&] { return size_t(specgate::check(desc, question.level).accepted); });
    creating = fastest(rounds, create);
  }
  std::printf("%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", accepting, checking, creating, telling, proposing);
}

void ask(Library* library, const Question& question) {
  std::string told;
  const auto tell = [](const char* text, void* context) { *static_cast<std::string*>(context) += text; };
  void* made = nullptr;
  Counting device{library};
  const auto options = specgate::of_this_system();
  const auto* desc = question.desc;
  const bool accepted = specgate::accepts(*desc, question.level, options);
  const int32_t result =
      question.level == 0
          ? specgate::create_operator(&device, desc, id_of_operators, &made, options, tell, &told)
          : specgate::create_operator(&device, question.level, desc, id_of_operators, &made, options, tell, &told);
  if (made != nullptr) static_cast<Unknown*>(made)->Release();
  std::printf("%d\t%d\t%u\t%u\n", int(accepted), device.asked, uint32_t(result), unsigned(told.size()));
}

}  // namespace

extern "C" void* open_directml(const char* path);

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Library* library = static_cast<Library*>(open_directml(argv[1]));
  std::FILE* file = std::fopen(argv[2], "rb");
  if (library == nullptr || file == nullptr) return 1;
  Question question;
  while (next(file, question)) {
    argc > 3 ? time(library, question, std::atoi(argv[3])) : ask(library, question);
    std::fflush(stdout);
  }
}
