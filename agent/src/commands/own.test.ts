import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from '@everlong/simulator'
import { expect, test } from 'vitest'
import type { Agent, PermissionAnswer, PermissionRequest } from '../app.ts'
import { commandText } from '../command-message.ts'
import { findOwnCommands } from '../own/own-commands.ts'
import { sessionsFolder } from '../sessions/places.ts'
import { listSessions } from '../sessions/sessions.ts'
import { pastOf } from '../terminal/host/past.ts'
import { agentStages } from '../testing/agent-stage.ts'
import { createTools } from '../tools/create-tools.ts'

const stage = agentStages()

async function setStage(files: Readonly<Record<string, string>>, answer: PermissionAnswer = { type: 'allow' }) {
  let folder = ''
  const asked: PermissionRequest[] = []
  const set = await stage({
    script: () => text('Fine.'),
    prepare: (places) => {
      folder = places.folder
      for (const [path, words] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), words)
      }
    },
    person: {
      askPermission: async (request) => {
        asked.push(request)
        return answer
      },
    },
    agent: {
      ownCommands: () => findOwnCommands([join(folder, 'commands')]).found,
      createTools: ({ person, mode, setMode }) =>
        createTools({
          ...{ workspace: folder, person, environment: { PATH: process.env.PATH } },
          mode: { get: mode, set: setMode },
          permissions: { deny: ['Bash(rm:*)'] },
        }),
    },
  })
  return { ...set, asked }
}

test('the output of a command takes its place, and the person sees it run', async () => {
  const { agent, asked, events } = await setStage({
    'commands/say.md': 'One: !`printf %s $1`, two: !`printf b; touch made` @a.txt $2',
    'a.txt': 'a',
  })
  expect(await agent.command('/say "x; y" @b.txt')).toEqual({
    type: 'submit',
    prompt: {
      text: 'One: x; y, two: b @a.txt @b.txt',
      command: '/say "x; y" @b.txt',
      mentions: 'One: \n, two: \n @a.txt $2\n"x; y" @b.txt',
    },
  })
  expect(asked.map(({ title }) => title)).toEqual(['Run printf b; touch made'])
  expect(events.flatMap((event) => (event.type === 'tool-started' ? [event.input] : []))).toEqual([
    { command: "printf %s 'x; y'" },
    { command: 'printf b; touch made' },
  ])
})

test('what a command printed is no command, no argument and no file', async () => {
  const { agent } = await setStage({ 'commands/say.md': '!`cat out` $1', out: '!`touch made` $1 @out' })
  expect(await agent.command('/say x')).toMatchObject({
    type: 'submit',
    prompt: { text: '!`touch made` $1 @out x', mentions: ' $1\nx' },
  })
})

/** Submits the command, as a host does. */
async function use(agent: Agent, line: string): Promise<void> {
  const result = await agent.command(line)
  if (result.type !== 'submit') throw new Error(`${line} was not sent.`)
  await agent.submit(result.prompt)
}

test('everywhere it is named as it was typed, and the model gets its text', async () => {
  const { agent, requests, folder } = await setStage({
    'commands/say.md': 'Never shout. $1',
    'commands/end.md': 'End.',
  })
  await agent.submit({ text: 'Hello.' })
  await use(agent, '/say "a b" </command-args>')
  await use(agent, '/end')
  expect(JSON.stringify(requests.at(-1)?.messages)).toContain('Never shout. a b')
  const offered = await agent.command('/rewind')
  if (offered.type !== 'choose') throw new Error('There is nothing to choose from.')
  expect(offered.choices.map(({ label }) => label)).toEqual(['/end', '/say "a b" </command-args>', 'Hello.'])
  const prompts = (from: Agent) =>
    pastOf(from, folder).flatMap((event) => (event.type === 'prompt' ? [event.prompt.text] : []))
  expect(prompts(agent)).toEqual(['Hello.', '/say "a b" </command-args>', '/end'])
  expect(await agent.command(offered.choices[1]?.command ?? '')).toMatchObject({
    type: 'edit',
    input: '/say "a b" </command-args>',
  })
  expect(prompts(agent)).toEqual(['Hello.'])
})

test('two commands in a row, without an answer between them, are two prompts', () => {
  const content = ['/say x', '/end'].flatMap((line) => [
    { type: 'text', text: commandText(line) },
    { type: 'text', text: `The text of ${line}` },
  ])
  const messages = [{ role: 'user', origin: 'human', content }]
  const agent = { session: () => ({ messages: () => messages }) } as unknown as Agent
  expect(pastOf(agent, '/work')).toEqual([{ type: 'prompt', prompt: { text: '/say x\n/end' }, isQueued: false }])
})

test('a session that begins with one has its name', async () => {
  const { agent, folder, home } = await setStage({ 'commands/say.md': 'Never shout. $1' })
  await use(agent, '/say a b')
  expect(listSessions(sessionsFolder(home, folder)).map(({ firstPrompt }) => firstPrompt)).toEqual(['/say a b'])
})

test('after a compaction the model has what was typed, and the text of the command', async () => {
  const { agent, requests } = await setStage({ 'commands/say.md': `Never shout. ${'word '.repeat(50)}` })
  await use(agent, '/say a b')
  for (const words of ['One.', 'Two.', 'Three.']) await agent.submit({ text: `${words} ${'filler '.repeat(2_000)}` })
  expect(await agent.command('/compact')).toMatchObject({ type: 'text' })
  await agent.submit({ text: 'Go on.' })
  const last = JSON.stringify(requests.at(-1)?.messages)
  expect([last.includes('/say a b'), last.includes('Never shout.')]).toEqual([true, true])
})

test.each([
  ['fails', 'echo oops; exit 3', { type: 'allow' }, /oops[\s\S]*3/],
  ['is refused by the person', 'touch x', { type: 'deny' }, /Permission was denied by the user: Run touch x/],
  ['is denied by a rule', 'rm x', { type: 'allow' }, /the rule Bash\(rm:\*\) in the settings forbids it/],
] as const)('a command that %s stops it, and nothing is sent', async (_, command, answer, why) => {
  const { agent, requests } = await setStage({ 'commands/say.md': `A !\`${command}\` !\`touch later\`` }, answer)
  const result = await agent.command('/say')
  expect(result).toEqual({ type: 'error', text: expect.stringMatching(why) })
  expect(result).toMatchObject({
    text: expect.stringContaining(`/say was not sent, because a command in it failed.\n$ ${command}\n`),
  })
  expect(requests).toEqual([])
})
