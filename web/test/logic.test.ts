import { describe, expect, it } from 'vitest';
import { CELLS, cellOf, combosOf, freeCombos, normalHand, parseCards } from '../src/lib/cards';
import { ACTION_COLOURS, channels, heat, luminance, RAMPS, splitGradient, valueScale } from '../src/lib/colours';
import { coloursOf, formatLine, nameToken, parseLine } from '../src/lib/lines';
import { bytes, combos, decade, duration, fixed, percent, significant } from '../src/lib/numbers';
import { checkForm, formOf, spotOf, streetsOf } from '../src/lib/spot_form';
import { inWords } from '../src/lib/words';
import { ciede2000, perceivedDistance, simulate } from './vision';

describe('cards', () => {
  it('has 169 cells and 1326 pairs of cards, each in its own cell', () => {
    expect(new Set(CELLS).size).toBe(169);
    const all = CELLS.flatMap(combosOf);
    expect(new Set(all).size).toBe(1326);
    for (const cell of CELLS) for (const hand of combosOf(cell)) expect([cellOf(hand), cellOf(hand.slice(2) + hand.slice(0, 2)), normalHand(hand.slice(2) + hand.slice(0, 2))]).toEqual([cell, cell, hand]);
  });
  it('counts what the board leaves', () => {
    expect(freeCombos(CELLS.indexOf('AA'), ['As', 'Kh'])).toBe(3);
    expect(freeCombos(CELLS.indexOf('AKs'), ['As', 'Kh'])).toBe(2);
  });
  it('reads boards', () => {
    expect(parseCards('ks 7H,2d')).toEqual(['Ks', '7h', '2d']);
    expect(parseCards('Ks7')).toBeNull();
    expect(parseCards('Kx')).toBeNull();
  });
});

describe('lines', () => {
  it('goes into an address and back', () => {
    for (const line of [[], ['x'], ['x', 'b50p', 'c', 'As', 'x'], ['c', 'x', 'Ks7h2d', 'b2.5x', 'a'], ['x', 'x', 'As']]) expect(parseLine(formatLine(line).split('/').filter(Boolean))).toEqual(line);
    expect(formatLine(['x', 'b50p', 'c', 'As', 'x'])).toBe('/x-b50p-c/As/x');
  });
  it('says tokens in words', () => {
    expect(['x', 'f', 'c', 'a', 'b50p', 'r100p', 'r2.5x', 'b30c'].map(nameToken)).toEqual(['Check', 'Fold', 'Call', 'All-in', 'Bet 50\u2009%', 'Raise 100\u2009%', 'Raise 2.5\u2009×', 'Bet 30']);
  });
  it('gives bets the colour of their size, and moves what would share one', () => {
    const colours = (...ids: string[]) => coloursOf(ids.map((id) => ({ id })));
    expect(colours('x', 'b33p', 'b75p', 'b150p', 'a')).toEqual(['check', 'bet-1', 'bet-3', 'bet-4', 'allin']);
    expect(colours('f', 'c', 'r50p', 'r60p')).toEqual(['fold', 'call', 'bet-2', 'bet-3']);
    expect(colours('b150p', 'b200p')).toEqual(['bet-3', 'bet-4']);
    expect(new Set(colours('b10p', 'b20p', 'b30p', 'b40p')).size).toBe(4);
    expect(colours('b10p', 'b20p', 'b30p', 'b40p', 'b50p', 'b60p', 'b70p', 'b80p')).toEqual(['bet-1', 'bet-1', 'bet-2', 'bet-2', 'bet-3', 'bet-3', 'bet-4', 'bet-4']);
  });
});

describe('numbers', () => {
  it('writes what the page writes', () => {
    expect([0, 0.0004, 0.1234, 0.9996, null].map(percent)).toEqual(['0', '0', '12.3', '100', '–']);
    expect([fixed(-0.001), fixed(-1.5, 1), fixed(12345.6, 1), fixed(null)]).toEqual(['0.00', '\u22121.5', '12,345.6', '–']);
    expect([combos(0), combos(0.01), combos(12.34), combos(1326)]).toEqual(['0', '<\u20090.1', '12.3', '1,326']);
    expect([duration(0.09), duration(6.28), duration(42), duration(108), duration(7800)]).toEqual(['90 ms', '6.3 s', '42 s', '1:48', '2 h 10']);
    expect([bytes(900), bytes(58_900_000), bytes(18_500_000_000)]).toEqual(['900 B', '58.9 MB', '18.5 GB']);
    expect([decade(-5), decade(-2), decade(0), decade(3), decade(6)]).toEqual(['10⁻⁵', '0.01', '1', '1k', '1M']);
    expect([significant(0.000018), significant(0), significant(4567)]).toEqual(['1.8 × 10⁻⁵', '0', '4,567']);
    expect([significant(0.0078), significant(12.34)]).toEqual(['0.0078', '12.3']);
  });
});

describe('colours', () => {
  const kinds = ['normal', 'protan', 'deutan', 'tritan'] as const;
  const groups = [['check', 'bet-1', 'bet-2', 'bet-3', 'bet-4', 'allin'], ['fold', 'call', 'bet-1', 'bet-2', 'bet-3', 'bet-4', 'allin']];
  for (const [theme, least] of [['light', 10], ['dark', 8.8]] as const) {
    it(`tells actions of one decision apart in any vision, ${theme}`, () => {
      for (const group of groups)
        for (const one of group)
          for (const two of group) {
            if (one >= two) continue;
            for (const kind of kinds) {
              const [a, b] = [one, two].map((name) => simulate(channels(ACTION_COLOURS[theme][name]), kind));
              expect(perceivedDistance(a, b), `${one} and ${two}, ${kind}`).toBeGreaterThan(least);
            }
          }
    });
    it(`lets the ink be read on every fill, ${theme}`, () => {
      const ink = luminance(channels(theme === 'light' ? '#14181A' : '#0B0E0F'));
      for (const colour of Object.values(ACTION_COLOURS[theme])) expect((luminance(channels(colour)) + 0.05) / (ink + 0.05)).toBeGreaterThan(4.5);
      for (const kind of ['ev', 'equity'] as const)
        for (let at = 0; at <= 1; at += 0.01) {
          const { ground, ink: chosen } = heat(kind, at, theme);
          const light = luminance(ground.match(/\d+/g)!.map(Number));
          expect(chosen === '#000' ? (light + 0.05) / 0.05 : 1.05 / (light + 0.05)).toBeGreaterThanOrEqual(4.5);
        }
      expect(RAMPS.ev[theme]).toHaveLength(5);
    });
  }
  it('measures distances as published', () => {
    expect(ciede2000([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
    expect(ciede2000([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4);
  });
  it('leaves small shares out of a split and fills the width', () => {
    expect(splitGradient(['check', 'allin'], [0.99, 0.01])).toBe('linear-gradient(90deg, var(--check) 0 100.0%)');
    expect(splitGradient(['check', 'allin'], [0, 0])).toBe('none');
    expect(valueScale([-1, 0, 5])).toEqual({ low: -1, high: 0 });
  });
});

describe('the form of a spot', () => {
  const spot = { board: 'Ks7h2d5c', pot: 60, stacks: 970, big_blind: 10, ranges: { oop: 'AA', ip: 'KK' }, menu: '50%, a / 100%, a', target: '0.5% pot' };
  it('comes back as the same spot', () => {
    const made = spotOf(formOf(spot));
    expect([made.pot, made.stacks, made.big_blind, made.board, made.target]).toEqual([60, 970, 10, 'Ks7h2d5c', '0.5% pot']);
    expect(made.menu).toBe('turn: 50%, a / 100%, a; river: 50%, a / 100%, a');
    expect(spotOf(formOf(made)).menu).toBe(made.menu);
    expect(checkForm(formOf(spot))).toEqual({});
  });
  it('keeps what streets and players may do apart, and clauses it has no field for', () => {
    const menu = 'turn oop: 33% / a; turn ip: 75%, a / 100%; river: a / a; turn cap: 3';
    expect(spotOf(formOf({ ...spot, menu })).menu).toBe(menu);
    expect(formOf({ ...spot, menu: '20% / a; ip: 80% / a; river ip: 90% / a' }).sizes).toMatchObject({ turn: { oop: { bet: '20%' }, ip: { bet: '80%' } }, river: { oop: { bet: '20%' }, ip: { bet: '90%' } } });
  });
  it('takes smaller chips where an amount needs them', () => {
    const form = { ...formOf({ ...spot, pot: 6, stacks: 97, big_blind: 1 }), pot: '6.5' };
    expect(spotOf(form)).toMatchObject({ pot: 65, stacks: 970, big_blind: 10 });
  });
  it('names the fields that are wrong', () => {
    const faults = checkForm({ ...formOf(spot), board: 'Ks7hKs', pot: '-1', behind: 'many', ranges: { oop: ' ', ip: 'KK' } });
    expect(Object.keys(faults).sort()).toEqual(['board', 'pot', 'ranges.oop', 'stacks']);
  });
  it('knows which streets are left', () => {
    expect([streetsOf('Ks7h2d'), streetsOf('Ks7h2d5cJs')]).toEqual([['flop', 'turn', 'river'], ['river']]);
  });
});

describe('words', () => {
  it('say bids of dice as people do, wherever they stand', () => {
    const said = (text: string) => inWords('liars_dice(faces=3)', text);
    expect(['2-2', 'liar', '3|', '3|2-2 2-3'].map(said)).toEqual(['2 × 2', 'liar', '3', '3 after 2 × 2, 2 × 3']);
    expect(said('dice 1 and 12, play 1-2 2-3 liar')).toBe('dice 1 and 12, play 1 × 2, 2 × 3, liar');
  });
  it('say rounds of Goofspiel with prize and bids', () => {
    const said = (text: string) => inWords('goofspiel', text);
    expect(['|1:', '|1:2-1 2:*', 'bid 2'].map(said)).toEqual(['prize 1', 'prize 1: 2 against 1; prize 2, player 1 has bid', 'bid 2']);
    expect(said('2 3|1:> 2:< 3:= 4:')).toBe('own bids 2 3; prize 1 to player 1; prize 2 to player 2; prize 3 split; prize 4');
  });
  it('leave other games as they are', () => {
    expect([inWords('kuhn', 'K|'), inWords('leduc', 'K:r c'), inWords('own', '1-2')]).toEqual(['K', 'K:r c', '1-2']);
  });
});
