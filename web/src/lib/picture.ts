// The square as a picture: drawn on a canvas with the colours of the page, saved as PNG.

import { heat, valueScale, type Theme } from './colours';
import type { Cell, Shown } from './node';
import { fixed, wholePercent } from './numbers';

const SIZE = 64;
const GAP = 2;

function fillCell(pen: CanvasRenderingContext2D, cell: Cell, x: number, y: number, colours: string[], soft: string): void {
  const height = Math.max(4, cell.height * SIZE);
  if (!cell.share) {
    pen.fillStyle = soft;
    pen.fillRect(x, y + SIZE - height, SIZE, height);
    return;
  }
  const total = cell.share.filter((share) => share >= 0.015).reduce((sum, share) => sum + share, 0) || 1;
  let at = x;
  cell.share.forEach((share, index) => {
    if (share < 0.015) return;
    const width = (SIZE * share) / total;
    pen.fillStyle = colours[index];
    pen.fillRect(at, y + SIZE - height, width, height);
    at += width;
  });
}

/** Draws a square of cells as the page shows it and returns it as a PNG. */
export function drawSquare(cells: Cell[], mode: string, actions: Shown[], unit: number, theme: Theme, caption: string): Promise<Blob | null> {
  const side = Math.round(Math.sqrt(cells.length));
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const canvas = document.createElement('canvas');
  canvas.width = side * (SIZE + GAP) + 30;
  canvas.height = side * (SIZE + GAP) + 62;
  const pen = canvas.getContext('2d')!;
  pen.fillStyle = token('panel');
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = token('ink');
  pen.font = '600 18px "Inter Page", system-ui, sans-serif';
  pen.fillText(caption, 16, 30);
  const values = cells.filter((cell) => cell.weight > 0).map((cell) => (mode === 'gain' ? (cell.gain ?? null) : cell.ev));
  const scale = valueScale(values.filter((value): value is number => value !== null));
  const colours = actions.map((shown) => token(shown.colour));
  cells.forEach((cell, index) => {
    const [x, y] = [16 + (index % side) * (SIZE + GAP), 46 + Math.floor(index / side) * (SIZE + GAP)];
    const isIn = cell.weight > 0;
    pen.fillStyle = token(isIn ? 'empty' : 'page');
    pen.fillRect(x, y, SIZE, SIZE);
    let ink = token(isIn ? 'ink' : 'faint');
    let number = '';
    const value = mode === 'equity' ? cell.equity : mode === 'ev' ? cell.ev : mode === 'gain' ? (cell.gain ?? null) : null;
    if (isIn && value !== null) {
      const found = heat(mode === 'equity' ? 'equity' : 'ev', mode === 'equity' ? value : (value - scale.low) / (scale.high - scale.low), theme);
      pen.fillStyle = found.ground;
      pen.fillRect(x, y, SIZE, SIZE);
      ink = found.ink;
      number = mode === 'equity' ? wholePercent(value) : fixed(value / unit, 1);
    } else if (isIn) {
      fillCell(pen, mode === 'weight' ? { ...cell, share: null } : cell, x, y, colours, token('weight'));
    }
    pen.fillStyle = ink;
    pen.font = `${isIn ? 600 : 420} 16px "Inter Page", system-ui, sans-serif`;
    pen.fillText(cell.name, x + 6, y + 20);
    if (number) {
      pen.font = '400 14px "Inter Page", system-ui, sans-serif';
      pen.fillText(number, x + SIZE - 5 - pen.measureText(number).width, y + SIZE - 7);
    }
  });
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

/** Hands a file to the browser to save. */
export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Hands a table to the browser to save as CSV; what cannot be said is left empty. */
export function saveTable(rows: readonly (readonly (string | number | null)[])[], name: string): void {
  const quote = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const text = rows.map((row) => row.map((cell) => quote(String(cell ?? ''))).join(',') + '\n').join('');
  saveBlob(new Blob([text], { type: 'text/csv' }), name);
}
