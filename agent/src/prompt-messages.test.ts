import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text, toolUse } from '@everlong/simulator'
import { blocksOf, messagesOf, textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import type { PermissionRequest } from './app.ts'
import { runHeadless } from './headless/headless.ts'
import { filesNamed } from './prompt-messages.ts'
import { type AgentStage, type AgentStageOptions, agentStages } from './testing/agent-stage.ts'
import { setFolder } from './testing/folder.ts'
import { createTools } from './tools/create-tools.ts'

const temporary = setFolder()
const stage = agentStages()

function fill(folder: string): void {
  mkdirSync(join(folder, 'src/deep'), { recursive: true })
  writeFileSync(join(folder, 'a.txt'), 'alpha\n')
  writeFileSync(join(folder, 'my notes.md'), 'notes\n')
  writeFileSync(join(folder, 'src/deep/b.ts'), 'beta\n')
  writeFileSync(join(folder, '.env'), 'KEY=topsecret\n')
  writeFileSync(join(folder, 'big.log'), 'x\n'.repeat(200_000))
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  writeFileSync(join(folder, 'dot.png'), Buffer.from(pixel, 'base64'))
}

test.each([
  ['Look at @a.txt', ['a.txt']],
  ['@a.txt', ['a.txt']],
  ['(see @a.txt), or @src/deep/b.ts.', ['a.txt', 'src/deep/b.ts']],
  ['@"my notes.md" and @src and @src/', ['my notes.md', 'src', 'src/']],
  ['@./a.txt and @a.txt and @a.txt again', ['./a.txt', 'a.txt']],
  ['mail me@a.txt, a@a.txt, @Injectable() @missing.txt @ @" @"', []],
  [`@${'x'.repeat(10_000)} @a\0b`, []],
])('%j names %j', (words, names) => {
  const folder = temporary()
  fill(folder)
  expect(filesNamed(words, folder).map(({ name }) => name)).toEqual(names)
})

async function setStage(options: Partial<AgentStageOptions> & { readonly deny?: readonly string[] } = {}) {
  let folder = ''
  const asked: PermissionRequest[] = []
  const set = await stage({
    script: () => text('Fine.'),
    prepare: (places) => {
      folder = places.folder
      fill(folder)
    },
    person: {
      askPermission: async (request) => {
        asked.push(request)
        return { type: 'deny' }
      },
    },
    agent: {
      createTools: ({ person, mode, setMode }) =>
        createTools({
          ...{ workspace: folder, person, environment: { PATH: process.env.PATH } },
          mode: { get: mode, set: setMode },
          permissions: { deny: options.deny ?? [] },
        }),
    },
    ...options,
  })
  return { ...set, asked }
}

/** The attachments, and the person's words. */
async function told({ agent }: AgentStage): Promise<readonly string[]> {
  return messagesOf([...(await agent.session().entries())])
    .map(({ content }) => textOf(content))
    .filter((each) => /attached|which the user named|@/.test(each))
}

test('a file that a prompt names is attached, and a folder as its files', async () => {
  const set = await setStage()
  await set.agent.submit({ text: 'Compare @a.txt with @src' })
  expect(await told(set)).toEqual([
    'The file a.txt, which the user named:\n\n1\talpha',
    'The files in the folder src, which the user named:\n\nsrc/deep/b.ts',
    'Compare @a.txt with @src',
  ])
  expect(set.asked).toEqual([])
})

test('an attached file counts as read, so that it can be changed at once', async () => {
  let answers = 0
  const set = await setStage({
    script: () =>
      answers++ === 0
        ? toolUse('Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'omega' })
        : text('Done.'),
    person: { askPermission: async () => ({ type: 'allow' }) },
  })
  await set.agent.submit({ text: 'Change @a.txt' })
  const results = set.events.filter((event) => event.type === 'tool-finished')
  expect(results.map(({ name, isError }) => [name, isError])).toEqual([
    ['Read', false],
    ['Edit', false],
  ])
})

test('a file that cannot be attached is named with the reason, and the prompt is sent', async () => {
  const set = await setStage({ deny: ['Read(/src/**)'] })
  await set.agent.submit({ text: 'See @big.log, @.env and @src/deep/b.ts' })
  expect(await told(set)).toEqual([
    '@big.log was not attached: big.log has 390.6 KB, too much to read at once. Search it with Grep, or read a part of it with offset and limit.',
    '@.env was not attached: Permission was denied by the user: Read .env. Nothing was done. Do not try to reach the same in another way: continue without it, or ask the user how to go on.',
    '@src/deep/b.ts was not attached: Permission was denied: the rule Read(/src/**) in the settings forbids it. Do not try to reach the same in another way. If the task needs it, say so to the user.',
    'See @big.log, @.env and @src/deep/b.ts',
  ])
  expect(set.asked.map(({ title, reason }) => [title, reason])).toEqual([['Read .env', 'it may hold secrets']])
})

test('an image is attached as an image', async () => {
  const set = await setStage()
  await set.agent.submit({ text: 'What is in @dot.png?' })
  const blocks = set.requests.flatMap(({ messages }) => messages.flatMap(({ content }) => blocksOf(content)))
  expect(blocks.map(({ type }) => type)).toContain('image')
})

test('only the part of a prompt that may name files attaches one', async () => {
  const set = await setStage()
  await set.agent.submit({ text: 'printed: @a.txt', mentions: '' })
  expect(await told(set)).toEqual(['printed: @a.txt'])
})

test('what was piped in attaches nothing, and what was typed does', async () => {
  const set = await setStage()
  const prompt = 'See @src\n\nlog: @a.txt'
  const write = () => undefined
  const { signal } = new AbortController()
  const given = {
    agent: set.agent,
    output: 'text',
    denied: () => [],
    write,
    warn: write,
    signal,
    now: () => 0,
  } as const
  await runHeadless({ ...given, prompt, piped: 'log: @a.txt' })
  expect(await told(set)).toEqual([
    'The files in the folder src, which the user named:\n\nsrc/deep/b.ts',
    'See @src\n\nlog: @a.txt',
  ])
})

/** Calls these tools in order, one in each answer, and then answers. */
function calling(...calls: readonly Parameters<typeof toolUse>[]): AgentStageOptions['script'] {
  const left = [...calls]
  return () => {
    const next = left.shift()
    return next ? toolUse(...next) : text('Done.')
  }
}

const results = ({ events }: AgentStage) =>
  events.flatMap((event) =>
    event.type === 'tool-finished' ? [[event.name, event.isError, textOf(event.content as string)]] : [],
  )

const restored = ({ agent }: AgentStage) => JSON.stringify(agent.session().messages())

test('an attached file is restored after a compaction, as it is now', async () => {
  const set = await setStage()
  const lines = Array.from({ length: 100 }, (_, at) => `line ${at} of the file that is attached`)
  writeFileSync(join(set.folder, 'long.txt'), `${lines.join('\n')}\n`)
  await set.agent.submit({ text: `${'Much to do. '.repeat(2_000)} Look at @long.txt` })
  writeFileSync(join(set.folder, 'long.txt'), `${['line 0 as it is now', ...lines.slice(1)].join('\n')}\n`)
  await set.agent.session().compact()
  expect(restored(set)).toContain(`# files\\nFile ${join(set.folder, 'long.txt')}\\nline 0 as it is now\\nline 1 `)
  expect(restored(set)).toContain('line 99 of the file that is attached')
  expect(restored(set)).not.toContain('which the user named:')
})

test('a file that the rules close is not restored either', async () => {
  const set = await setStage({ deny: ['Read(/src/**)'] })
  writeFileSync(join(set.folder, 'src/deep/b.ts'), 'a secret line that nobody may read\n'.repeat(100))
  await set.agent.submit({ text: `${'Much to do. '.repeat(2_000)} See @src/deep/b.ts` })
  expect(await set.agent.session().compact()).toMatchObject({ type: 'compacted' })
  expect(restored(set)).not.toContain('nobody may read')
})

test('an attached file that has changed since must be read again before an edit', async () => {
  const edit = ['Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'omega' }] as const
  const answers = calling([...edit], ['Read', { file_path: 'a.txt' }], [...edit])
  let change = (): void => undefined
  const set = await setStage({
    script: (...asked) => {
      change()
      return answers(...asked)
    },
    person: { askPermission: async () => ({ type: 'allow' }) },
  })
  change = () => {
    writeFileSync(join(set.folder, 'a.txt'), 'alpha and more\n')
    change = () => undefined
  }
  await set.agent.submit({ text: 'Change @a.txt' })
  expect(results(set)).toEqual([
    ['Read', false, '1\talpha'],
    [
      'Edit',
      true,
      'a.txt has changed since it was read, by the user, a command or another program. Read it again, then change it.',
    ],
    ['Read', false, '1\talpha and more'],
    ['Edit', false, 'Changed a.txt (+1 −1 lines).'],
  ])
})

test('the text of an attached file is sent once while the conversation shows it', async () => {
  const read = ['Read', { file_path: 'a.txt' }] as const
  const set = await setStage({ script: calling([...read], [...read]) })
  await set.agent.submit({ text: `${'Much to do. '.repeat(2_000)} Look at @a.txt and @src` })
  await set.agent.submit({ text: 'And again @a.txt' })
  await set.agent.session().compact()
  await set.agent.submit({ text: 'And now @a.txt' })
  const unchanged = 'a.txt is unchanged since you read it: its text is attached to a message of the user.'
  expect(results(set).filter(([name]) => name === 'Read')).toEqual([
    ['Read', false, '1\talpha'],
    ['Read', false, unchanged],
    ['Read', false, unchanged],
    ['Read', false, unchanged],
    ['Read', false, '1\talpha'],
  ])
})

test('an older text of an attached file that begins the same is not the text of the file now', async () => {
  const set = await setStage({ script: calling() })
  writeFileSync(join(set.folder, 'a.txt'), 'alpha\nbeta\n')
  await set.agent.submit({ text: 'Look at @a.txt' })
  await set.agent.submit({ text: 'And?' })
  writeFileSync(join(set.folder, 'a.txt'), 'alpha\n')
  await set.agent.submit({ text: 'Look at @a.txt again' })
  const offered = await set.agent.command('/rewind')
  const [, second] = offered.type === 'choose' ? offered.choices : []
  await set.agent.command(`${second?.command} conversation`)
  set.events.splice(0)
  await set.agent.submit({ text: 'Look at @a.txt once more' })
  expect(results(set)).toEqual([['Read', false, '1\talpha']])
})
