// The address is the state: the path and query of the page, and the only ways to change them.

interface Place {
  path: string;
  query: URLSearchParams;
}

/** A part of a path as people read it; one that nobody can read, as of a link cut short, stays as it is. */
export function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const read = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });

let here = $state.raw<Place>(read());

export const place = {
  get path(): string {
    return here.path;
  },
  get query(): URLSearchParams {
    return here.query;
  },
  get segments(): string[] {
    return here.path.split('/').filter(Boolean);
  },
};

/** Goes to another place; `replace` leaves no step behind in the history. */
export function go(address: string, { replace = false } = {}): void {
  if (address !== location.pathname + location.search) {
    if (replace) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
  }
  here = read();
}

/** Sets or (with null) removes parts of the query, without a step in the history. */
export function setQuery(changes: Record<string, string | null>): void {
  const query = new URLSearchParams(here.query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) query.delete(key);
    else query.set(key, value);
  }
  const text = query.toString();
  go(here.path + (text ? '?' + text : ''), { replace: true });
}

addEventListener('popstate', () => (here = read()));

/** Follows links inside the page without loading it again. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element).closest?.('a');
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute('download') || link.pathname.startsWith('/api')) return;
  event.preventDefault();
  go(link.pathname + link.search);
}
