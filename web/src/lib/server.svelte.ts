// What the server is doing: its status, jobs as they change, and whether it answers at all.

import { get, post, whenGone } from './api';

export interface Point {
  iteration: number;
  seconds: number;
  exploitability: number | null;
  percent_of_pot: number | null;
  game_value?: number | null;
}

export interface Progress extends Point {
  iterations_per_second?: number | null;
  seconds_left?: number | null;
}

export interface Job {
  id: string;
  kind: string;
  title: string;
  state: string;
  place_in_queue: number;
  bytes: number | null;
  progress: Progress | null;
  target: number | null;
  percent_target: number | null;
  points?: Point[];
  solution: string | null;
  error: string | null;
  stopped_by: string | null;
  can_resume: boolean;
  created: string;
  changed: string;
  spot?: Record<string, unknown> | null;
  said?: string[];
}

export interface Status {
  version: string;
  commit: string | null;
  cores: number;
  bytes_free: number;
  first: string | null;
  token: boolean;
  events: number;
}

export const ACTIVE = ['waiting', 'building', 'running', 'pausing', 'stopping'];
const RETRY_SECONDS = 4;

class Server {
  status = $state.raw<Status | null>(null);
  jobs = $state.raw<Job[]>([]);
  isGone = $state(false);
  library = $state(0);
  tables = $state.raw<Record<string, number>>({});
  flops = $state(0);

  get active(): Job[] {
    return this.jobs.filter((job) => ACTIVE.includes(job.state));
  }

  job(id: string): Job | undefined {
    return this.jobs.find((job) => job.id === id);
  }

  /** Puts a job that the server answered into the list. */
  keep(job: Job): void {
    const others = this.jobs.filter((known) => known.id !== job.id);
    this.jobs = [job, ...others].sort((a, b) => (a.created < b.created ? 1 : -1));
  }

  async command(id: string, name: 'pause' | 'resume' | 'stop' | 'cancel'): Promise<void> {
    this.keep({ ...this.job(id), ...(await post<Job>(`/jobs/${id}/${name}`)) });
  }
}

export const server = new Server();

interface Event {
  seq: number;
  type: string;
  job?: string;
  table?: string;
  version?: number;
  [key: string]: unknown;
}

let last = 0;
let socket: WebSocket | null = null;
let again: ReturnType<typeof setTimeout> | undefined;

async function fetchAll(): Promise<void> {
  const status = await get<Status>('/status');
  const { jobs } = await get<{ jobs: Job[] }>('/jobs');
  server.status = status;
  server.jobs = jobs;
  last = status.events;
}

const targetsAsked = new Set<string>();

/** A job knows its target in chips only once its tree is built. */
async function fetchTarget(id: string): Promise<void> {
  targetsAsked.add(id);
  const { target, percent_target, spot } = await get<Job>(`/jobs/${id}`);
  const job = server.job(id);
  if (job) server.keep({ ...job, target, percent_target, spot: job.spot ?? spot });
}

function take(event: Event): void {
  if (event.seq > last) last = event.seq;
  if (event.type === 'reset') void fetchAll();
  if (event.type === 'library') server.library += 1;
  if (event.type === 'table') server.tables = { ...server.tables, [event.table!]: event.version ?? 0 };
  if (event.type === 'flop') server.flops += 1;
  if (event.type === 'removed') server.jobs = server.jobs.filter((job) => job.id !== event.job);
  if (!event.job || event.type === 'removed') return;
  const job = server.job(event.job);
  if (!job) {
    void get<Job>(`/jobs/${event.job}`).then((found) => server.keep(found), () => {});
    return;
  }
  if (event.type === 'progress') {
    if (job.target === null && !targetsAsked.has(job.id)) void fetchTarget(job.id);
    const progress = event as unknown as Progress;
    const state = ACTIVE.includes(job.state) && job.state !== 'pausing' && job.state !== 'stopping' ? 'running' : job.state;
    server.keep({ ...job, state, progress, points: [...(job.points ?? []), progress] });
  } else if (event.type === 'state') {
    server.keep({ ...job, ...(event as unknown as Partial<Job>), id: job.id });
    if (!ACTIVE.includes(String(event.state))) server.library += 1;
  } else if (event.type === 'said') server.keep({ ...job, said: [...(job.said ?? []), String(event.text)] });
}

function listen(): void {
  socket?.close();
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  socket = new WebSocket(`${scheme}://${location.host}/api/events?after=${last}`);
  socket.onmessage = (message) => take(JSON.parse(String(message.data)) as Event);
  socket.onclose = () => {
    socket = null;
    retry();
  };
}

function retry(): void {
  clearTimeout(again);
  again = setTimeout(() => void start(), 1000 * RETRY_SECONDS);
}

/** Fetches status and jobs, then follows the events; tries again for as long as nothing answers. */
export async function start(): Promise<void> {
  whenGone((isGone) => {
    server.isGone = isGone;
    if (isGone) retry();
  });
  try {
    await fetchAll();
    if (!socket) listen();
  } catch {
    retry();
  }
}

/** A job with its points and spot; keeps it in the list. */
export async function fetchJob(id: string): Promise<Job> {
  const job = await get<Job>(`/jobs/${id}`);
  server.keep(job);
  return job;
}
