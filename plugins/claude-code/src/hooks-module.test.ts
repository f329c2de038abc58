// The hooks module as Claude Code runs it: what it starts, what it shows, and when it leaves the command to the hook.
import { expect, test } from 'vitest'
import { register } from './hooks-module.ts'

type Registered = Parameters<Parameters<typeof register>[0]>
type Engine = Parameters<Registered[2]>[0]

const [event, matcher, hook] = (() => {
  const all: Registered[] = []
  register((...given) => void all.push(given))
  return all[0] as Registered
})()

const hookEnv = { CLAUDE_PLUGIN_ROOT: '/plug in', CLAUDE_PLUGIN_DATA: '/data', CLAUDE_PROJECT_DIR: '/project' }

async function run(
  ran: { readonly exitCode: number; readonly stdout: string },
  process: Partial<Engine['process']> = {},
) {
  const started: unknown[] = []
  const engine: Engine = {
    session: { id: async () => 's1' },
    process: {
      hookEnv: async () => hookEnv,
      run: async (...given) => {
        started.push(given)
        return { stderr: '', ...ran }
      },
      ...process,
    },
  }
  const answer = await hook(engine, { command: 'everlong:lost' }, async ({ command }) => ({
    text: `left to ${command}`,
    isTextDisplayOnly: true,
  }))
  return { answer, started }
}

test('the commands that have an answer are asked of the program, with the notes of the session', async () => {
  expect([event, matcher]).toEqual([
    'command.run',
    { command: ['everlong:context', 'everlong:compact', 'everlong:undo', 'everlong:lost'] },
  ])
  expect(await run({ exitCode: 0, stdout: 'Nothing was lost.\n' })).toEqual({
    answer: { text: '\nNothing was lost.', isTextDisplayOnly: true },
    started: [
      [
        ['node', '/plug in/dist/everlong.js', 'lost', 's1', '/data'],
        { cwd: '/project', env: { CLAUDE_PLUGIN_DATA: '/data' } },
      ],
    ],
  })
})

test('the hook answers where the program fails, and where Claude Code cannot say where it is', async () => {
  const left = { text: 'left to everlong:lost', isTextDisplayOnly: true }
  expect((await run({ exitCode: 1, stdout: 'half' })).answer).toEqual(left)
  const missing = () => {
    throw new TypeError('$.process.hookEnv is not a function')
  }
  expect(await run({ exitCode: 0, stdout: 'x' }, { hookEnv: missing })).toEqual({ answer: left, started: [] })
  const refused = async () => Promise.reject(new Error('not allowed'))
  expect((await run({ exitCode: 0, stdout: 'x' }, { run: refused })).answer).toEqual(left)
})
