// A start that fails leaves nothing running, and settings of a project are used only if the person trusts them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from '@everlong/simulator'
import { offline } from 'everlong'
import { expect, test } from 'vitest'
import type { PermissionRequest } from './app.ts'
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

test('the person is asked about the settings of a folder once, and later only about new ones', async () => {
  const { folder, home, options } = world()
  mkdirSync(join(folder, '.everlong'))
  const write = (env: object) => writeFileSync(join(folder, '.everlong', 'settings.json'), JSON.stringify({ env }))
  const asked: (string | undefined)[][] = []
  const start = async (type: 'allow' | 'deny') => {
    const askPermission = async ({ title, detail }: PermissionRequest) => {
      asked.push([title.replace(folder, '.'), detail?.text])
      return { type }
    }
    const started = await startAgent({ ...options, person: { ...options.person, askPermission } })
    if (started.type !== 'started') throw new Error(JSON.stringify(started))
    await started.agent.close()
    return [started.settings.env, started.notices]
  }
  const untrusted = (text: string) => [
    `Not used, because this folder is not trusted: ${text}. Start with --trust to use them.`,
  ]
  write({ A: '1' })
  expect(await start('deny')).toEqual([{}, untrusted('set the variable A=1')])
  expect(await start('allow')).toEqual([{ A: '1' }, []])
  expect(await start('deny')).toEqual([{ A: '1' }, []])
  write({ A: '1', B: '2' })
  expect(await start('deny')).toEqual([{ A: '1' }, untrusted('set the variable B=2')])
  expect(await start('allow')).toEqual([{ A: '1', B: '2' }, []])
  expect(await start('deny')).toEqual([{ A: '1', B: '2' }, []])
  const first = ['Trust the settings of .', 'set the variable A=1']
  const later = ['Trust the new settings of .', 'set the variable B=2']
  expect(asked).toEqual([first, first, later, later])
  expect(readFileSync(join(home, 'trusted.json'), 'utf8')).not.toContain('"A"')
})

test('settings that change while the person is asked are not trusted', async () => {
  const { folder, options } = world()
  mkdirSync(join(folder, '.everlong'))
  const write = (env: object) => writeFileSync(join(folder, '.everlong', 'settings.json'), JSON.stringify({ env }))
  write({ A: '1' })
  const askPermission = async () => {
    write({ A: '1', B: '2' })
    return { type: 'allow' } as const
  }
  const started = await startAgent({ ...options, person: { ...options.person, askPermission } })
  if (started.type !== 'started') throw new Error(JSON.stringify(started))
  await started.agent.close()
  expect([started.settings.env, started.notices]).toEqual([
    { A: '1' },
    [expect.stringContaining('set the variable B=2')],
  ])
})

test('a slash command of the project that runs commands is used once the person trusts it, and again after a change', async () => {
  const { folder, home, options } = world()
  for (const place of [join(folder, '.claude/commands'), join(home, 'commands')]) mkdirSync(place, { recursive: true })
  const path = join(folder, '.claude/commands/say.md')
  writeFileSync(path, 'Say !`echo one`')
  writeFileSync(join(folder, '.claude/commands/plain.md'), 'Plain')
  writeFileSync(join(home, 'commands/own.md'), 'Own !`echo own`')
  const asked: (string | undefined)[] = []
  const start = async (type: 'allow' | 'deny', change?: () => void) => {
    const askPermission = async ({ detail }: PermissionRequest) => {
      asked.push(detail?.text)
      return { type }
    }
    const started = await startAgent({ ...options, sandbox: 'off', person: { ...options.person, askPermission } })
    if (started.type !== 'started') throw new Error(started.type)
    change?.()
    const results = []
    for (const line of ['/plain', '/own', '/say']) {
      const result = await started.agent.command(line)
      results.push(result.type === 'submit' ? result.prompt.text.trim() : result.type === 'error' ? result.text : '')
    }
    await started.agent.close()
    return results
  }
  const refusal = `/say runs commands, and you have not trusted this folder with them: ${path}. Start the agent again to be asked, or with --trust.`
  expect(await start('deny')).toEqual(['Plain', 'Own own', refusal])
  expect(await start('allow')).toEqual(['Plain', 'Own own', 'Say one'])
  expect(await start('deny')).toEqual(['Plain', 'Own own', 'Say one'])
  expect(await start('deny', () => writeFileSync(path, 'Say !`echo two`'))).toEqual(['Plain', 'Own own', refusal])
  const line = (command: string) => `slash command /say: ${command}`
  expect(asked).toEqual([line('echo one'), line('echo one')])
  expect(await start('allow')).toEqual(['Plain', 'Own own', 'Say two'])
  expect(asked.slice(2)).toEqual([line('echo two')])
})
