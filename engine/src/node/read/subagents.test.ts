import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { findSubagents } from './subagents.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

test("sub-agents are found beside a session and in its folder; a sub-agent's siblings are not its own", () => {
  const folder = folders.next()
  const ours = session({ sessionId: 'one' }).user('hi').text
  const place = join(folder, 'one', 'subagents')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(folder, 'one.jsonl'), ours)
  writeFileSync(join(folder, 'agent-a.jsonl'), ours)
  writeFileSync(join(folder, 'agent-b.jsonl'), ours)
  writeFileSync(join(folder, 'agent-other.jsonl'), session({ sessionId: 'two' }).user('hi').text)
  writeFileSync(join(place, 'agent-acompact-c.jsonl'), ours)
  const found = (path: string) => findSubagents(path).agents.map(({ id, place: at, kind }) => [id, at, kind])
  expect(found(join(folder, 'one.jsonl'))).toEqual([
    ['a', 'beside', 'agent'],
    ['b', 'beside', 'agent'],
    ['acompact-c', 'folder', 'compaction'],
  ])
  expect(found(join(folder, 'agent-a.jsonl'))).toEqual([])
})
