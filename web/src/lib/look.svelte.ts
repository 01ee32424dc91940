// Dark or light, and what this reader chose before; kept in the browser.

import type { Theme } from './colours';

const asked = matchMedia('(prefers-color-scheme: dark)');
let chosen = $state<Theme | null>(read('theme') as Theme | null);
let system = $state<Theme>(asked.matches ? 'dark' : 'light');
asked.addEventListener('change', () => (system = asked.matches ? 'dark' : 'light'));

/** A setting of this browser, or null; a browser that keeps nothing is no reason to fail. */
export function read(key: string): string | null {
  try {
    return localStorage.getItem('equipoise.' + key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem('equipoise.' + key, value);
  } catch {
    // a private window: the setting lasts as long as the page
  }
}

export const look = {
  get theme(): Theme {
    return chosen ?? system;
  },
};

export function turnTheme(): void {
  chosen = look.theme === 'dark' ? 'light' : 'dark';
  keep('theme', chosen);
}
