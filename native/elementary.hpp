// SPDX-License-Identifier: Apache-2.0
// exp, log and powers of our own, to about the last bit: those of the C library differ between its versions and between
// processors, and a last bit soon decides what is played.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace equipoise {

namespace elementary {

inline constexpr double ln2_high = 0x1.62e42feep-1;  // products with whole numbers of up to 21 bits are exact
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
inline constexpr double log2_e = 0x1.71547652b82fep0;
inline constexpr double whole = 0x1.8p52;  // added and taken away again, it rounds to the nearest whole number

// 2^(j / 32)
inline constexpr double roots_of_two[32] = {
    0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0, 0x1.11301d0125b51p+0,
    0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0, 0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0,
    0x1.306fe0a31b715p+0, 0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
    0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0, 0x1.6247eb03a5585p+0,
    0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0, 0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0,
    0x1.8ace5422aa0dbp+0, 0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
    0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0, 0x1.cb720dcef9069p+0,
    0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0, 0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0,
};

}  // namespace elementary

inline double exponential(double x);

namespace elementary {

[[gnu::noinline]] inline double exponential_at_ends(double x) {
  if (x != x) return x;
  if (x < -800.0) return 0.0;
  if (x > 800.0) return std::numeric_limits<double>::infinity();
  const double root = exponential(0.5 * x);
  return root * root;
}

}  // namespace elementary

// e^x = 2^(k / 32) e^r with |r| at most ln(2) / 64, e^r by Taylor's polynomial.
inline double exponential(double x) {
  using namespace elementary;
  if (!(x > -708.0 && x < 709.0)) return exponential_at_ends(x);
  const double shifted = x * (32.0 * log2_e) + whole;
  const double k = shifted - whole;
  const auto bits = std::bit_cast<std::uint64_t>(shifted);  // of which the last are those of k
  const std::uint64_t place = bits & 31;
  const double r = (x - k * (ln2_high / 32.0)) - k * (ln2_low / 32.0);
  const double r2 = r * r;
  const double more = r + r2 * ((1.0 / 2 + r * (1.0 / 6)) + r2 * ((1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720)));
  const double scale =
      std::bit_cast<double>(std::bit_cast<std::uint64_t>(roots_of_two[place]) + ((bits - place) << 47));
  return scale + scale * more;
}

// ln(x) = k ln(2) + ln(1 + f) with 1 + f between the roots of 1/2 and 2, and with s = f / (2 + f)
//     ln(1 + f) = f - s (f - R),  R = 2 s^2/3 + 2 s^4/5 + ...
inline double logarithm(double x) {
  using namespace elementary;
  if (!(x > 0.0)) return x == 0.0 ? -INFINITY : std::numeric_limits<double>::quiet_NaN();
  if (x > std::numeric_limits<double>::max()) return x;
  std::int64_t k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<std::int64_t>(x);
  k += (bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s, z2 = z * z, z4 = z2 * z2;
  const double low = (2.0 / 3 + z * (2.0 / 5)) + z2 * (2.0 / 7 + z * (2.0 / 9));
  const double middle = (2.0 / 11 + z * (2.0 / 13)) + z2 * (2.0 / 15 + z * (2.0 / 17));
  const double high = (2.0 / 19 + z * (2.0 / 21)) + z2 * (2.0 / 23);
  const double rest = z * ((low + z4 * middle) + z4 * z4 * high);
  const auto count = static_cast<double>(k);
  return count * ln2_high + (f - (s * (f - rest) - count * ln2_low));
}

inline constexpr int max_counted = 64;

// ln(n) of whole numbers from 1 on, as for numbers of actions.
inline const std::array<double, max_counted + 1> logarithms_of_counts = [] {
  std::array<double, max_counted + 1> found{};
  for (int n = 1; n <= max_counted; ++n) found[static_cast<std::size_t>(n)] = logarithm(n);
  return found;
}();

inline double logarithm_of_count(int n) {
  return n <= max_counted ? logarithms_of_counts[static_cast<std::size_t>(n)] : logarithm(n);
}

// base^exponent of a positive base.
inline double raise(double base, double exponent) { return exponential(exponent * logarithm(base)); }

}  // namespace equipoise
