// How long people and tools take between two requests: the shape of the gaps in real sessions, as quantiles. Only the
// quantiles were taken from those sessions; nothing else of them is here.
import type { Random } from '../random.ts'
import { type Quantile, quantile } from './quantile.ts'

/** Between an answer and the person's next message: 137 gaps; one in five outlives five minutes, one in twenty an hour. */
const human: readonly Quantile[] = [
  [0, 3],
  [0.05, 9.3],
  [0.25, 38.3],
  [0.5, 103],
  [0.75, 213],
  [0.9, 551],
  [0.95, 4_330],
  [0.99, 31_800],
  [1, 60_000],
]

/** Between an answer that calls tools and their results: 1,478 gaps. */
const tools: readonly Quantile[] = [
  [0, 0.02],
  [0.25, 0.1],
  [0.5, 0.4],
  [0.75, 2.4],
  [0.9, 7.6],
  [0.95, 27],
  [0.99, 210],
  [1, 4_000],
]

/** Approximate time of a model for an answer. */
export const answering = 6_000

/** The pause of a person in milliseconds, at this share of all gaps. */
export function humanGap(share: number): number {
  return Math.round(1_000 * quantile(human, share))
}

/** Milliseconds. */
export function gapBefore(next: 'human' | 'tools', random: Random): number {
  return Math.round(1_000 * quantile(next === 'human' ? human : tools, random.next()))
}
