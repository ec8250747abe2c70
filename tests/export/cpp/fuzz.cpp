// Descriptions with random changes, judged under sanitizers.
//
//     fuzz FILE ROUNDS SEED
//
// FILE holds images (see fuzzing.py). Each part that a pointer leads to lies in an allocation of its own, as long as it
// is, so that a read beyond it is seen. A change makes a number smaller, which no count minds, or far too large, or puts
// null in place of a pointer; what an operator's structure is stays, unless its number becomes that of none.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "specgate_dml.h"

namespace {

struct Image {
  std::vector<char> data;
  std::vector<uint32_t> pointers, nulls, heads;
  uint32_t root = 0;
};

template <class T>
bool get(std::FILE* file, T& value) { return std::fread(&value, sizeof value, 1, file) == 1; }

std::vector<uint32_t> listed(std::FILE* file) {
  uint32_t count = 0;
  get(file, count);
  std::vector<uint32_t> found(count);
  for (uint32_t& each : found) get(file, each);
  return found;
}

std::vector<Image> images(const char* path) {
  std::vector<Image> found;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) std::exit(2);
  for (uint32_t size = 0; get(file, size);) {
    Image image;
    image.data.resize(size);
    if (std::fread(image.data.data(), 1, size, file) != size) std::exit(2);
    get(file, image.root);
    image.pointers = listed(file);
    image.nulls = listed(file);
    image.heads = listed(file);
    found.push_back(image);
  }
  std::fclose(file);
  return found;
}

struct Random {
  std::mt19937_64 source;
  uint64_t below(uint64_t limit) { return source() % limit; }
};

// A number is made smaller than it was in the image as read, not than an earlier change left it: a count that is too large
// and then made smaller may be larger than what is there, which no header can see.
void mutate(Image& image, const Image& read, std::vector<bool>& nulls, Random& random) {
  static const uint32_t absurd[] = {0xffffffffu, 0x80000000u, 0x7fffffffu, 0x10000000u, 20000u};
  if (random.below(6) == 0 && !image.pointers.empty()) {
    nulls[random.below(image.pointers.size())] = true;
    return;
  }
  const uint32_t at = uint32_t(random.below(image.data.size() / 4)) * 4;
  for (const auto* list : {&image.pointers, &image.nulls})
    for (const uint32_t pointer : *list)
      if (at == pointer || at == pointer + 4) return;
  bool head = false;
  for (const uint32_t each : image.heads) head = head || at == each;
  uint32_t value;
  std::memcpy(&value, read.data.data() + at, 4);
  value = !head && random.below(2) == 0 ? uint32_t(random.below(uint64_t(value) + 1)) : absurd[random.below(5)];
  std::memcpy(image.data.data() + at, &value, 4);
}

// A device that refuses everything, so that create_operator says why.
struct Described {
  uint32_t Type;
  const void* Desc;
};
struct Refusing {
  int32_t CreateOperator(const Described*, int, void**) { return -1; }
};

// What stands behind one value of JSON, null where there is none.
const char* skipped(const char* at) {
  if (*at == '"') {
    while (*++at != '"')
      if (*at < ' ') return nullptr;
    return at + 1;
  }
  if (*at == '{' || *at == '[') {
    const bool named = *at++ == '{';
    if (*at == (named ? '}' : ']')) return at + 1;
    for (;;) {
      if (named && *at != '"') return nullptr;
      if (named && ((at = skipped(at)) == nullptr || *at++ != ':' || *at++ != ' ')) return nullptr;
      if ((at = skipped(at)) == nullptr) return nullptr;
      if (*at == (named ? '}' : ']')) return at + 1;
      if (*at++ != ',' || *at++ != ' ') return nullptr;
    }
  }
  for (const char* word : {"null", "true", "false"})
    if (std::strncmp(at, word, std::strlen(word)) == 0) return at + std::strlen(word);
  if (std::strncmp(at, "nan", 3) == 0 || std::strncmp(at, "inf", 3) == 0) return nullptr;
  char* end;
  std::strtod(at, &end);
  return end == at || end[-1] == '.' ? nullptr : end;
}

size_t ask(const Image& image, const std::vector<bool>& nulls, uint32_t level, int basis) {
  std::vector<uint32_t> starts{0};
  std::vector<uint64_t> targets;
  for (const uint32_t at : image.pointers) {
    uint64_t target;
    std::memcpy(&target, image.data.data() + at, 8);
    targets.push_back(target);
    starts.push_back(uint32_t(target));
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  std::vector<char*> blocks;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : image.data.size();
    blocks.push_back(static_cast<char*>(std::malloc(end - starts[i] + (end == starts[i]))));
    std::memcpy(blocks.back(), image.data.data() + starts[i], end - starts[i]);
  }
  const auto address = [&](uint64_t offset) {
    const size_t block = size_t(std::upper_bound(starts.begin(), starts.end(), uint32_t(offset)) - starts.begin()) - 1;
    return blocks[block] + (offset - starts[block]);
  };
  for (size_t i = 0; i < image.pointers.size(); ++i) {
    char* to = nulls[i] ? nullptr : address(targets[i]);
    std::memcpy(address(image.pointers[i]), &to, sizeof to);
  }
  Described root;
  std::memcpy(&root, address(image.root), sizeof root);
  specgate::Options options;
  options.basis = specgate::Basis(basis);
  options.device.known = basis == 0;
  const specgate::Verdict verdict = specgate::check(root, level, options);
  const std::string json = specgate::to_json(root);
  const char* end = skipped(json.c_str());
  if (end == nullptr || *end != 0) {
    std::fprintf(stderr, "no JSON: %s\n", json.c_str());
    std::exit(1);
  }
  size_t length = verdict.text().size() + (verdict.accepted ? 0 : json.size());
  Refusing device;
  const auto count = [](const char* text, void* to) { *static_cast<size_t*>(to) += std::strlen(text); };
  specgate::create_operator(&device, level, &root, 0, nullptr, options, count, &length);
  for (char* block : blocks) std::free(block);
  return verdict.accepted ? 0 : length + 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::vector<Image> every = images(argv[1]);
  const long rounds = std::atol(argv[2]);
  Random random{std::mt19937_64(uint64_t(std::atol(argv[3])))};
  static const uint32_t levels[] = {0x1000, 0x2100, 0x3000, 0x5000, 0x6200, 0x6400, 0x1234};
  long accepted = 0;
  uint64_t told = 0;  // the same whatever compiler has built this
  for (long round = 0; round < rounds; ++round) {
    const Image& read = every[random.below(every.size())];
    Image image = read;
    std::vector<bool> nulls(image.pointers.size());
    for (uint64_t count = random.below(4); count > 0; --count) mutate(image, read, nulls, random);
    const uint32_t level = levels[random.below(7)];
    const size_t length = ask(image, nulls, level, int(random.below(3)));
    accepted += length == 0;
    told = told * 31 + length;
  }
  std::printf("%ld rounds, %ld accepted, checksum %llu\n", rounds, accepted, (unsigned long long)(told));
}
