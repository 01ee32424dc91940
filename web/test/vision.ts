// How far apart two colours look, with normal sight and with each of the three kinds of colour blindness at full strength.
// Simulation: Machado, Oliveira and Fernandes 2009, matrices for severity 1.0 in linear light. Distance: CIEDE2000 (Sharma, Wu and Dalal 2005).

const BLIND: Record<string, number[][]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const linear = (value: number): number => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);

/** Linear red, green and blue as somebody with this vision sees them. */
export function simulate(rgb: readonly number[], kind: keyof typeof BLIND): number[] {
  const light = rgb.map((value) => linear(value / 255));
  return BLIND[kind].map((row) => Math.min(1, Math.max(0, row.reduce((sum, weight, index) => sum + weight * light[index], 0))));
}

function lab([red, green, blue]: readonly number[]): [number, number, number] {
  const x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047;
  const y = 0.2126729 * red + 0.7151522 * green + 0.072175 * blue;
  const z = (0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883;
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 / 116) * t + 16 / 116);
  return [116 * f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))];
}

const degrees = (radians: number): number => (radians * 180) / Math.PI;
const radians = (angle: number): number => (angle * Math.PI) / 180;

/** CIEDE2000 of two Lab colours. */
export function ciede2000([l1, a1, b1]: readonly number[], [l2, a2, b2]: readonly number[]): number {
  const meanC = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(meanC ** 7 / (meanC ** 7 + 25 ** 7)));
  const [ap1, ap2] = [(1 + g) * a1, (1 + g) * a2];
  const [c1, c2] = [Math.hypot(ap1, b1), Math.hypot(ap2, b2)];
  const hue = (a: number, b: number): number => (a === 0 && b === 0 ? 0 : (degrees(Math.atan2(b, a)) + 360) % 360);
  const [h1, h2] = [hue(ap1, b1), hue(ap2, b2)];
  let turn = c1 * c2 === 0 ? 0 : h2 - h1;
  if (turn > 180) turn -= 360;
  if (turn < -180) turn += 360;
  const [dl, dc, dh] = [l2 - l1, c2 - c1, 2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2))];
  const [ml, mc] = [(l1 + l2) / 2, (c1 + c2) / 2];
  let mh = h1 + h2;
  if (c1 * c2 !== 0) mh = Math.abs(h1 - h2) <= 180 ? mh / 2 : mh < 360 ? (mh + 360) / 2 : (mh - 360) / 2;
  const t = 1 - 0.17 * Math.cos(radians(mh - 30)) + 0.24 * Math.cos(radians(2 * mh)) + 0.32 * Math.cos(radians(3 * mh + 6)) - 0.2 * Math.cos(radians(4 * mh - 63));
  const sl = 1 + (0.015 * (ml - 50) ** 2) / Math.sqrt(20 + (ml - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * mc, 1 + 0.015 * mc * t];
  const rt = -2 * Math.sqrt(mc ** 7 / (mc ** 7 + 25 ** 7)) * Math.sin(radians(60 * Math.exp(-(((mh - 275) / 25) ** 2))));
  return Math.sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh));
}

export const perceivedDistance = (one: readonly number[], two: readonly number[]): number => ciede2000(lab(one), lab(two));
