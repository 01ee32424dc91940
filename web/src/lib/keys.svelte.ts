// Every key of the page in one table: the list that `?` shows and the handlers come from it.

interface Key {
  id: string;
  keys: string[];
  shown: string;
  text: string;
  where: string;
}

const key = (where: string, id: string, keys: string, text: string, shown = keys): Key => ({ id, keys: keys.split(' '), shown, text, where });

export const KEYS: Key[] = [
  key('Everywhere', 'theme', 't', 'Dark or light', 'T'),
  key('Everywhere', 'unit', 'u', 'Amounts in bb, chips or % of the pot', 'U'),
  key('Everywhere', 'help', '?', 'This list'),
  key('Study', 'act', '1 2 3 4 5 6 7 8 9', 'Take action 1 to 9', '1–9'),
  key('Study', 'back', 'ArrowLeft Backspace', 'One step back', '←'),
  key('Study', 'forward', 'ArrowRight', 'One step forward', '→'),
  key('Study', 'root', 'Home', 'To the root', 'Home'),
  key('Study', 'up', 'ArrowUp', 'Action above, of the last step', '↑'),
  key('Study', 'down', 'ArrowDown', 'Action below, of the last step', '↓'),
  key('Study', 'grid', 'g', 'Into the grid; arrows move, Enter holds, Esc leaves', 'G'),
  key('Study', 'strategy', 's', 'Show the strategy', 'S'),
  key('Study', 'ev', 'e', 'Show expected values', 'E'),
  key('Study', 'equity', 'q', 'Show equity', 'Q'),
  key('Study', 'weight', 'w', 'Show weights', 'W'),
  key('Study', 'other', 'o', 'The other player', 'O'),
  key('Study', 'runouts', 'r', 'All cards of the next street', 'R'),
  key('Study', 'filter', '/', 'Filter hands'),
  key('Study', 'copy', 'c', 'Copy a link to here', 'C'),
  key('Study', 'lock', 'l', 'Lock this decision', 'L'),
  key('Train', 'answer', '1 2 3 4 5 6 7 8 9', 'Take action 1 to 9', '1–9'),
  key('Train', 'next', ' ', 'Next hand', 'Space'),
  key('Play', 'fold', 'f', 'Fold', 'F'),
  key('Play', 'call', 'c', 'Check or call', 'C'),
  key('Play', 'raise', 'r', 'Bet or raise the chosen size', 'R'),
  key('Play', 'larger', 'ArrowUp', 'Larger size', '↑'),
  key('Play', 'smaller', 'ArrowDown', 'Smaller size', '↓'),
  key('Play', 'all-in', 'a', 'All-in', 'A'),
  key('Play', 'choose', '1 2 3 4 5 6 7 8 9', 'Take choice 1 to 9', '1–9'),
  key('Play', 'deal', ' ', 'Next hand', 'Space'),
  key('Lab', 'axis', 'x', 'Iterations or seconds', 'X'),
];

type Handler = (event: KeyboardEvent) => void;
const handlers = new Map<string, Handler>();

/** Binds keys of the table by `where.id` for as long as a component lives; returns how to unbind them. */
export function bindKeys(where: string, bound: Record<string, Handler>): () => void {
  for (const [id, handler] of Object.entries(bound)) handlers.set(`${where}.${id}`, handler);
  return () => {
    for (const [id, handler] of Object.entries(bound)) {
      if (handlers.get(`${where}.${id}`) === handler) handlers.delete(`${where}.${id}`);
    }
  };
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select') || target.isContentEditable);
}

/** Runs the handler of a key, if one is bound; never with Ctrl, Alt or Meta, never while a field or dialog has the focus. */
export function pressKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || isTyping(event.target)) return;
  if (document.querySelector('dialog[open]')) return;
  const isOnButton = event.target instanceof HTMLElement && event.target.matches('button, a, summary, [role=gridcell]');
  if (isOnButton && (event.key === ' ' || event.key === 'Enter')) return;
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  for (const { id, keys, where } of KEYS) {
    const handler = keys.includes(pressed) && handlers.get(`${where}.${id}`);
    if (!handler) continue;
    event.preventDefault();
    handler(event);
    return;
  }
}
