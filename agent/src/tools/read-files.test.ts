// What a continued session knows of the files that it has read.
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import type { Agent } from '../app.ts'
import { agentStages } from '../testing/agent-stage.ts'
import { createTools } from './create-tools.ts'

const stage = agentStages()

/** Runs the call that a prompt such as `Read {"file_path":"a.txt"}` asks for. */
async function setStage() {
  let folder = ''
  const set = await stage({
    script: ({ messages }) => {
      const last = textOf(messages.at(-1)?.content ?? '')
      const [, name = '', input = ''] = /^(Read|Edit|Write) (\{.*\})$/m.exec(last) ?? []
      return name === '' ? text('Done.') : toolUse(name, JSON.parse(input))
    },
    prepare: (places) => {
      folder = places.folder
      for (const name of ['a.txt', 'b.txt']) writeFileSync(join(folder, name), 'one\n')
    },
    agent: {
      createTools: ({ person, mode, setMode }) =>
        createTools({
          ...{ workspace: folder, person, environment: { PATH: process.env.PATH } },
          mode: { get: mode, set: setMode },
        }),
    },
  })
  const continued = async () => {
    const { path = '' } = set.agent.session()
    await set.agent.close()
    return (await set.again({ session: { type: 'open', path } })).agent
  }
  return { ...set, folder, continued, read: (name: string) => readFileSync(join(folder, name), 'utf8') }
}

/** Submits the call and returns its result. */
async function call(agent: Agent, name: string, input: object): Promise<string> {
  await agent.submit({ text: `${name} ${JSON.stringify(input)}` })
  const results = agent
    .session()
    .messages()
    .flatMap(({ content }) => blocksOf(content).filter(isToolResult))
  return textOf(results.at(-1)?.content ?? '')
}

const edit = (agent: Agent, name: string, from: string, to: string) =>
  call(agent, 'Edit', { file_path: name, old_string: from, new_string: to })

test('a continued session edits the files that it has read, written or got attached, without reading them again', async () => {
  const { agent, continued, folder, read } = await setStage()
  await call(agent, 'Read', { file_path: 'a.txt' })
  await agent.submit({ text: 'Look at @b.txt' })
  await call(agent, 'Write', { file_path: 'c.txt', content: 'one\n' })
  const after = await continued()
  // A checkout, for example, gives files new times.
  utimesSync(join(folder, 'a.txt'), 1, 1)
  for (const name of ['a.txt', 'b.txt', 'c.txt']) {
    expect(await edit(after, name, 'one', 'two')).toMatch(/^Changed/)
    expect(read(name)).toBe('two\n')
  }
})

test('what it changed itself counts, and a change by somebody else does not', async () => {
  const { agent, continued, folder, read } = await setStage()
  await call(agent, 'Read', { file_path: 'a.txt' })
  await edit(agent, 'a.txt', 'one', 'two')
  await call(agent, 'Read', { file_path: 'b.txt' })
  const after = await continued()
  expect(await edit(after, 'a.txt', 'two', 'three')).toMatch(/^Changed/)
  writeFileSync(join(folder, 'b.txt'), 'ONE\n')
  expect(await edit(after, 'b.txt', 'ONE', 'two')).toContain('b.txt has changed since it was read')
  expect(read('b.txt')).toBe('ONE\n')
  await call(after, 'Read', { file_path: 'b.txt' })
  expect(await edit(after, 'b.txt', 'ONE', 'two')).toMatch(/^Changed/)
})

test('a file that nobody read must be read', async () => {
  const { agent, continued } = await setStage()
  await agent.submit({ text: 'Hello.' })
  expect(await edit(await continued(), 'a.txt', 'one', 'two')).toContain('has not been read in this conversation')
})
