// Places of solved spots, fetched once and kept: a step back is drawn without asking the server.

import { get, query } from './api';
import type { Node } from './node';

const KEPT = 60;
const found = new Map<string, Promise<Node>>();
const settled = new Map<string, Node>();
const keyOf = (id: string, line: readonly string[]): string => `${id}?${line.join(',')}`;

function fetchNode(id: string, line: readonly string[], values: boolean, signal?: AbortSignal): Promise<Node> {
  return get<Node>(`/solutions/${id}/node${query({ line: line.join(','), values })}`, signal);
}

/** A place that is here already, or null. */
export const keptNode = (id: string, line: readonly string[]): Node | null => settled.get(keyOf(id, line)) ?? null;

/** Fetches a place; of a large file its values may be missing (`fillNode` gets them). */
export function openNode(id: string, line: readonly string[]): Promise<Node> {
  const key = keyOf(id, line);
  const known = found.get(key);
  if (known) return known;
  const asked = fetchNode(id, line, false);
  found.set(key, asked);
  asked.then(
    (node) => settled.set(key, node),
    () => found.delete(key),
  );
  if (found.size > KEPT) {
    const oldest = found.keys().next().value!;
    found.delete(oldest);
    settled.delete(oldest);
  }
  return asked;
}

/** Fetches a place with its values, however long that takes, and keeps it; the server gives up where nobody waits any more. */
export async function fillNode(id: string, line: readonly string[], signal: AbortSignal): Promise<Node> {
  const node = await fetchNode(id, line, true, signal);
  const key = keyOf(id, line);
  found.set(key, Promise.resolve(node));
  settled.set(key, node);
  return node;
}

/** Forgets a solution whose file changed. */
export function forgetNodes(id: string): void {
  for (const key of [...found.keys()]) {
    if (!key.startsWith(id + '?')) continue;
    found.delete(key);
    settled.delete(key);
  }
}
