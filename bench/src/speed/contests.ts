// The contests, by name. Each is loaded only where it is held: what one brings along is no burden to another.
import type { Contest } from './contest.ts'

export const contests: Readonly<Record<string, () => Promise<Contest>>> = {
  counting: async () => (await import('./counting.ts')).countingAll,
  'counting by length': async () => (await import('./counting.ts')).countingLengths,
  'before a request': async () => (await import('./counting.ts')).beforeRequest,
  clearing: async () => (await import('./clearing.ts')).clearing,
  fitting: async () => (await import('./clearing.ts')).fitting,
  folding: async () => (await import('./clearing.ts')).folding,
  compaction: async () => (await import('./compacting.ts')).compacting,
  "opening pi's file": async () => (await import('./opening.ts')).openingPi,
  'opening a Claude Code file': async () => (await import('./opening.ts')).openingOwn,
  searching: async () => (await import('./opening.ts')).searching,
}

export async function contestOf(name: string): Promise<Contest> {
  const load = Object.hasOwn(contests, name) ? contests[name] : undefined
  if (!load) throw new Error(`There is no contest "${name}". Contests: ${Object.keys(contests).join(', ')}.`)
  return load()
}
