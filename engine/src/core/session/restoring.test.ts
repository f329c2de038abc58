import { expect, test } from 'vitest'
import { type Conversation, createConversation } from './conversation.ts'
import { Restoring, type RestoringInput } from './restoring.ts'
import { memoryStore } from './testing/world.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

function opened(input: Partial<RestoringInput> = {}, store = memoryStore()) {
  const files: RestoringInput['files'] = { read: async () => ({ type: 'missing' }) }
  const restoring = new Restoring({ files, entries: async () => store.entries(), ...input })
  let id = 0
  const conversation: Conversation = createConversation({
    store,
    sessionId: 's',
    envelope: {},
    entries: [...store.entries()],
    now: () => 0,
    newId: () => `id${id++}`,
    watch: restoring.add,
    onRewind: restoring.readAgain,
  })
  return { restoring, conversation, reopened: () => opened(input, store) }
}

const say = (conversation: Conversation, content: string): string =>
  conversation.append([{ type: 'user', message: { role: 'user', content } }])[0] ?? ''

const request = { kept: [], removed: [], budget: 10_000, countTokens }

test('a pinned message comes back, unless it is kept anyway', async () => {
  const { restoring, conversation } = opened()
  const uuid = say(conversation, 'Never push on Fridays.')
  conversation.edit([{ type: 'pin', uuid, mechanism: 'hand', reason: 'asked' }])
  const piecesWith = async (kept: ReturnType<Conversation['view']>['messages']) =>
    (await restoring.restore({ ...request, kept }, conversation)).pieces.map(({ text }) => text)
  expect(await piecesWith([])).toEqual(['Never push on Fridays.'])
  expect(await piecesWith(conversation.view().messages)).toEqual([])
})

test('a rewind takes back the plan and the pin that came after it, and its undo brings them again', async () => {
  const { restoring, conversation, reopened } = opened()
  const planMode = (type: string) =>
    conversation.append([{ type: 'attachment', attachment: { type, planContent: 'x' } }])
  const titles = async ({ restoring, conversation }: Pick<ReturnType<typeof opened>, 'restoring' | 'conversation'>) =>
    (await restoring.restore(request, conversation)).pieces.map(({ kind, text }) => `${kind}: ${text.split('\n')[0]}`)
  const first = say(conversation, 'Never push on Fridays.')
  const [then = ''] = planMode('plan_mode')
  const before = await titles({ restoring, conversation })
  planMode('plan_file_reference')
  conversation.edit([{ type: 'pin', uuid: first }])
  const after = await titles({ restoring, conversation })
  expect(before).toEqual(['plan: There is no plan yet.'])
  expect(after).toEqual(['pinned: Never push on Fridays.', 'plan: x'])
  conversation.edit([{ type: 'rewind', to: then }])
  expect(await titles({ restoring, conversation })).toEqual(before)
  expect(await titles(reopened())).toEqual(before)
  conversation.edit(conversation.lastAction().map(({ uuid }) => ({ type: 'undo', uuid })))
  expect(await titles({ restoring, conversation })).toEqual(after)
  expect(await titles(reopened())).toEqual(after)
})

test('a to-do list of the host comes back even where the summary holds the one of the conversation', async () => {
  const todos = [{ id: '1', text: 'Ship it', status: 'pending' as const }]
  const kindsWith = async (input: Partial<RestoringInput>) => {
    const { restoring, conversation } = opened(input)
    const call = [{ type: 'tool_use', id: 't', name: 'TodoWrite', input: { todos: [{ content: 'x' }] } }]
    conversation.append([
      { type: 'assistant', message: { role: 'assistant', content: call } },
      { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] } },
    ])
    const { pieces } = await restoring.restore(request, conversation)
    return pieces.map(({ text }) => text)
  }
  expect(await kindsWith({ host: () => ({ todos }) })).toEqual(['- [pending] #1 Ship it'])
  expect(await kindsWith({})).toEqual([])
})

test('what the host names may be read anywhere, rules beside the files at work inside, and nothing else', async () => {
  const host = () => ({ plan: { path: '/home/plan.md', isOn: true }, memoryFiles: ['/home/rules.md'] })
  const { restoring, conversation } = opened({ host, root: () => '/w' })
  const call = [{ type: 'tool_use', id: 't', name: 'Read', input: { file_path: '/w/sub/a.ts' } }]
  conversation.append([
    { type: 'assistant', message: { role: 'assistant', content: call } },
    { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '1\ta' }] } },
  ])
  const paths = ['/home/plan.md', '/home/rules.md', 'sub/AGENTS.md', '/w/sub/a.ts', 'AGENTS.md', '/home/other.md']
  expect(paths.map(restoring.permitted)).toEqual(paths.map(() => undefined))
  await restoring.restore(request, conversation)
  expect(paths.map(restoring.permitted)).toEqual(['anywhere', 'anywhere', 'inside', undefined, undefined, undefined])
})

test('a rule file that the client injected may be read in the workspace as it is now, any other file it names not', async () => {
  const asked: (readonly [string, string | undefined])[] = []
  const { restoring, conversation } = opened({
    root: () => '/work',
    files: {
      read: async (path) => {
        asked.push([path, restoring.permitted(path)])
        return { type: 'text', text: 'Changed since.' }
      },
    },
  })
  const inject = (path: string) =>
    conversation.append([
      { type: 'attachment', attachment: { type: 'nested_memory', path, content: { path, content: 'As it was.' } } },
    ])
  inject('/work/sub/CLAUDE.md')
  inject('/work/sub/.env')
  const { pieces } = await restoring.restore(request, conversation)
  expect(asked).toEqual([
    ['/work/sub/CLAUDE.md', 'inside'],
    ['/work/sub/.env', undefined],
  ])
  expect(pieces[0]).toMatchObject({ path: '/work/sub/CLAUDE.md', text: 'Changed since.' })
})
