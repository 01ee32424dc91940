// Jobs in words and as shares of their way.

import { fixed } from './numbers';
import type { Job } from './server.svelte';

const VERBS: Record<string, string> = {
  waiting: 'Waiting:', building: 'Building', running: 'Solving', pausing: 'Pausing', paused: 'Paused:', stopping: 'Stopping', done: 'Solved',
  failed: 'Failed:', interrupted: 'Interrupted:', cancelled: 'Cancelled:',
};

export const jobTitle = (job: Job): string => `${VERBS[job.state] ?? job.state} ${job.title}`;

/** How far a solve is, from 0 to 1, on the scale on which it converges: orders of magnitude of exploitability. */
export function jobShare(job: Job): number | null {
  if (job.state === 'done') return 1;
  const last = job.progress;
  const first = job.points?.find((point) => point.exploitability);
  if (!last?.exploitability || !job.target) return null;
  const start = Math.max(first?.exploitability ?? 100 * job.target, 2 * job.target);
  const way = Math.log(start / last.exploitability) / Math.log(start / job.target);
  return Math.max(0, Math.min(1, way));
}

/** `0.451 % of the pot` or chips a hand, with enough digits to tell it from the target. */
export function exploitText(percentOfPot: number | null | undefined, chips: number | null | undefined): string {
  if (percentOfPot != null) return `${fixed(percentOfPot, percentOfPot < 0.095 ? 3 : 2)} % of the pot`;
  return chips != null ? `${chips.toPrecision(3)} a hand` : '–';
}

export const JOB_STATES: Record<string, string> = {
  waiting: 'waiting', building: 'building the tree', running: 'running', pausing: 'pausing', paused: 'paused', stopping: 'stopping', done: 'done',
  failed: 'failed', interrupted: 'interrupted', cancelled: 'cancelled',
};
