import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { findSession, forkSession, listSessions, renameSession, titleOf } from './sessions.ts'

const temporary = setFolder()

/** A session with these prompts, last changed at this second. */
function write(folder: string, id: string, prompts: readonly string[], second = 1): string {
  const path = join(folder, `${id}.jsonl`)
  const records = prompts.map((content, at) => ({
    ...{ type: 'user', uuid: `${id}-${at}`, parentUuid: at === 0 ? null : `${id}-${at - 1}`, sessionId: id },
    message: { role: 'user', content },
  }))
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  utimesSync(path, second, second)
  return path
}

test('sessions are listed newest first, by their first words, without those in which nobody said anything', () => {
  const folder = temporary()
  write(folder, 'a', ['Mend\n  the parser.', 'Now the tests.'], 1)
  write(folder, 'b', ['Write the docs.'], 3)
  write(folder, 'c', [], 4)
  write(folder, 'd', ['  '], 5)
  expect(listSessions(folder).map(({ id, firstPrompt }) => [id, firstPrompt])).toEqual([
    ['b', 'Write the docs.'],
    ['a', 'Mend the parser.'],
  ])
})

test('a session that was named is listed even if no prompt is found at its beginning', () => {
  const folder = temporary()
  renameSession(write(folder, 'a', []), 'Parser work')
  renameSession(write(folder, 'b', ['x'.repeat(300_000)]), 'A long paste')
  expect(listSessions(folder).map(({ title, firstPrompt }) => [title, firstPrompt])).toEqual([
    ['Parser work', ''],
    ['A long paste', ''],
  ])
  expect(findSession(folder, 'Parser work')).toMatchObject({ id: 'a' })
})

test('an id is found by its beginning if only one session fits, and an exact id wins', () => {
  const folder = temporary()
  for (const id of ['ab', 'abc', 'b1']) write(folder, id, ['Hello.'])
  expect([findSession(folder, 'b'), findSession(folder, 'ab')]).toMatchObject([{ id: 'b1' }, { id: 'ab' }])
  expect(findSession(folder, 'a')).toEqual(
    expect.stringMatching(/^a fits 2 sessions\. Give the id of one: \S+, \S+\.$/),
  )
  expect(findSession(folder, 'x')).toContain('There is no session x in this project.')
})

test('a copy has an id of its own in every record, and a title that says so', () => {
  const folder = temporary()
  const path = write(folder, 'a', ['One.', 'Two.'])
  renameSession(path, 'Parser work')
  const copy = forkSession(path, folder)
  const summary = listSessions(folder).find((session) => session.path === copy)
  expect(summary).toMatchObject({ title: 'Parser work (copy)', firstPrompt: 'One.' })
  expect(titleOf(path)).toBe('Parser work')
  const idsIn = (file: string) => [...readFileSync(file, 'utf8').matchAll(/"sessionId":"([^"]+)"/g)].map(([, id]) => id)
  expect([idsIn(path), idsIn(copy)]).toEqual([
    ['a', 'a'],
    [summary?.id, summary?.id],
  ])
})
