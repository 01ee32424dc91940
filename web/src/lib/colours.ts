// Colours that depend on numbers: ramps of expected value and equity, and the ink that reads on them.

export type Theme = 'light' | 'dark';

export const RAMPS: Record<'ev' | 'equity', Record<Theme, string[]>> = {
  ev: {
    light: ['#F4F1DE', '#D3E6C0', '#9DD3BF', '#64B6C6', '#5C92CF'],
    dark: ['#1E2A33', '#1F4A5C', '#27697A', '#4E9F92', '#C9D58A'],
  },
  equity: {
    light: ['#5F9BD8', '#A9C9EA', '#EFEFEA', '#F5C99A', '#E8934A'],
    dark: ['#5B93CE', '#39597A', '#2B3032', '#7A5430', '#D5873F'],
  },
};

export const ACTION_COLOURS: Record<Theme, Record<string, string>> = {
  light: {
    fold: '#AEBCCC', check: '#9BD9C5', call: '#52BA9A',
    'bet-1': '#F1E6A0', 'bet-2': '#F8BE42', 'bet-3': '#EF8449', 'bet-4': '#E34C53', allin: '#B56BC0',
  },
  dark: {
    fold: '#707D90', check: '#4E8C7E', call: '#48AE92',
    'bet-1': '#D6CD84', 'bet-2': '#E8B23A', 'bet-3': '#E4834C', 'bet-4': '#DF4953', allin: '#B068C4',
  },
};

/** Of curves in the lab: colour and dash, so that neither stands alone. */
export const RUNS: Record<Theme, string[]> = {
  light: ['#2352C8', '#0F7A5A', '#9333A8', '#B45309', '#5B6770'],
  dark: ['#86ABFF', '#58C9A2', '#D08BE0', '#F0A94B', '#97A3AC'],
};
export const DASHES = ['', '7 3 1.5 3', '1.5 3', '6 3', ''];

export function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** Relative luminance of red, green and blue from 0 to 255. */
export function luminance(rgb: readonly number[]): number {
  const [red, green, blue] = rgb.map((value) => linear(value / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The colour of a place from 0 to 1 on a ramp, and the ink that reads on it. */
export function heat(kind: 'ev' | 'equity', place: number, theme: Theme): { ground: string; ink: string } {
  const ramp = RAMPS[kind][theme];
  const at = Math.max(0, Math.min(1, place)) * (ramp.length - 1);
  const step = Math.min(ramp.length - 2, Math.floor(at));
  const [low, high] = [channels(ramp[step]), channels(ramp[step + 1])];
  const mixed = low.map((value, index) => Math.round(value + (at - step) * (high[index] - value)));
  return { ground: `rgb(${mixed.join(' ')})`, ink: luminance(mixed) > 0.179 ? '#000' : '#fff' };
}

/** Ends of the ramp of values: from the least (at most 0) to the 97th percentile. */
export function valueScale(values: readonly number[]): { low: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const low = Math.min(0, sorted[0] ?? 0);
  const high = sorted[Math.floor(0.97 * (sorted.length - 1))] ?? 1;
  return { low, high: Math.max(high, low + 1e-9) };
}

/** A horizontal gradient with a hard edge and a 1 px gap between shares; what is below 1.5 % is left out. */
export function splitGradient(colours: readonly string[], shares: readonly number[], lit: number | null = null): string {
  const kept = shares.map((share, index) => ({ share, index })).filter(({ share }) => share >= 0.015);
  const total = kept.reduce((sum, { share }) => sum + share, 0) || 1;
  const stops: string[] = [];
  let at = 0;
  kept.forEach(({ share, index }, place) => {
    const from = at;
    at += (100 * share) / total;
    const full = `var(--${colours[index]})`;
    const colour = lit === null || lit === index ? full : `color-mix(in srgb, ${full} 26%, var(--panel))`;
    stops.push(`${colour} ${place ? `calc(${from.toFixed(1)}% + 1px)` : '0'} ${at.toFixed(1)}%`);
    if (place < kept.length - 1) stops.push(`var(--panel) ${at.toFixed(1)}% calc(${at.toFixed(1)}% + 1px)`);
  });
  return stops.length ? `linear-gradient(90deg, ${stops.join(', ')})` : 'none';
}
