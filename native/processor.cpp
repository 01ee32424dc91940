// SPDX-License-Identifier: Apache-2.0
// What the processor can do, asked by a module that runs on every x86-64: it decides which core is loaded. Plain C of
// Python's own, without nanobind: it shares nothing with the cores.
#include <Python.h>
#include <cpuid.h>

#include <cstdint>

namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros where the processor does not know the question.
Registers ask_processor(unsigned leaf, unsigned subleaf) {
  Registers found;
  __get_cpuid_count(leaf, subleaf, &found.a, &found.b, &found.c, &found.d);
  return found;
}

bool has_all(std::uint64_t found, std::uint64_t wanted) { return (found & wanted) == wanted; }

// Which registers the operating system saves when it switches threads; a vector that it forgets is none to use.
std::uint64_t saved_registers() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

// The highest level of x86-64 (1 to 4, as in the psABI and in -march=x86-64-vN) that processor and system offer.
int find_level() {
  const unsigned sse3 = 1U << 0, ssse3 = 1U << 9, cmpxchg16b = 1U << 13, sse41 = 1U << 19, sse42 = 1U << 20;
  const unsigned popcnt = 1U << 23, fma = 1U << 12, movbe = 1U << 22, osxsave = 1U << 27, avx = 1U << 28, f16c = 1U << 29;
  const unsigned lahf = 1U << 0, lzcnt = 1U << 5;                        // of leaf 0x80000001
  const unsigned bmi1 = 1U << 3, avx2 = 1U << 5, bmi2 = 1U << 8;         // of leaf 7
  const unsigned avx512f = 1U << 16, avx512dq = 1U << 17, avx512cd = 1U << 28, avx512bw = 1U << 30, avx512vl = 1U << 31;
  const std::uint64_t half_vectors = 0x6, whole_vectors = 0xe6;         // xmm and ymm; masks and zmm too

  const unsigned basic = ask_processor(1, 0).c;
  const unsigned more = ask_processor(7, 0).b;
  const unsigned extended = ask_processor(0x80000001U, 0).c;
  if (!has_all(basic, sse3 | ssse3 | cmpxchg16b | sse41 | sse42 | popcnt) || !has_all(extended, lahf)) return 1;
  if (!has_all(basic, fma | movbe | osxsave | avx | f16c) || !has_all(more, bmi1 | avx2 | bmi2) ||
      !has_all(extended, lzcnt) || !has_all(saved_registers(), half_vectors)) {
    return 2;
  }
  if (!has_all(more, avx512f | avx512dq | avx512cd | avx512bw | avx512vl) || !has_all(saved_registers(), whole_vectors)) {
    return 3;
  }
  return 4;
}

PyObject* x86_64_level(PyObject*, PyObject*) { return PyLong_FromLong(find_level()); }

PyMethodDef methods[] = {
    {"x86_64_level", x86_64_level, METH_NOARGS, "Returns the highest level of x86-64 that this machine runs, 1 to 4."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_processor", "What the processor can do.", 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModule_Create(&definition); }
