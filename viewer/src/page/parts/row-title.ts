// What a session is called: by its first message, by its file, or without content by its id.
import type { SessionRow } from '../../data/api.ts'
import { oneLine } from '../format.ts'

export function rowTitle({ id, path, facts }: SessionRow): string {
  return oneLine(facts?.title ?? '') || oneLine(path.split('/').at(-1) ?? '') || `Session ${id.slice(0, 6)}`
}
