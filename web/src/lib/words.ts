// Bids of dice and rounds of Goofspiel as people say them; the library's own names are short, as files need them.

const BID = /(\d+)-(\d+)(?: (?=\d+-\d|liar))?/g;
const ROUND = /(\d+):(\d+-\d+|[*<>=])?(?: (?=\d+:))?/g;
const LEAD = /player 0 leads by (-?\d+)/;
const OUTCOMES: Record<string, string> = { '*': ', player 1 has bid', '>': ' to player 1', '<': ' to player 2', '=': ' split' };

const diceWords = (text: string): string =>
  text.replace(BID, (match, dice: string, face: string) => `${dice} × ${face}${match.endsWith(' ') ? ', ' : ''}`);

function roundWords(match: string, prize: string, outcome = ''): string {
  const bids = outcome.replace('-', ' against ');
  const told = OUTCOMES[outcome] ?? (bids ? `: ${bids}` : '');
  return `prize ${prize}${told}${match.endsWith(' ') ? '; ' : ''}`;
}

const leadWords = (_match: string, by: string): string =>
  Number(by) ? `player ${Number(by) > 0 ? 1 : 2} leads by ${by.replace('-', '')}` : 'nobody leads';

/** An action, a public state or an information state of a game in words. */
export function inWords(game: string, text: string): string {
  if (game.startsWith('liars_dice')) {
    const [hand, said] = text.split('|');
    return said ? `${hand} after ${diceWords(said)}` : diceWords(hand);
  }
  if (game.startsWith('goofspiel')) {
    const [own, said] = text.split('|');
    if (said === undefined) return own.replace(LEAD, leadWords).replace(ROUND, roundWords);
    return (own ? `own bids ${own}; ` : '') + said.replace(ROUND, roundWords);
  }
  return text.replace(/[|:]$/, '') || text; // nothing public has happened yet
}

const replaceAll = (text: string, pairs: [RegExp, string][]): string => pairs.reduce((found, [words, short]) => found.replace(words, short), text);

/** Text that finds the names which `inWords` shows with it; what somebody typed as a pattern stays one. */
export function toGlob(game: string, typed: string): string {
  if (!typed || /[*?]/.test(typed)) return fromWords(game, typed);
  const isStart = game.startsWith('goofspiel') && typed.startsWith('own bids ');
  return `${isStart ? '' : '*'}${fromWords(game, typed)}*`;
}

function fromWords(game: string, text: string): string {
  if (game.startsWith('liars_dice'))
    return replaceAll(text, [
      [/\s*[×x]\s*/g, '-'],
      [/\s*,\s*/g, ' '],
      [/\s*\bafter\b\s*/, '|'],
    ]);
  if (game.startsWith('goofspiel')) {
    return replaceAll(text, [
      [/^own bids ([^;]*);\s*/, '$1|'],
      [/^own bids ?/, ''],
      [/\s*;\s*/g, ' '],
      [/,? ?player 1 has bid/g, '[*]'],
      [/ ?to player 1/g, '>'],
      [/ ?to player 2/g, '<'],
      [/ ?\bsplit/g, '='],
      [/^: /, ':'],
      [/ ?\bagainst ?/g, '-'],
      [/prize (\d+)(?:: ?)?/g, '$1:'],
      [/\bprize ?/g, ''],
    ]);
  }
  return text;
}
