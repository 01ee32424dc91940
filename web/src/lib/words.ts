// Bids of dice and rounds of Goofspiel as people say them; the library's own names are short, as files need them.

const BID = /(\d+)-(\d+)(?: (?=\d+-\d|liar))?/g;
const ROUND = /(\d+):(\d+-\d+|[*<>=])?(?: (?=\d+:))?/g;
const OUTCOMES: Record<string, string> = { '*': ', player 1 has bid', '>': ' to player 1', '<': ' to player 2', '=': ' split' };

const diceWords = (text: string): string =>
  text.replace(BID, (match, dice: string, face: string) => `${dice} × ${face}${match.endsWith(' ') ? ', ' : ''}`);

function roundWords(match: string, prize: string, outcome = ''): string {
  const bids = outcome.replace('-', ' against ');
  const told = OUTCOMES[outcome] ?? (bids ? `: ${bids}` : '');
  return `prize ${prize}${told}${match.endsWith(' ') ? '; ' : ''}`;
}

/** An action, a public state or an information state of a game in words. */
export function inWords(game: string, text: string): string {
  if (game.startsWith('liars_dice')) {
    const [hand, said] = text.split('|');
    return said ? `${hand} after ${diceWords(said)}` : diceWords(hand);
  }
  if (game.startsWith('goofspiel')) {
    const [own, said] = text.split('|');
    if (said === undefined) return own.replace(ROUND, roundWords);
    return (own ? `own bids ${own}; ` : '') + said.replace(ROUND, roundWords);
  }
  return text.replace(/[|:]$/, '') || text; // nothing public has happened yet
}
