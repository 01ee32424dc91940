# SPDX-License-Identifier: Apache-2.0
# Refuses compilers that cannot compile the core, before anything else is looked for. Runs by itself too, for tests:
# cmake -DMSVC=1 -P cmake/compiler.cmake
if(MSVC)  # also set for clang-cl
  message(FATAL_ERROR
    "equipoise's core is written with the vector extensions of GCC and Clang, which Microsoft's compiler (and clang-cl) "
    "does not have: on Windows, install under WSL, or set CXX to the g++ of MinGW-w64, which is not tested")
endif()
