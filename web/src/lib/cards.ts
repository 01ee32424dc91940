// Cards, the 13 x 13 square of hole-card classes, and the pairs of cards in each of its cells.

export const RANKS = 'AKQJT98765432';
export const SUITS = 'shdc';
export const SUIT_NAMES: Record<string, string> = { s: 'spades', h: 'hearts', d: 'diamonds', c: 'clubs' };
const RANK_NAMES: Record<string, string> = { A: 'ace', K: 'king', Q: 'queen', J: 'jack', T: 'ten' };

/** Names of the 169 cells, rows from the aces down: suited above the diagonal, offsuit below. */
export const CELLS: string[] = [];
for (let row = 0; row < 13; row++)
  for (let column = 0; column < 13; column++) {
    const high = RANKS[Math.min(row, column)];
    const low = RANKS[Math.max(row, column)];
    CELLS.push(row === column ? high + low : high + low + (row < column ? 's' : 'o'));
  }
export const CELL_INDEX: Record<string, number> = Object.fromEntries(CELLS.map((name, index) => [name, index]));

/** The pairs of cards of a cell, higher card first; of a pair the suits run from spades to clubs. */
export function combosOf(cell: string): string[] {
  const found: string[] = [];
  for (const one of SUITS)
    for (const two of SUITS) {
      const isPair = cell.length === 2;
      if (isPair ? SUITS.indexOf(one) < SUITS.indexOf(two) : cell[2] === 's' ? one === two : one !== two)
        found.push(cell[0] + one + cell[1] + two);
    }
  return found;
}
export const COMBOS: string[][] = CELLS.map(combosOf);

/** A hand with its cards in the order of `combosOf`. */
export function normalHand(hand: string): string {
  const [one, two] = [hand.slice(0, 2), hand.slice(2)];
  const [a, b] = [RANKS.indexOf(one[0]), RANKS.indexOf(two[0])];
  const isInOrder = a === b ? SUITS.indexOf(one[1]) < SUITS.indexOf(two[1]) : a < b;
  return isInOrder ? hand : two + one;
}

/** The cell of a hand such as `QhJs`. */
export function cellOf(hand: string): string {
  const [high, low] = RANKS.indexOf(hand[0]) <= RANKS.indexOf(hand[2]) ? [hand[0], hand[2]] : [hand[2], hand[0]];
  return high === low ? high + low : high + low + (hand[1] === hand[3] ? 's' : 'o');
}

/** How many pairs of a cell the board leaves. */
export function freeCombos(cell: number, board: readonly string[]): number {
  return COMBOS[cell].filter((hand) => !board.includes(hand.slice(0, 2)) && !board.includes(hand.slice(2))).length;
}

export const isCard = (text: string): boolean => /^[2-9TJQKA][cdhs]$/.test(text);

/** Cards of a text such as `Ks7h2d` or `Ks 7h, 2d`; null where something is no card. */
export function parseCards(text: string): string[] | null {
  const found = text.replace(/[\s,]+/g, '').match(/..?/g) ?? [];
  const cards = found.map((card) => card[0].toUpperCase() + (card[1] ?? '').toLowerCase());
  return cards.every(isCard) ? cards : null;
}

/** A card in words, for those who listen. */
export function cardName(card: string): string {
  return `${RANK_NAMES[card[0]] ?? card[0]} of ${SUIT_NAMES[card[1]]}`;
}
