// What `describe_node` answers about a place of a solved spot, and what the page draws of it.

import { cellOf, normalHand } from './cards';
import { coloursOf, nameToken } from './lines';

export interface Step {
  kind: 'decision' | 'deal';
  line: string[];
  pot: number;
  player?: number;
  ids?: string[];
  frequency?: (number | null)[];
  taken?: string;
  street?: string;
  cards?: string[];
}

export interface Action {
  id: string;
  name: string;
  kind: string;
  to: number | null;
  pot_share: number | null;
  frequency: number | null;
  combos: number;
  ev: number | null;
  next: string;
  line: string[];
}

export interface Square {
  names: string[];
  weight: (number | null)[];
  equity: (number | null)[];
  ev: (number | null)[];
  frequency: (number | null)[][] | null;
}

export interface Player {
  hands: string[];
  weight: number[];
  odds: number[];
  equity: (number | null)[];
  ev: (number | null)[];
  class: number[] | null;
  draw: number[] | null;
  summary: { combos: number; equity: number | null; ev: number | null; eqr: number | null };
  grid: Square;
}

export interface Node {
  solution: string;
  line: string[];
  text: string;
  kind: string;
  street: string;
  board: string[];
  player: number | null;
  seats: string[];
  pot: number;
  to_call: number;
  stacks: number[];
  big_blind: number | null;
  reach: number | null;
  has_values: boolean;
  locked: string[] | null;
  path: Step[];
  classes: string[];
  draws: string[];
  actions: Action[];
  players: Player[];
  strategy: number[][] | null;
  action_ev: (number | null)[][] | null;
  cards?: { card: string; line: string[] }[] | null;
}

export interface Cell {
  name: string;
  weight: number;
  height: number;
  equity: number | null;
  ev: number | null;
  share: number[] | null;
  gain?: number | null;
}

/** Actions in the order in which they are drawn everywhere, with their places in the answer. */
export interface Shown {
  action: Action;
  index: number;
  colour: string;
  label: string;
}

const KIND_ORDER: Record<string, number> = { fold: 0, check: 1, call: 2, bet: 3, raise: 3, 'all-in': 4 };

export function shownActions(actions: readonly Action[]): Shown[] {
  const colours = coloursOf(actions);
  return actions
    .map((action, index) => ({ action, index, colour: colours[index], label: nameToken(action.id) }))
    .sort((a, b) => KIND_ORDER[a.action.kind] - KIND_ORDER[b.action.kind] || (a.action.to ?? 0) - (b.action.to ?? 0));
}

/** Cells of a player's square; shares stand in the order of `order`. */
export function cellsOf(square: Square, order: readonly number[]): Cell[] {
  const top = Math.max(1e-9, ...square.weight.map((weight) => weight ?? 0));
  return square.names.map((name, index) => {
    const weight = square.weight[index] ?? 0;
    const found = square.frequency?.[index];
    const share = found && found.some((value) => value !== null) ? order.map((action) => found[action] ?? 0) : null;
    return { name, weight, height: weight / top, equity: square.equity[index], ev: square.ev[index], share };
  });
}

/** Places of a player's hands by cell. */
export function handsByCell(player: Player): Map<string, number[]> {
  const found = new Map<string, number[]>();
  player.hands.forEach((hand, index) => {
    const cell = cellOf(hand);
    const list = found.get(cell);
    if (list) list.push(index);
    else found.set(cell, [index]);
  });
  return found;
}

export interface Group {
  name: string;
  index: number;
  share: number;
  ev: number | null;
  mix: number[] | null;
}

/** A range by class of hand (or draw): its share, what it does and what it is worth, in the order of `names`. */
export function groupsOf(names: readonly string[], of: readonly number[], player: Player, strategy: number[][] | null, order: readonly number[]): Group[] {
  const total = player.odds.reduce((sum, odds) => sum + odds, 0) || 1;
  return names
    .map((name, index) => {
      const hands = of.map((value, hand) => (value === index ? hand : -1)).filter((hand) => hand >= 0);
      const odds = hands.reduce((sum, hand) => sum + player.odds[hand], 0);
      const known = hands.filter((hand) => player.ev[hand] !== null);
      const worth = known.reduce((sum, hand) => sum + player.odds[hand] * player.ev[hand]!, 0);
      const mix = strategy && order.map((action) => hands.reduce((sum, hand) => sum + player.odds[hand] * strategy[hand][action], 0) / (odds || 1));
      return { name, index, share: odds / total, ev: known.length && odds ? worth / odds : null, mix };
    })
    .filter((group) => group.share > 0.0005);
}

export interface CurvePoint {
  from: number;
  to: number;
  equity: number;
  hand: string;
}

/** Equity of a range from its weakest hand to its strongest, as steps over its share. */
export function equityCurve(player: Player): CurvePoint[] {
  const total = player.odds.reduce((sum, odds) => sum + odds, 0) || 1;
  let at = 0;
  return player.hands
    .map((hand, index) => ({ hand, odds: player.odds[index], equity: player.equity[index] }))
    .filter((point) => point.odds > 0 && point.equity !== null)
    .sort((a, b) => a.equity! - b.equity!)
    .map(({ hand, odds, equity }) => {
      const from = at;
      at += odds / total;
      return { from, to: at, equity: equity!, hand };
    });
}

/** Amount that an action shows beside its name, in chips; null where it costs nothing. */
export function amountOf(action: Action, node: Node): number | null {
  if (action.kind === 'fold' || action.kind === 'check') return null;
  return action.kind === 'call' ? node.to_call : action.to;
}

export const SEAT_NAMES = ['OOP', 'IP'];
export const seatName = (seats: readonly string[], seat: number): string => {
  const name = seats[seat] ?? SEAT_NAMES[seat];
  return name === 'oop' || name === 'ip' ? name.toUpperCase() : name;
};

export { normalHand };
