import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text, toolUse } from '@everlong/simulator'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { agentStages } from '../testing/agent-stage.ts'
import { defineTool } from '../tool.ts'

const stage = agentStages()

/** Two prompts; the second one changes a.txt and creates b.txt. */
async function changed() {
  let folder = ''
  const change = defineTool({
    name: 'Change',
    description: 'Changes files.',
    input: z.object({}),
    run: () => {
      for (const name of ['a.txt', 'b.txt']) writeFileSync(join(folder, name), 'new')
      return 'Done.'
    },
  })
  const set = await stage({
    script: ({ messages }) => {
      const last = JSON.stringify(messages.at(-1)?.content)
      return last.includes('Change it.') ? toolUse('Change', {}) : text('Here you are.')
    },
    tools: [change],
    prepare: (places) => {
      folder = places.folder
      writeFileSync(join(folder, 'a.txt'), 'old')
    },
    agent: { keepsFiles: true },
  })
  await set.agent.submit({ text: 'Hello.' })
  await set.agent.submit({ text: 'Change it.' })
  const offered = await set.agent.command('/rewind')
  if (offered.type !== 'choose') throw new Error('There is nothing to choose from.')
  const files = () => [readFileSync(join(folder, 'a.txt'), 'utf8'), existsSync(join(folder, 'b.txt'))]
  const knows = () => JSON.stringify(set.agent.session().messages()).includes('Change it.')
  return {
    agent: set.agent,
    line: offered.choices[0]?.command ?? '',
    first: offered.choices[1]?.command ?? '',
    files,
    knows,
  }
}

const [before, after] = [
  ['old', false],
  ['new', true],
]

test('/rewind asks what should go back, and names the files', async () => {
  const { agent, line, files, knows } = await changed()
  expect(await agent.command(line)).toEqual({
    type: 'choose',
    title: '2 files changed since then. What should go back?',
    choices: [
      { label: 'The conversation and the files', detail: 'a.txt, b.txt', command: `${line} both` },
      { label: 'Only the conversation', command: `${line} conversation` },
      { label: 'Only the files', command: `${line} files` },
    ],
  })
  expect([files(), knows()]).toEqual([after, true])
})

test.each([
  ['both', before, false, true],
  ['conversation', after, false, true],
  ['files', before, true, false],
])('/rewind ID %s takes back just that', async (what, wanted, isKnown, isBack) => {
  const { agent, line, files, knows } = await changed()
  const result = await agent.command(`${line} ${what}`)
  expect([files(), knows()]).toEqual([wanted, isKnown])
  expect(result).toMatchObject(isBack ? { type: 'edit', input: 'Change it.' } : { type: 'text' })
})

test('further back, and forward again with /undo', async () => {
  const { agent, first, files, knows } = await changed()
  expect(await agent.command(`${first} both`)).toMatchObject({ type: 'edit', input: 'Hello.' })
  expect([files(), knows()]).toEqual([before, false])
  await agent.command('/undo')
  expect([files(), knows()]).toEqual([after, true])
})

test.each([
  ['both', after, true],
  ['conversation', after, true],
  ['files', after, true],
])('/undo takes back /rewind ID %s, once', async (what, wanted, isKnown) => {
  const { agent, line, files, knows } = await changed()
  await agent.command(`${line} ${what}`)
  await agent.command('/undo')
  expect([files(), knows()]).toEqual([wanted, isKnown])
  expect(await agent.command('/undo')).toEqual({ type: 'text', text: 'There is nothing to undo.' })
  expect([files(), knows()]).toEqual([wanted, isKnown])
})

test('/undo takes back the newest first: the files, the conversation, and what was done between them', async () => {
  const { agent, line, first, files, knows } = await changed()
  await agent.command(`${line} files`)
  await agent.command(`${first} conversation`)
  expect([files(), knows()]).toEqual([before, false])
  expect(await agent.command('/undo')).toMatchObject({ text: expect.stringMatching(/^Undone: rewind\. .*now\.$/) })
  expect([files(), knows()]).toEqual([before, true])
  expect(await agent.command('/undo')).toEqual({
    type: 'text',
    text: 'Undone: rewind of the files.\n2 files:\n  changed back a.txt\n  restored b.txt',
  })
  expect([files(), knows()]).toEqual([after, true])
})

test('after the next message /undo leaves the files alone', async () => {
  const { agent, line, files } = await changed()
  await agent.command(`${line} files`)
  await agent.submit({ text: 'Go on.' })
  expect(await agent.command('/undo')).toEqual({ type: 'text', text: 'There is nothing to undo.' })
  expect(files()).toEqual(before)
})

test('/rewind ID files where no file has changed does nothing that /undo could take back', async () => {
  const { agent, line, files } = await changed()
  await agent.command(`${line} files`)
  expect(await agent.command(`${line} files`)).toEqual({ type: 'text', text: 'No file has changed since.' })
  await agent.command('/undo')
  expect(files()).toEqual(after)
})
