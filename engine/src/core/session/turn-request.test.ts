// What a model sees, readable in review: the shape of each request, and its cache marks.
import { expect, test } from 'vitest'
import type { JsonObject } from '../message/json.ts'
import { blocksOf } from '../message/message.ts'
import { shapeOf } from '../message/shape.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World, type WorldOptions } from './testing/world.ts'

async function pictureOf({ session }: World): Promise<readonly string[]> {
  const request = await session.prepare()
  if (request.type !== 'ready') throw new Error(request.why)
  const isMarked = (block: JsonObject) => block.cache_control !== undefined
  const marks = [
    ...(request.tools ?? []).flatMap((tool, at) => (isMarked(tool) ? [`tools.${at}`] : [])),
    ...blocksOf(request.system).flatMap((block, at) => (isMarked(block) ? [`system.${at}`] : [])),
    ...request.messages.flatMap(({ content }, message) =>
      blocksOf(content).flatMap((block, at) => (isMarked(block) ? [`messages.${message}.${at}`] : [])),
    ),
  ]
  const extras = [...(request.betas ?? []), ...Object.keys(request.options ?? {})]
  return [
    shapeOf(request.messages),
    `marks: ${marks.join(' ')}`,
    ...(extras.length > 0 ? [`with: ${extras.join(' ')}`] : []),
  ]
}

const base = { system: 'You work.', tools: [{ name: 'Read' }, { name: 'Bash' }], maxTokens: 1_000 }
const worldWith = (options: WorldOptions = {}) => createTestWorld({ base, ...options })
const round = ({ session }: World, at: number, size = 10) => {
  session.record(
    answerOf([{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `${at}` } }], { id: `m${at}` }),
  )
  session.add({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: 'line '.repeat(size) }],
  })
}

test('half characters go out nowhere: not in the system prompt, the tools, the messages or the options', async () => {
  const half = 'x\ud83d'
  const model = scripted(() => 'Well.')
  const tools = [{ name: 'Read', description: half, input_schema: { properties: { [half]: {} } } }]
  const world = createTestWorld({ model, base: { system: half, tools, options: { metadata: { user_id: half } } } })
  world.session.add({ role: 'user', content: half })
  const prepared = await world.session.prepare()
  await world.session.send()
  expect(prepared.type === 'ready' ? prepared.repairs : undefined).toEqual([
    { type: 'half-characters-replaced', message: 0 },
  ])
  for (const sent of [prepared, ...model.requests]) expect(JSON.stringify(sent)).not.toMatch(/\\ud[89a-f]/)
})

test('a first question', async () => {
  const world = worldWith()
  world.session.add({ role: 'user', content: 'Go.' })
  expect(await pictureOf(world)).toEqual(['u', 'marks: tools.1 system.0 messages.0.0'])
})

test('in the middle of a turn: the last user message and the one before it are marked', async () => {
  const world = worldWith()
  world.session.add({ role: 'user', content: 'Go.' })
  round(world, 1)
  round(world, 2)
  expect(await pictureOf(world)).toEqual([
    'u a[tu] u[tr] a[tu] u[tr]',
    'marks: tools.1 system.0 messages.2.0 messages.4.0',
  ])
})

test('thinking and empty text carry no mark; an hour is asked for where the setting says so', async () => {
  const world = worldWith({ settings: { cacheMarks: '1h' } })
  world.session.add({
    role: 'user',
    content: [
      { type: 'text', text: 'Go.' },
      { type: 'image', source: {} },
    ],
  })
  const request = await world.session.prepare()
  expect(
    request.type === 'ready' && blocksOf(request.messages[0]?.content).map(({ cache_control }) => cache_control),
  ).toEqual([undefined, { type: 'ephemeral', ttl: '1h' }])
})

test.each(['default', 'thrifty'] as const)('%s: tools and system prompt are kept for an hour', async (economy) => {
  const world = worldWith({ settings: { economy } })
  world.session.add({ role: 'user', content: 'Go.' })
  const request = await world.session.prepare()
  if (request.type !== 'ready') throw new Error(request.why)
  const marks = [request.tools?.[1], blocksOf(request.system)[0], blocksOf(request.messages[0]?.content)[0]]
  expect(marks.map((marked) => marked?.cache_control)).toEqual([
    { type: 'ephemeral', ttl: '1h' },
    { type: 'ephemeral', ttl: '1h' },
    { type: 'ephemeral' },
  ])
})

test.each([
  ['default', '5m'],
  ['claude-code', '1h'],
] as const)(
  'auto, %s: the newest messages are kept for %s, because only what is not kept for an hour anyway counts',
  async (economy, lifetime) => {
    // Nearly all of the context is the system prompt, which is kept for an hour by default.
    const system = 'You work. '.repeat(40_000)
    const world = createTestWorld({ base: { ...base, system }, settings: { economy, cacheMarks: 'auto' } })
    for (const [at, cacheRead] of [100_000, 101_000].entries()) {
      world.session.add({ role: 'user', content: 'Go.' })
      const usage = { input: 0, output: 1, cacheRead, cacheWrite: 0, cacheWriteHour: 0 }
      world.session.record(answerOf('Done.', { id: `m${at}`, usage }))
    }
    world.session.add({ role: 'user', content: 'Go on.' })
    const request = await world.session.prepare()
    if (request.type !== 'ready') throw new Error(request.why)
    const mark = blocksOf(request.messages.at(-1)?.content)[0]?.cache_control
    expect(mark).toEqual({ type: 'ephemeral', ...(lifetime === '1h' ? { ttl: '1h' } : {}) })
  },
)

test('without a prompt cache, or with marks turned off, there are none', async () => {
  for (const options of [
    { settings: { cacheMarks: false } } as const,
    { model: scripted(() => 'x', { capabilities: { promptCache: false } }) },
  ]) {
    const world = worldWith(options)
    world.session.add({ role: 'user', content: 'Go.' })
    expect(await pictureOf(world)).toEqual(['u', 'marks: '])
  }
})

test('after a compaction: the summary, and what came since', async () => {
  const world = worldWith({ compaction: [plainMechanism('A summary.')] })
  world.session.add({ role: 'user', content: 'word '.repeat(500) })
  round(world, 1, 500)
  await world.session.compact()
  expect(await pictureOf(world)).toEqual(['u', 'marks: tools.1 system.0 messages.0.0'])
  round(world, 2)
  expect(await pictureOf(world)).toEqual(['u a[tu] u[tr]', 'marks: tools.1 system.0 messages.0.0 messages.2.0'])
})

test('where the server manages context, the history goes as it is, with the options beside it', async () => {
  const world = worldWith({ model: scripted(() => 'x', { capabilities: { contextManagement: true } }) })
  world.session.add({ role: 'user', content: 'Go.' })
  for (let at = 1; at <= 12; at++) round(world, at, 100)
  expect(await pictureOf(world)).toEqual([
    `u${' a[tu] u[tr]'.repeat(12)}`,
    // One mark at the end of the omitted results, where the next clearing begins.
    'marks: system.0 messages.14.0 messages.22.0 messages.24.0',
    'with: context-management-2025-06-27 context_management',
  ])
})

test('what the server was just asked to leave out is not counted any more when the threshold is checked', async () => {
  const world = worldWith({ model: scripted(() => 'x', { capabilities: { contextManagement: true } }) })
  world.session.add({ role: 'user', content: 'Go.' })
  for (let at = 1; at <= 12; at++) round(world, at, 100)
  await world.session.prepare()
  const cleared = world.events.find(({ type }) => type === 'micro-compacted')
  const checked = world.events.findLast(({ type }) => type === 'threshold-checked')
  if (cleared?.type !== 'micro-compacted' || checked?.type !== 'threshold-checked') throw new Error('Nothing was done.')
  expect(cleared.tokensAfter).toBeLessThan(cleared.tokensBefore)
  expect([checked.tokens, world.session.explain().size.tokens]).toEqual([cleared.tokensAfter, cleared.tokensAfter])
  const usage = { input: 0, output: 10, cacheRead: 5_000, cacheWrite: 0, cacheWriteHour: 0 }
  world.session.record(answerOf('Done.', { id: 'm13', usage }))
  expect(world.session.explain().size.tokens).toBe(5_010)
})

test('what the server was asked to leave out stays left out, and nothing more goes until it pays again', async () => {
  const model = scripted(() => 'x', { capabilities: { contextManagement: true } })
  const world = worldWith({ model, compaction: [plainMechanism('A summary.')] })
  world.session.add({ role: 'user', content: 'Go.' })
  const kept = async () => {
    const request = await world.session.prepare()
    const management = request.type === 'ready' ? request.options?.context_management : undefined
    return (management as { readonly edits: readonly JsonObject[] } | undefined)?.edits.map(({ keep }) => keep)
  }
  for (let at = 1; at <= 12; at++) round(world, at, 100)
  expect(await kept()).toEqual([{ type: 'tool_uses', value: 5 }])
  round(world, 13)
  round(world, 14)
  expect(await kept()).toEqual([{ type: 'tool_uses', value: 7 }])
  await world.session.compact()
  expect(await kept()).toBeUndefined()
})

test('where a cached prefix can be edited, the deletions stand at the end, after the mark', async () => {
  const world = worldWith({ model: scripted(() => 'x', { capabilities: { cacheEdits: true } }) })
  world.session.add({ role: 'user', content: 'Go.' })
  for (let at = 1; at <= 12; at++) round(world, at, 100)
  expect(await pictureOf(world)).toEqual([
    `u${' a[tu] u[tr]'.repeat(11)} a[tu] u[tr cache_edits]`,
    'marks: tools.1 system.0 messages.22.0 messages.24.0',
  ])
})

test('results and inputs that were cleared together are one change: the one before it keeps its mark', async () => {
  const world = worldWith({ settings: { reductions: { microCompact: false } } })
  const clear = (...toolUseIds: readonly string[]) =>
    world.runtime.conversation.edit([
      { type: 'clear-results', toolUseIds, mechanism: 'hand', reason: 'asked' },
      { type: 'clear-inputs', toolUseIds: toolUseIds.slice(-1), mechanism: 'hand', reason: 'asked' },
    ])
  const writes = (at: number) => {
    const input = { file_path: `${at}`, content: 'long '.repeat(200) }
    world.session.record(answerOf([{ type: 'tool_use', id: `t${at}`, name: 'Write', input }], { id: `m${at}` }))
    world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: 'Done.' }] })
  }
  world.session.add({ role: 'user', content: 'Go.' })
  round(world, 1, 100)
  writes(2)
  clear('t1', 't2')
  round(world, 3, 100)
  writes(4)
  clear('t3', 't4')
  round(world, 5)
  expect(await pictureOf(world)).toEqual([
    `u${' a[tu] u[tr]'.repeat(5)}`,
    'marks: system.0 messages.4.0 messages.8.0 messages.10.0',
  ])
})
