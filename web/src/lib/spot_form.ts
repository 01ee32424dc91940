// The form of a new spot: what stands in its fields, made from a spot and back.

import { parseCards } from './cards';
import type { MenuOfStreet, Spot } from './spots';

export const STREETS = ['flop', 'turn', 'river'] as const;
export type Street = (typeof STREETS)[number];
export const SEATS = ['oop', 'ip'] as const;
export type Seat = (typeof SEATS)[number];

export interface Sizes {
  bet: string;
  raise: string;
}

export interface Form {
  title: string;
  board: string;
  seats: [string, string];
  pot: string;
  behind: string;
  rake: string;
  cap: string;
  ranges: Record<Seat, string>;
  sizes: Record<Street, Record<Seat, Sizes>>;
  target: string;
  precision: string;
  bigBlind: number;
  otherClauses: string[];
}

const DEFAULT_SIZES = '50%, a / 100%, a';
const STREET_OF: Record<number, number> = { 3: 0, 4: 1, 5: 2 };

/** Streets that are still played on a board of so many cards. */
export function streetsOf(board: string): Street[] {
  const cards = parseCards(board)?.length ?? 0;
  return STREETS.slice(STREET_OF[cards] ?? 0);
}

const splitSizes = (text: string): Sizes => {
  const [bet = '', raise = ''] = text.split('/');
  return { bet: bet.trim(), raise: raise.trim() };
};
const joinSizes = ({ bet, raise }: Sizes): string => (raise.trim() ? `${bet} / ${raise}` : `${bet} /`);

const CLAUSE = /^(?:(preflop|flop|turn|river)(?:\s+(oop|ip))?|(oop|ip))\s*:\s*(.*)$/;
const isSizes = (clause: string): boolean => !clause.includes(':');

/** Clauses of a menu's text, such as `50%, a / 100%; turn oop: 33%`, of which the later ones say more. */
const clausesOf = (menu: string): string[] => menu.split(';').map((clause) => clause.trim()).filter(Boolean);

function sizesOfText(menu: string, street: Street, seat: Seat): Sizes {
  let found = DEFAULT_SIZES;
  for (const clause of clausesOf(menu)) {
    const parts = CLAUSE.exec(clause);
    if (parts ? (parts[1] ?? street) === street && (parts[2] ?? parts[3] ?? seat) === seat : isSizes(clause)) found = parts ? parts[4] : clause;
  }
  return splitSizes(found);
}

/** Clauses that the form has no field for (donk bets, caps, merging): they go back as they came. */
const otherClausesOf = (menu: Spot['menu']): string[] => (typeof menu === 'string' ? clausesOf(menu).filter((clause) => !isSizes(clause) && !CLAUSE.test(clause)) : []);

function sizesOf(menu: Spot['menu'], street: Street, seat: Seat): Sizes {
  if (menu === undefined || menu === null || typeof menu === 'string') return sizesOfText(menu ?? DEFAULT_SIZES, street, seat);
  const ofStreet = menu[street] as (MenuOfStreet & { sizes?: string }) | string | undefined;
  if (typeof ofStreet === 'string') return splitSizes(ofStreet);
  const ofSeat = ofStreet?.[seat] as { sizes?: string } | string | undefined;
  const found = typeof ofSeat === 'string' ? ofSeat : ofSeat?.sizes;
  return splitSizes(found ?? ofStreet?.sizes ?? menu.sizes ?? DEFAULT_SIZES);
}

const plain = (value: number): string => String(+value.toFixed(4));

/** The form of a spot. */
export function formOf(spot: Spot): Form {
  const unit = spot.big_blind || 1;
  const stacks = Array.isArray(spot.stacks) ? spot.stacks : [spot.stacks, spot.stacks];
  const even = stacks[0] === stacks[1];
  const sizes = Object.fromEntries(
    STREETS.map((street) => [street, Object.fromEntries(SEATS.map((seat) => [seat, sizesOf(spot.menu, street, seat)]))]),
  ) as Form['sizes'];
  const seats = (spot.seats as [string, string] | undefined) ?? ['', ''];
  const board = (parseCards(String(spot.board ?? '')) ?? []).join('');
  return {
    title: String(spot.title ?? ''), board, seats: [seats[0], seats[1]], pot: plain(spot.pot / unit),
    behind: even ? plain(stacks[0] / unit) : stacks.map((stack) => plain(stack / unit)).join(', '),
    rake: plain(100 * (spot.rake?.rate ?? 0)), cap: spot.rake?.cap ? plain(spot.rake.cap / unit) : '0',
    ranges: { oop: tidy(spot.ranges.oop), ip: tidy(spot.ranges.ip) }, sizes,
    target: spot.target ?? '0.1% pot', precision: spot.precision ?? '', bigBlind: unit,
    otherClauses: otherClausesOf(spot.menu),
  };
}

const tidy = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The least blind in which every amount is whole: the one there was, else 10 or 100 chips. */
function chooseBlind(amounts: number[], before: number): number {
  const isWhole = (unit: number): boolean => amounts.every((amount) => Math.abs(amount * unit - Math.round(amount * unit)) < 1e-6);
  return [before, 10, 100].find((unit) => unit >= 1 && isWhole(unit)) ?? 100;
}

/** The spot of a form; numbers that are none become NaN, so that `checkForm` must pass first. */
export function spotOf(form: Form): Spot {
  const behind = form.behind.split(',').map((part) => Number(part.trim() || NaN));
  const [pot, cap, rate] = [Number(form.pot || NaN), Number(form.cap || 0), Number(form.rake || 0)];
  const unit = chooseBlind([pot, cap, ...behind], form.bigBlind);
  const chips = (value: number): number => Math.round(value * unit);
  const menu = [
    ...streetsOf(form.board).flatMap((street) => {
      const [oop, ip] = SEATS.map((seat) => joinSizes(form.sizes[street][seat]));
      return oop === ip ? [`${street}: ${oop}`] : [`${street} oop: ${oop}`, `${street} ip: ${ip}`];
    }),
    ...(form.otherClauses ?? []),
  ].join('; ');
  const spot: Spot = {
    board: form.board, pot: chips(pot), stacks: behind.length === 1 ? chips(behind[0]) : behind.map(chips), big_blind: unit,
    ranges: { ...form.ranges }, menu, target: form.target,
  };
  if (form.title.trim()) spot.title = form.title.trim();
  if (form.seats.every((seat) => seat.trim())) spot.seats = form.seats.map((seat) => seat.trim());
  if (form.precision) spot.precision = form.precision;
  if (rate > 0) spot.rake = cap > 0 ? { rate: rate / 100, cap: chips(cap) } : { rate: rate / 100 };
  return spot;
}

/** What is wrong with the fields that the page can judge alone: field and message. */
export function checkForm(form: Form): Record<string, string> {
  const faults: Record<string, string> = {};
  const cards = parseCards(form.board);
  if (!cards) faults.board = `'${form.board}' is no board: write cards such as Ks7h2d`;
  else if (new Set(cards).size !== cards.length) faults.board = 'A card is on the board twice';
  else if (![3, 4, 5].includes(cards.length)) faults.board = `A board has 3, 4 or 5 cards, got ${cards.length}`;
  const positive = (text: string): boolean => Number(text) > 0;
  if (!positive(form.pot)) faults.pot = `A number above 0, got '${form.pot}'`;
  const behind = form.behind.split(',');
  if (behind.length > 2 || !behind.every(positive)) faults.stacks = `A number above 0, or two: 97, 80; got '${form.behind}'`;
  if (!(Number(form.rake) >= 0 && Number(form.rake) <= 100)) faults['rake.rate'] = `0 to 100, got '${form.rake}'`;
  if (!(Number(form.cap) >= 0)) faults['rake.cap'] = `0 or more, got '${form.cap}'`;
  for (const seat of SEATS) if (!form.ranges[seat].trim()) faults[`ranges.${seat}`] = 'The range is empty: paint a cell or write AA, AKs, KQo:0.5';
  return faults;
}
