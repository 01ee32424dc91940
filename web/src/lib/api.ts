// Calls of the server. Everything that the page knows comes through here.

export interface Fault {
  code: string;
  field: string | null;
  got?: unknown;
  message: string;
  hint?: string | null;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly fault: Fault,
  ) {
    super(fault.message);
  }
  get field(): string | null {
    return this.fault.field;
  }
  /** The message, and what would do. */
  get text(): string {
    return this.fault.hint ? `${this.fault.message}. ${this.fault.hint}` : this.fault.message;
  }
}

/** Thrown where the server does not answer at all. */
export class ServerGone extends Error {}

const TOKEN = 'equipoise.token';

/** Takes the token from `?token=` into this tab, and out of the address. */
export function takeToken(): void {
  const query = new URLSearchParams(location.search);
  const token = query.get('token');
  if (!token) return;
  sessionStorage.setItem(TOKEN, token);
  query.delete('token');
  const rest = query.toString();
  history.replaceState(null, '', location.pathname + (rest ? '?' + rest : ''));
}

export const token = (): string | null => sessionStorage.getItem(TOKEN);

type Listener = (isGone: boolean) => void;
let onGone: Listener = () => {};
export function whenGone(listener: Listener): void {
  onGone = listener;
}

async function faultOf(answer: Response): Promise<Fault> {
  const body = await answer.json().catch(() => null);
  if (body?.error?.message) return body.error as Fault;
  return { code: String(answer.status), field: null, message: `the server answered ${answer.status} ${answer.statusText}` };
}

export async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = {};
  if (body !== undefined && !(body instanceof Blob)) headers['Content-Type'] = 'application/json';
  const secret = token();
  if (secret) headers.Authorization = `Bearer ${secret}`;
  const sent = body === undefined ? undefined : body instanceof Blob ? body : JSON.stringify(body);
  let answer: Response;
  try {
    answer = await fetch('/api' + path, { method, headers, body: sent, signal });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    onGone(true);
    throw new ServerGone('the server does not answer');
  }
  onGone(false);
  if (!answer.ok) throw new ApiError(answer.status, await faultOf(answer));
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => call<T>('GET', path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> => call<T>('POST', path, body, signal);

/** What went wrong, in a line for the reader. */
export const reason = (error: unknown): string => (error instanceof ApiError ? error.text : error instanceof Error ? error.message : String(error));

/** A query string of what is given; null and undefined are left out, lists are joined by commas. */
export function query(values: Record<string, string | number | boolean | readonly string[] | null | undefined>): string {
  const found = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined) continue;
    found.set(key, Array.isArray(value) ? value.join(',') : String(value));
  }
  const text = found.toString();
  return text ? '?' + text : '';
}
