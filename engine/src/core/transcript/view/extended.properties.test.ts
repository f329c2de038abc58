// A view that is extended entry by entry equals one that is folded from scratch. The records share few ids, so they often refer
// to each other: parents that come later, parts of one answer in two branches, duplicate results, edits that name later entries.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../message/json.ts'
import { type Edit, editRecord } from '../format/edits.ts'
import type { Entry } from '../format/entry.ts'
import { createFold, foldEntries, type View } from './fold.ts'

const uuid = fc.integer({ min: 0, max: 24 }).map((at) => `u${at}`)
const call = fc.integer({ min: 0, max: 9 }).map((at) => `t${at}`)
const answer = fc.integer({ min: 0, max: 5 }).map((at) => `m${at}`)

const block = fc.oneof(
  fc.constantFrom({ type: 'text', text: 'words' }, { type: 'thinking', thinking: 'hm', signature: 's' }),
  fc.record({ type: fc.constant('tool_use'), id: call, name: fc.constant('Read'), input: fc.constant({ a: 'b' }) }),
)
const result = fc.record({ type: fc.constant('tool_result'), tool_use_id: call, content: fc.constant('found') })

const usage = { input_tokens: 10, output_tokens: 5 }
const body = fc.oneof(
  { weight: 4, arbitrary: fc.record({ id: answer, content: fc.array(block, { maxLength: 2 }) }).map(answerRecord) },
  { weight: 4, arbitrary: fc.array(result, { maxLength: 2 }).map((content) => said(content)) },
  { weight: 2, arbitrary: fc.constant(said('a question')) },
  { weight: 1, arbitrary: fc.constant({ type: 'attachment', attachment: { type: 'note', content: 'context' } }) },
  { weight: 1, arbitrary: fc.constantFrom({ type: 'progress' }, { type: 'system', subtype: 'note', content: 'x' }) },
  { weight: 1, arbitrary: fc.array(result, { minLength: 1, maxLength: 1 }).map(progressWith) },
)

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ type: fc.constant('clear-results' as const), toolUseIds: fc.array(call), attachments: fc.array(uuid) }),
  fc.record({ type: fc.constant('clear-inputs' as const), toolUseIds: fc.array(call) }),
  fc.record({ type: fc.constant('clear-media' as const), uuids: fc.array(uuid) }),
  fc.record({ type: fc.constant('clear-thinking' as const), after: uuid, before: uuid }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('drop-range' as const), from: uuid, to: uuid, marker: fc.constant('[gone]') }),
  fc.record({ type: fc.constant('replace-range' as const), from: uuid, to: uuid, text: fc.constant('a summary') }),
  fc.record({ type: fc.constant('replace-content' as const), uuid, content: fc.constantFrom('other', null) }),
  fc.record({ type: fc.constantFrom('pin' as const, 'unpin' as const, 'undo' as const, 'undo' as const), uuid }),
  fc.record({ type: fc.constant('rewind' as const), to: uuid }),
)

const boundary = fc.oneof(
  fc.constant({}),
  fc.record({
    preservedMessages: fc.record({ anchorUuid: uuid, uuids: fc.array(uuid, { minLength: 1, maxLength: 3 }) }),
  }),
  fc.record({ preservedSegment: fc.record({ anchorUuid: uuid, headUuid: uuid, tailUuid: uuid }) }),
)

type Step = {
  readonly what: JsonObject | { readonly edit: Edit }
  readonly named: string | undefined
  readonly parent: string | undefined
  readonly isSidechain: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(
    { weight: 12, arbitrary: body as fc.Arbitrary<JsonObject> },
    { weight: 3, arbitrary: edit.map((made) => ({ edit: made })) },
    { weight: 1, arbitrary: fc.tuple(boundary, fc.option(uuid)).map(boundaryRecord) },
    { weight: 1, arbitrary: fc.constant({ type: 'compact_system', message: 'conversation_compacted' }) },
  ),
  /** Most entries get a new id and follow the previous one. */
  named: fc.option(uuid, { nil: undefined, freq: 3 }),
  parent: fc.option(uuid, { nil: undefined, freq: 4 }),
  isSidechain: fc.integer({ min: 0, max: 9 }).map((at) => at === 0),
})

function answerRecord({ id, content }: { id: string; content: readonly JsonObject[] }): JsonObject {
  return { type: 'assistant', message: { id, role: 'assistant', model: 'm', content, usage } }
}

function said(content: unknown): JsonObject {
  return { type: 'user', message: { role: 'user', content } }
}

function progressWith(content: readonly JsonObject[]): JsonObject {
  return { type: 'progress', message: { role: 'user', content } }
}

function boundaryRecord([kept, last]: readonly [JsonObject, string | null]): JsonObject {
  const compactMetadata = { trigger: 'auto', preTokens: 100, ...kept }
  const compaction = { freed: 50, ...(last === null ? {} : { last }) }
  return { type: 'system', subtype: 'compact_boundary', compactMetadata, everlong: { compaction } }
}

function entriesOf(steps: readonly Step[]): readonly Entry[] {
  let tip: string | null = null
  return steps.map(({ what, named, parent, isSidechain }, at) => {
    const own = { uuid: named ?? `u${at}`, parentUuid: parent ?? tip }
    tip = own.uuid
    const place = { timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
    const record: JsonObject =
      'edit' in what ? { ...editRecord(what.edit as Edit, { ...own, ...place }) } : { ...what, ...own, ...place }
    return { record: { ...record, isSidechain }, position: { line: at + 1, offset: at, length: 1, nth: 0 } }
  })
}

function whole({ trusted, changed, reduced, ...rest }: View) {
  return { ...rest, trusted: trusted && [...trusted], changed: [...changed], reduced }
}

/** Compares at every step. Earlier views must not change. */
function expectSameAsFromScratch(entries: readonly Entry[], stride = 1): void {
  const fold = createFold()
  const taken: [View, number][] = []
  for (const [at, entry] of entries.entries()) {
    fold.add(entry)
    if (at % stride === 0) taken.push([fold.view(), at + 1])
  }
  for (const [view, end] of taken) expect(whole(view)).toEqual(whole(foldEntries(entries.slice(0, end))))
}

test('extended by each entry, a view equals one that is folded from scratch', () => {
  const anyStride = fc.integer({ min: 1, max: 4 })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), anyStride, (steps, stride) => {
      expectSameAsFromScratch(entriesOf(steps), stride)
    }),
    { numRuns: 1_000 },
  )
})

const words = { type: 'text', text: 'words' }
const calling = (id: string) => ({ type: 'tool_use', id, name: 'Read', input: {} })
const found = (id: string) => said([{ type: 'tool_result', tool_use_id: id, content: 'found' }])
const answered = (id: string, ...content: readonly JsonObject[]) => answerRecord({ id, content })
const compacted = (kept: JsonObject, last: string | null = null) => boundaryRecord([kept, last])
const summary = { ...said('a summary'), isCompactSummary: true }
const note = { type: 'system', subtype: 'note', content: 'x' }
const edited = (made: Edit) => ({ edit: made })

type Line = readonly [what: Step['what'], parent?: string | undefined, isSidechain?: boolean]

/** Each entry has the uuid `u` plus its index, and follows the previous one unless it names a parent. */
const changing: Readonly<Record<string, readonly Line[]>> = {
  'a part of an answer that another branch began': [
    [said('one')],
    [answered('m1', words)],
    [said('two'), 'u0'],
    [answered('m1', words)],
  ],
  'a result that another branch has': [
    [said('one')],
    [answered('m1', calling('t1'))],
    [found('t1')],
    [said('two'), 'u1'],
    [found('t1')],
  ],
  'a call whose result is in another branch': [
    [said('one')],
    [found('t1')],
    [said('two'), 'u0'],
    [answered('m1', calling('t1'))],
  ],
  'a hidden entry with a result that another branch has': [
    [said('one')],
    [answered('m1', calling('t1'))],
    [found('t1')],
    [said('two'), 'u1'],
    [progressWith([{ type: 'tool_result', tool_use_id: 't1', content: 'found' }])],
    [said('three')],
  ],
  'a result without a known answer, which is shown last': [
    [said('one')],
    [{ type: 'assistant', message: { role: 'assistant', content: [calling('t1')] } }],
    [found('t1'), 'u0'],
    [said('two'), 'u1'],
    [said('three')],
  ],
  'the last entry of a compaction': [[said('one')], [compacted({}, 'u4')], [summary], [said('two')], [said('three')]],
  'a kept message that is written after the boundary': [
    [said('one')],
    [compacted({ preservedMessages: { anchorUuid: 'u2', uuids: ['u4'] } })],
    [summary],
    [said('two')],
    [answered('m1', words)],
  ],
  'the end of a range, between kept messages': [
    [said('one')],
    [compacted({ preservedMessages: { anchorUuid: 'u2', uuids: ['u0'] } })],
    [summary],
    [answered('m1', words)],
    [note],
    [edited({ type: 'drop-range', from: 'u2', to: 'u4', marker: '[gone]' })],
    [said('two')],
  ],
  'a message after an undone boundary': [
    [said('one')],
    [compacted({})],
    [summary],
    [edited({ type: 'undo', uuid: 'u1' })],
    [{ type: 'attachment', attachment: { type: 'note', content: 'context' } }],
    [said('two')],
  ],
  'the first message after a boundary': [[said('one')], [compacted({})], [note], [said('two')]],
  'a message that continues an entry before a legacy boundary': [
    [said('one')],
    [answered('m1', words)],
    [{ type: 'compact_system', message: 'conversation_compacted' }],
    [said('two'), 'u1'],
    [answered('m2', words), 'u1'],
  ],
  'a parent that comes later': [[said('one')], [said('two'), 'u3'], [answered('m1', words)], [note, 'u0']],
  'a message of a sub-agent, then one of the agent': [
    [said('one'), undefined, true],
    [answered('m1', words), undefined, true],
    [said('two')],
    [answered('m2', words), 'u1', true],
  ],
  'an edit of an entry that comes later': [
    [edited({ type: 'replace-content', uuid: 'u3', content: 'other' })],
    [said('one')],
    [answered('m1', words)],
    [said('two')],
  ],
  'the first message of a window': [[note], [said('one')], [said('two')], [answered('m1', words)], [found('t1')]],
  'a rewind, and messages after it': [
    [said('one')],
    [answered('m1', words)],
    [edited({ type: 'rewind', to: 'u0' })],
    [said('two')],
    [answered('m2', words)],
  ],
}

test.each(Object.entries(changing))('%s: at every step the view equals one from scratch', (_, lines) => {
  const steps = lines.map(([what, parent, isSidechain = false]) => ({ what, named: undefined, parent, isSidechain }))
  expectSameAsFromScratch(entriesOf(steps))
})

test('a conversation that continues is extended: what shows nothing leaves the same view, and messages stay the same', () => {
  const fold = createFold()
  const steps = (some: readonly JsonObject[]) =>
    some.map((what) => ({ what, named: undefined, parent: undefined, isSidechain: false }))
  const talk = [
    said('a question'),
    answerRecord({ id: 'm1', content: [{ type: 'text', text: 'words' }] }),
    said('more'),
  ]
  const entries = entriesOf(
    steps([...talk, { type: 'progress' }, answerRecord({ id: 'm2', content: [{ type: 'text', text: 'end' }] })]),
  )
  for (const entry of entries.slice(0, 3)) fold.add(entry)
  const before = fold.view()
  fold.add(entries[3] as Entry)
  expect(fold.view()).toBe(before)
  fold.add(entries[4] as Entry)
  const after = fold.view()
  expect(after.messages.map(({ uuid }) => uuid)).toEqual(['u0', 'u1', 'u2', 'u4'])
  for (const [at, message] of before.messages.entries()) expect(after.messages[at]).toBe(message)
  expect(before.messages).toHaveLength(3)
})
