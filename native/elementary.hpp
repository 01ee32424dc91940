// SPDX-License-Identifier: Apache-2.0
// exp, log and powers of our own, to about the last bit: those of the C library differ between its versions and between
// processors, and a last bit soon decides what is played.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace equipoise {

namespace elementary {

inline constexpr double ln2_high = 0x1.62e42feep-1;  // products with powers of two are exact
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
inline constexpr double log2_e = 0x1.71547652b82fep0;
inline constexpr double whole = 0x1.8p52;  // added and taken away again, it rounds to the nearest whole number

inline double power_of_two(std::int64_t k) { return std::bit_cast<double>((k + 1023) << 52); }

}  // namespace elementary

// e^x = 2^k e^r with |r| at most ln(2)/2, e^r by Taylor's polynomial. Terms are paired so that few wait for each other.
inline double exponential(double x) {
  using namespace elementary;
  if (!(x > -800.0)) return x == x ? 0.0 : x;
  if (x > 800.0) return std::numeric_limits<double>::infinity();
  const double k = (x * log2_e + whole) - whole;
  const double r = (x - k * ln2_high) - k * ln2_low;
  const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
  const double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double middle = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  const double high = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800));
  const double sum = 1.0 + (r + r2 * ((low + r4 * middle) + r8 * high));
  const auto power = static_cast<std::int64_t>(k);
  const std::int64_t half = power / 2;  // twice a half, because the whole may be beyond the range of normal numbers
  return sum * power_of_two(half) * power_of_two(power - half);
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

// base^exponent of a positive base.
inline double raise(double base, double exponent) { return exponential(exponent * logarithm(base)); }

}  // namespace equipoise
