// Cards of the library and what is known of one solution.

import { get } from './api';
import type { Point } from './server.svelte';
import type { Spot } from './spots';

export interface SolutionCard {
  id: string;
  file: string;
  kind: 'spot' | 'game' | 'strategy';
  game: string;
  name: string;
  board: string[] | null;
  pot: number | null;
  stacks: number[] | null;
  big_blind: number | null;
  exploitability: number | null;
  percent_of_pot: number | null;
  iterations: number | null;
  bytes: number;
  changed: string;
  is_own: boolean;
  origin: string;
  job: string | null;
  locks: number;
  error: string | null;
}

export interface Solution extends SolutionCard {
  label: string;
  seats: string[] | null;
  rake: { rate: number; cap: number | null } | null;
  rule: string | null;
  seconds: number | null;
  spot: Spot | null;
  text: string | null;
  config: Record<string, unknown>;
  progress: Point[];
  stopped_by: string | null;
}

export const fetchSolutions = async (): Promise<SolutionCard[]> => (await get<{ solutions: SolutionCard[] }>('/solutions')).solutions;
export const fetchSolution = (id: string): Promise<Solution> => get<Solution>(`/solutions/${id}`);
export const addressOf = (card: SolutionCard): string => (card.kind === 'spot' ? `/s/${card.id}` : `/g/${card.id}`);
