import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from '@everlong/simulator'
import { expect, test } from 'vitest'
import type { PermissionAnswer, PermissionRequest } from '../app.ts'
import { findOwnCommands } from '../own/own-commands.ts'
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
