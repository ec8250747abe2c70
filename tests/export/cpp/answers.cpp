// The harness as a program, for compilers whose libraries this process cannot load.
//
//     answers QUESTIONS
//
// QUESTIONS holds images: size, number of pointers, offset of the DML_OPERATOR_DESC, level, basis, whether the device is
// known, its capabilities and the implementation, 32 bits each, the pointers' offsets, the bytes. What `explain` says of
// each is printed with a line of "===" behind it.
#include "harness.cpp"

int main(int argc, char** argv) {
  std::FILE* file = argc == 2 ? std::fopen(argv[1], "rb") : nullptr;
  if (file == nullptr) return 2;
  for (uint32_t head[8]; std::fread(head, sizeof head, 1, file) == 1;) {
    std::vector<uint32_t> pointers(head[1] + 1);
    std::vector<char> bytes(head[0]), answer(1 << 16);
    if (std::fread(pointers.data(), 4, head[1], file) != head[1]) return 3;
    if (std::fread(bytes.data(), 1, head[0], file) != head[0]) return 3;
    for (uint32_t i = 0; i < head[1]; ++i) {
      uint64_t pointer;
      std::memcpy(&pointer, bytes.data() + pointers[i], 8);
      pointer += uint64_t(bytes.data());
      std::memcpy(bytes.data() + pointers[i], &pointer, 8);
    }
    const void* root = bytes.data() + head[2];
    explain(root, head[3], int(head[4]), int(head[5]), head[6], head[7], answer.data(), answer.size());
    const bool accepted = accepts(root, head[3], int(head[4]), int(head[5]), head[6], head[7]) != 0;
    if (accepted != (std::strncmp(answer.data(), "accepted", 8) == 0)) return 4;
    std::printf("%s\n===\n", answer.data());
  }
}
