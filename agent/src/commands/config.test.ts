import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from '@everlong/simulator'
import { expect, test } from 'vitest'
import type { CommandResult } from '../app.ts'
import { settingsFiles } from '../settings/load.ts'
import { trustFolder } from '../settings/trust.ts'
import { agentStages } from '../testing/agent-stage.ts'

const stage = agentStages()

async function inFolder(files: { readonly user?: object; readonly project?: object; readonly own?: object } = {}) {
  const { agent, folder, home } = await stage({
    script: () => text('Done.'),
    prepare: (places) => {
      for (const [name, content] of Object.entries(files)) {
        const file = settingsFiles(places)[name as keyof typeof files]
        mkdirSync(join(file, '..'), { recursive: true })
        writeFileSync(file, JSON.stringify(content))
      }
    },
  })
  const all = settingsFiles({ home, folder })
  const said = async (line: string) => shown(await agent.command(line))
  const stored = (file: 'user' | 'own') => JSON.parse(readFileSync(all[file], 'utf8'))
  return { agent, folder, home, files: all, said, stored }
}

function shown(result: CommandResult): string {
  if (result.type !== 'choose') return 'text' in result ? `${result.type}: ${result.text}` : result.type
  return [result.title, ...result.choices.map(({ label, detail = '' }) => `${label} | ${detail}`)].join('\n')
}

test('every setting is listed with its value and where it comes from', async () => {
  const { said, files } = await inFolder({
    user: { bell: false, retry: { minutes: 3 }, env: { TOKEN: 'secret' }, engine: { keep: { tokens: 5_000 } } },
    own: { retry: { minutes: 4 }, permissions: { allow: ['Read', 'Glob'] } },
  })
  const list = await said('/config')
  expect(list.split('\n')).toEqual([
    'Settings. Enter changes one.',
    expect.stringMatching(/^model: .*claude-opus-4-5 \| session$/),
    'thinking: by the model | default',
    'permissions.mode: ask | default',
    'sandbox: on | default',
    'checkpoints: true | default',
    `retry.minutes: 4 | project: ${files.own}`,
    `bell: false | user: ${files.user}`,
    'statusLine.command: none | default',
    'engine.economy: default | default',
    `engine.keep.tokens: 5000 | user: ${files.user}`,
    'permissions.allow: 2 entries | in the files',
    'permissions.deny: 0 entries | in the files',
    'env: 1 entry | in the files',
    'hooks: 0 entries | in the files',
    'mcpServers: 0 entries | in the files',
  ])
  expect(await said('/config env')).not.toContain('secret')
})

test('what a project may not set is not shown as in use until the folder is trusted', async () => {
  const { said, files, home, folder } = await inFolder({ user: { thinking: 'off' }, project: { thinking: 'adaptive' } })
  expect(await said('/config thinking')).toContain(`thinking is off (user: ${files.user}).`)
  trustFolder({ home, folder }, [])
  expect(await said('/config thinking')).toContain(`thinking is adaptive (project: ${files.project}).`)
})

test('a value is kept for the project or for all, next to what the file holds', async () => {
  const { said, stored, files } = await inFolder({ user: { model: 'demo', permissions: { allow: ['Read'] } } })
  expect(await said('/config permissions.mode')).toBe(
    'permissions.mode is ask (default).\nask | in use\naccept-edits | \nplan | \nallow | ',
  )
  expect(await said('/config permissions.mode plan')).toBe(
    `Where should permissions.mode be plan?\nIn this session | \nIn this project | ${files.own}\nIn all projects | ${files.user}`,
  )
  expect(await said('/config permissions.mode plan user')).toBe(
    `text: permissions.mode is plan from now on (${files.user}).`,
  )
  expect(stored('user')).toEqual({ model: 'demo', permissions: { allow: ['Read'], mode: 'plan' } })
  expect(await said('/config retry.minutes 0.5 project')).toBe(
    `text: retry.minutes is 0.5 from the next start on (${files.own}).`,
  )
  expect(await said('/config bell false project')).toContain('bell is false')
  expect(stored('own')).toEqual({ retry: { minutes: 0.5 }, bell: false })
  expect(await said('/config statusLine.command echo a b user')).toContain('statusLine.command is echo a b from')
  expect(stored('user').statusLine).toEqual({ command: 'echo a b' })
})

test('the mode changes at once, also for this session alone', async () => {
  const { agent, said, files } = await inFolder()
  expect(await said('/config permissions.mode accept-edits session')).toContain('in this session')
  expect(agent.state().mode).toBe('accept-edits')
  expect(await said('/config')).toContain('permissions.mode: accept-edits | session')
  await said('/config permissions.mode plan project')
  expect(agent.state().mode).toBe('plan')
  expect(await said('/config')).toContain(`permissions.mode: plan | project: ${files.own}`)
  expect(await said('/config bell false session')).toBe(
    'error: bell cannot change for one session. For the model, use /model.',
  )
})

test('a value that another file replaces is kept, and the person is told which counts', async () => {
  const { said, stored, files } = await inFolder({ own: { sandbox: 'ask' } })
  expect(await said('/config sandbox off user')).toBe(
    `text: ${files.user} says sandbox: off, but it is ask (project: ${files.own}).`,
  )
  expect(stored('user')).toEqual({ sandbox: 'off' })
})

test.each([
  ['sandbox maybe user', /^error: sandbox: invalid option: expected one of "on"\|"ask"\|"required"\|"off"$/],
  ['sandbox maybe', /^error: sandbox: invalid option/],
  ['thinking 0', /^error: thinking: /],
  ['retry.minutes 1441 user', /^error: retry\.minutes: .*1440/],
  ['engine.target 2 user', /^error: engine\.target: 2 is not a share between 0 and 1$/],
  ['engine.keeep 2 user', /^error: engine\.keeep: unknown setting; did you mean keep\?$/],
  ['colour', /^error: colour: unknown setting; known here: model, thinking/],
  ['colour red user', /^error: colour: unknown setting; known here: model, thinking/],
  ['__proto__ red user', /^error: /],
  ['constructor.x red user', /^error: constructor: unknown setting/],
  ['permissions.allow Bash user', /^error: permissions\.allow is changed in the settings files/],
  ['hooks.Stop x user', /^error: hooks\.Stop is changed in the settings files/],
  ['mcpServers.a.command x user', /^error: mcpServers\.a\.command is changed/],
])('/config %s is refused, with what is allowed, and writes nothing', async (words, why) => {
  const { said, stored } = await inFolder({ user: { bell: true } })
  expect(await said(`/config ${words}`)).toMatch(why)
  expect(stored('user')).toEqual({ bell: true })
})

test('a file that cannot be changed stays as it is, and the person is told', async () => {
  const { said, files } = await inFolder({ user: {} })
  writeFileSync(files.user, '{ broken')
  expect(await said('/config bell false user')).toMatch(/^error: \/config failed: /)
  expect(readFileSync(files.user, 'utf8')).toBe('{ broken')
})
