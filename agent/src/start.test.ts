// A start that fails leaves nothing running.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from '@everlong/simulator'
import { offline } from 'everlong'
import { expect, test } from 'vitest'
import { startAgent } from './start.ts'
import { agentStages } from './testing/agent-stage.ts'
import { setFolder } from './testing/folder.ts'

const temporary = setFolder()
const stage = agentStages()

function world(settings: object = {}) {
  const folder = temporary()
  const home = join(folder, 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'settings.json'), JSON.stringify(settings))
  let closed = 0
  const close = async () => void closed++
  const chosen = { type: 'model', words: 'offline', name: 'offline', client: offline(), close } as const
  const person = { askPermission: async () => ({ type: 'deny' }) as const, askQuestions: async () => undefined }
  return { folder, home, closed: () => closed, options: { folder, env: { EVERLONG_HOME: home }, person, chosen } }
}

test('the model is closed if the session cannot be created', async () => {
  const { home, options, closed } = world()
  // Sessions cannot be put below a file.
  writeFileSync(join(home, 'projects'), '')
  expect([(await startAgent(options)).type, closed()]).toEqual(['refused', 1])
})

test('tools, with their servers and processes, are closed if the session cannot be opened', async () => {
  let closed = 0
  const createTools = async () => ({ tools: [], close: async () => void closed++ })
  const session = { type: 'open', path: join(temporary(), 'none.jsonl') } as const
  await expect(stage({ script: () => text('x'), agent: { createTools, session } })).rejects.toThrow()
  expect(closed).toBe(1)
})

test('a wrong rule, a missing session or a wrong setting starts no model', async () => {
  const { options, closed } = world({ nonsense: 1 })
  const fine = world().options
  expect(await startAgent({ ...fine, deny: ['Read('] })).toMatchObject({ type: 'refused' })
  expect(await startAgent({ ...fine, session: { type: 'resume', id: 'none' } })).toMatchObject({ type: 'refused' })
  expect(await startAgent(options)).toMatchObject({ type: 'refused', why: [expect.stringContaining('nonsense')] })
  expect(closed()).toBe(0)
})
