import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { session } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import { afterAll, expect, test } from 'vitest'
import { recallTool, repositoryTools } from './tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-demo-tools-'))
afterAll(() => rmSync(folder, { recursive: true }))

const nowhere = {} as never

test('recall says whether a call failed', async () => {
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, session().user('The heron nests in March.').text)
  const archive = openArchive(path, { folder: false })
  const { call } = recallTool(archive)
  expect(await call({ query: 'heron' }, nowhere)).toMatchObject({
    isError: false,
    content: expect.stringContaining('heron'),
  })
  expect(await call({ query: 5 }, nowhere)).toMatchObject({ isError: true })
  archive.close()
})

test('a tool of the repository returns what the repository returned, errors too', async () => {
  const run = async (name: string) => ({ content: name, isError: name === 'Read' })
  const definitions = ['Read', 'Bash'].map((name) => ({ name, input_schema: { type: 'object' as const } }))
  const tools = repositoryTools({ definitions, run } as never)
  const results = await Promise.all(
    tools.map(async ({ name, isParallel, call }) => [name, isParallel, await call({}, nowhere)]),
  )
  expect(results).toEqual([
    ['Read', true, { content: 'Read', isError: true }],
    ['Bash', false, { content: 'Bash', isError: false }],
  ])
})
