// Lines of play: tokens joined into addresses and back, and tokens in words.
// In an address actions of one street are joined by `-`; each dealt card (or flop) is a segment of its own.

import { RANKS } from './cards';

const CARDS = /^(?:[2-9TJQKA][cdhs])+$/;
export const isDeal = (token: string): boolean => CARDS.test(token);

/** The path of a line: `['x', 'b50p', 'c', 'As', 'x']` is `/x-b50p-c/As/x`. */
export function formatLine(line: readonly string[]): string {
  let path = '';
  line.forEach((token, index) => {
    const isJoined = index > 0 && !isDeal(token) && !isDeal(line[index - 1]);
    path += (isJoined ? '-' : '/') + token;
  });
  return path;
}

/** The line of path segments, as `formatLine` wrote them. */
export function parseLine(segments: readonly string[]): string[] {
  return segments.flatMap((segment) => (isDeal(segment) ? [segment] : segment.split('-'))).filter(Boolean);
}

/** A token in words: `b50p` is `Bet 50 %`. */
export function nameToken(token: string): string {
  const plain: Record<string, string> = { x: 'Check', c: 'Call', f: 'Fold', a: 'All-in' };
  if (plain[token]) return plain[token];
  const bet = /^([br])([\d.]+)([pxc]?)$/.exec(token);
  if (!bet) return token;
  const unit = { p: '\u2009%', x: '\u2009×', c: '', '': '' }[bet[3]];
  return `${bet[1] === 'b' ? 'Bet' : 'Raise'} ${bet[2]}${unit}`;
}

/** A short column head: the size alone of bets. */
export function shortToken(token: string): string {
  return nameToken(token).replace(/^(Bet|Raise) /, '');
}

export interface ActionLike {
  id: string;
  kind?: string;
  pot_share?: number | null;
}

/** Kind of an action by its token, where the answer does not say it. */
export function kindOf(id: string): string {
  return { f: 'fold', x: 'check', c: 'call', a: 'all-in' }[id] ?? (id[0] === 'r' ? 'raise' : 'bet');
}

function shareOf(action: ActionLike): number {
  if (action.pot_share != null) return 100 * action.pot_share;
  const size = /^[br]([\d.]+)p$/.exec(action.id);
  return size ? +size[1] : 75;
}

const BUCKETS = [40, 70, 110];

/**
 * The colour token of each action of a decision.
 *
 * Bets and raises by their share of the pot; of two in one bucket the larger moves up, or, where there is no room
 * above, the smaller down. More than four sizes are spread by rank.
 */
export function coloursOf(actions: readonly ActionLike[]): string[] {
  const kinds = actions.map((action) => action.kind ?? kindOf(action.id));
  const sized = actions
    .map((action, index) => ({ index, share: shareOf(action) }))
    .filter(({ index }) => kinds[index] === 'bet' || kinds[index] === 'raise')
    .sort((a, b) => a.share - b.share);
  const places = sized.map(({ share }) => BUCKETS.filter((limit) => share > limit + 0.5).length);
  if (places.length > 4) places.forEach((_, rank) => (places[rank] = Math.floor((rank * 4) / places.length)));
  else {
    for (let i = 1; i < places.length; i++) if (places[i] <= places[i - 1]) places[i] = places[i - 1] + 1;
    for (let i = places.length - 1, top = 3; i >= 0; i--, top--) places[i] = Math.min(places[i], top);
  }
  const found = kinds.map((kind) => ({ fold: 'fold', check: 'check', call: 'call' })[kind] ?? 'allin');
  sized.forEach(({ index }, rank) => (found[index] = `bet-${places[rank] + 1}`));
  return found;
}

/** Order in which actions stand everywhere: fold, check, call, bets from small to large, all-in. */
export const ORDER = ['fold', 'check', 'call', 'bet', 'raise', 'all-in'];

/** A line in a sentence: `check, bet 50 %, call`. */
export function lineInWords(line: readonly string[]): string {
  return line.map((token) => (isDeal(token) ? token : nameToken(token).toLowerCase())).join(', ');
}

export const rankOrder = (card: string): number => RANKS.indexOf(card[0]);
