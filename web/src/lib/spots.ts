// Spots as the server takes them: the keys of a spot file.

export interface Lock {
  line: string | string[];
  hands: string | Record<string, number[]>;
  play?: Record<string, number>;
}

export interface MenuOfStreet {
  oop?: { sizes: string };
  ip?: { sizes: string };
}

export interface Menu {
  sizes?: string;
  preflop?: MenuOfStreet;
  flop?: MenuOfStreet;
  turn?: MenuOfStreet;
  river?: MenuOfStreet;
  cap?: number;
}

export interface Spot {
  name?: string;
  board?: string;
  pot: number;
  stacks: number | number[];
  big_blind?: number;
  rake?: { rate: number; cap?: number | null };
  ranges: { oop: string; ip: string };
  menu?: string | Menu;
  target?: string;
  precision?: string;
  locks?: Lock[];
  [key: string]: unknown;
}
