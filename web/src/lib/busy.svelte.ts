// One line under the top bar while something is fetched for longer than a moment.

import { ServerGone } from './api';

const MOMENT = 120;
let pending = 0;
let isLate = $state(false);
let timer: ReturnType<typeof setTimeout> | undefined;

export const busy = {
  get isLate(): boolean {
    return isLate;
  },
};

/** Waits for something, and shows that after a moment. */
export async function during<T>(work: Promise<T>): Promise<T> {
  pending += 1;
  if (pending === 1) timer = setTimeout(() => (isLate = pending > 0), MOMENT);
  try {
    return await work;
  } finally {
    pending -= 1;
    if (!pending) {
      clearTimeout(timer);
      isLate = false;
    }
  }
}

let said = $state('');
let spoken = $state('');
let hide: ReturnType<typeof setTimeout> | undefined;
export const messages = {
  get shown(): string {
    return said;
  },
  get spoken(): string {
    return spoken;
  },
};

/** Shows a short message for three seconds. */
export function say(text: string): void {
  said = text;
  clearTimeout(hide);
  hide = setTimeout(() => (said = ''), 3000);
}

/** Tells those who listen, politely; nothing is drawn. */
export function announce(text: string): void {
  spoken = text;
}

/** Whether a fault is told by the bar under the top bar already. */
export const isGone = (error: unknown): boolean => error instanceof ServerGone;

/** Copies the address of what is shown, or shows it where that is not allowed. */
export async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    say('Link copied');
  } catch {
    say(location.href);
  }
}
