// In what amounts are written: big blinds, chips, or percent of the pot that a spot begins with; kept in the browser.

import { keep, read } from './look.svelte';

export type Unit = 'bb' | 'chips' | 'pot';
export const UNITS: Record<Unit, string> = { bb: 'bb', chips: 'chips', pot: '% pot' };
const known = read('unit');
let chosen = $state<Unit>(known === 'chips' || known === 'pot' ? known : 'bb');

export const units = {
  get chosen(): Unit {
    return chosen;
  },
};

export function turnUnit(): void {
  const all = Object.keys(UNITS) as Unit[];
  chosen = all[(all.indexOf(chosen) + 1) % all.length];
  keep('unit', chosen);
}

/** Chips of one unit and its name; chips where a spot has no big blind or no pot. */
export function unitOf(bigBlind: number | null | undefined, pot: number | null | undefined): { size: number; name: string } {
  if (chosen === 'pot' && pot) return { size: pot / 100, name: UNITS.pot };
  return chosen === 'bb' && bigBlind ? { size: bigBlind, name: UNITS.bb } : { size: 1, name: UNITS.chips };
}
