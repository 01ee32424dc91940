// Numbers as they are written on the page: fixed decimals, a true minus, thin spaces, commas in thousands.

const minus = (text: string): string => text.replace('-', '\u2212');
const commas = (text: string): string => text.replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** A share as a percentage without its sign: one decimal, `0` and `100` where it is as good as that. */
export function percent(share: number | null | undefined): string {
  if (share == null) return '–';
  return share >= 0.9995 ? '100' : share < 0.0005 ? '0' : (100 * share).toFixed(1);
}

export const percentOf = (share: number | null | undefined): string => (share == null ? '–' : percent(share) + '\u2009%');
export const wholePercent = (share: number | null | undefined): string => (share == null ? '–' : (100 * share).toFixed(0));

/** A number with so many decimals; no minus before zero. */
export function fixed(value: number | null | undefined, digits = 2): string {
  if (value == null || Number.isNaN(value)) return '–';
  const text = value.toFixed(digits);
  const [whole, rest] = (/^-[0.]*$/.test(text) ? text.slice(1) : text).split('.');
  return minus(commas(whole) + (rest ? '.' + rest : ''));
}

export function combos(count: number | null | undefined): string {
  if (count == null) return '–';
  return count >= 99.95 ? commas(count.toFixed(0)) : count >= 0.05 ? count.toFixed(1) : count > 0 ? '<\u20090.1' : '0';
}

export const count = (value: number): string => commas(Math.round(value).toString());

export function bytes(size: number | null | undefined): string {
  if (size == null) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = size;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

/** A length of time: 90 ms, 6.3 s, 1:48, 2 h 10. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return '–';
  if (seconds < 0.995) return `${Math.max(1, Math.round(1000 * seconds))} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')}`;
}

export function age(iso: string | null | undefined, now = Date.now()): string {
  if (!iso) return '–';
  const seconds = (now - Date.parse(iso)) / 1000;
  if (!(seconds >= 60)) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** A small positive number in three significant digits; below 0.001 in powers of ten. */
export function significant(value: number | null | undefined): string {
  if (value == null) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 0.001 && size < 1e5) return minus(size >= 100 ? commas(value.toFixed(0)) : value.toPrecision(size >= 1 ? 3 : 2));
  const [mantissa, exponent] = value.toExponential(1).split('e');
  return `${minus(mantissa)} × 10${raised(+exponent)}`;
}

const RAISED: Record<string, string> = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };
export const raised = (power: number): string => [...String(power)].map((digit) => RAISED[digit]).join('');

/** A decade on an axis: 1, 10, 1k, 0.01, 10⁻⁴. */
export function decade(power: number): string {
  if (power >= 9 || power <= -4) return `10${raised(power)}`;
  if (power >= 6) return `${10 ** (power - 6)}M`;
  if (power >= 3) return `${10 ** (power - 3)}k`;
  return power >= 0 ? String(10 ** power) : (10 ** power).toFixed(-power);
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
