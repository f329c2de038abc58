import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientStyles, generateWithTruth, type JsonObject, keptLayouts } from '../../../testing/index.ts'
import { arrayAt, isObject, stringAt } from '../../message/json.ts'
import { blocksOf } from '../../message/message.ts'
import { checkRequest } from '../../request/check-request.ts'
import { repairRequest } from '../../request/repair.ts'
import { type Edit, editRecord } from '../format/edits.ts'
import { type Entry, readHead } from '../format/entry.ts'
import { liveWindow } from '../tree/live.ts'
import { createFold, foldEntries, type View } from './fold.ts'

const entriesOf = (records: readonly JsonObject[]): readonly Entry[] =>
  records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))
const bytesOf = ({ messages, sources }: View) => JSON.stringify({ messages, sources })
const wholeOf = (view: View) =>
  JSON.stringify({
    ...view,
    trusted: [...(view.trusted ?? [])],
    reduced: [...(view.reduced?.uuids ?? [])],
    changed: [...view.changed],
  })

const anySession = fc
  .record({
    seed: fc.nat(100_000),
    style: fc.constantFrom(...clientStyles),
    kept: fc.constantFrom(...keptLayouts),
    turns: fc.integer({ min: 1, max: 4 }),
    boundaries: fc.integer({ min: 0, max: 2 }),
    subagents: fc.constantFrom('none' as const, 'inline' as const),
    images: fc.boolean(),
    parallel: fc.constantFrom(0, 0.5, 1),
    interrupted: fc.constantFrom(0, 0.5),
    microcompact: fc.boolean(),
  })
  .map((options) => generateWithTruth(options))

/** An edit as numbers. They select from the content of the session at the time of the edit. */
const anyChoice = fc.record({
  kind: fc.nat(14),
  first: fc.nat(1_000),
  second: fc.nat(1_000),
  at: fc.nat(1_000),
  isFollowed: fc.boolean(),
})
type Choice = {
  readonly kind: number
  readonly first: number
  readonly second: number
  readonly at: number
  /** Whether the next line has the edit as its parent, as when we write it, or keeps its old parent. */
  readonly isFollowed: boolean
}

type Script = { readonly records: JsonObject[]; edits: number; readonly tips: Map<string, string> }

/** Puts edits between the records of a session. */
function withEdits(records: readonly JsonObject[], choices: readonly Choice[]): readonly JsonObject[] {
  const script: Script = { records: [], edits: 0, tips: new Map() }
  const places = choices.map(({ at }) => at % (records.length + 1))
  for (let place = 0; place <= records.length; place++) {
    for (const [nth, choice] of choices.entries()) if (places[nth] === place) addEdit(script, choice)
    const record = records[place]
    if (record) script.records.push(rehung(script, record))
  }
  return script.records
}

function rehung({ tips }: Script, record: JsonObject): JsonObject {
  let parentUuid = record.parentUuid
  while (typeof parentUuid === 'string' && tips.has(parentUuid)) parentUuid = tips.get(parentUuid)
  return parentUuid === record.parentUuid ? record : { ...record, parentUuid }
}

function addEdit(script: Script, { kind, first, second, isFollowed }: Choice): void {
  const { records } = script
  const tree = records.filter((record) => typeof record.uuid === 'string' && record.isSidechain !== true)
  const uuidAt = (at: number) => stringAt(tree[at % tree.length], 'uuid') ?? ''
  const changes = tree.filter(({ subtype }) => ['everlong_edit', 'compact_boundary'].includes(String(subtype)))
  const uses = tree.flatMap(({ message }) => arrayAt(message, 'content')).filter(isObject)
  const ids = uses.flatMap((block) => (typeof block.id === 'string' ? [block.id] : []))
  const some = ids.filter((_, at) => (at + first) % 3 === 0)
  if (tree.length === 0) return
  const edits: readonly Edit[] = [
    { type: 'clear-results', toolUseIds: some, attachments: [uuidAt(second)] },
    { type: 'clear-inputs', toolUseIds: some },
    {
      type: 'clear-thinking',
      ...(first % 2 ? { after: uuidAt(first) } : {}),
      ...(second % 2 ? { before: uuidAt(second) } : {}),
    },
    { type: 'drop-range', from: uuidAt(first), to: uuidAt(second), marker: '[gone]' },
    { type: 'replace-range', from: uuidAt(first), to: uuidAt(first + (second % 20)), text: 'what happened' },
    { type: 'pin', uuid: uuidAt(first) },
    { type: 'unpin', uuid: uuidAt(first) },
    { type: 'undo', uuid: stringAt(changes[first % Math.max(1, changes.length)], 'uuid') ?? '' },
    { type: 'undo', uuid: stringAt(changes.at(-1), 'uuid') ?? '' },
    { type: 'rewind', to: uuidAt(first) },
    { type: 'clear-results', toolUseIds: some, recall: true },
    { type: 'clear-media', uuids: [uuidAt(first), uuidAt(second)] },
    { type: 'clear-media', uuids: [uuidAt(first), uuidAt(second)], keep: 1 },
    { type: 'replace-content', uuid: uuidAt(first), content: 'something else' },
    { type: 'replace-content', uuid: uuidAt(first), content: null },
  ]
  const edit = edits[kind]
  if (!edit) return
  const uuid = `edit-${script.edits++}`
  const parentUuid = stringAt(tree.at(-1), 'uuid') ?? null
  if (isFollowed && parentUuid !== null) script.tips.set(parentUuid, uuid)
  script.records.push(editRecord(edit, { uuid, parentUuid, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }))
}

const isValid = (view: View) => {
  for (const options of [{}, { thinking: 'strip-changed', changed: view.changed } as const]) {
    const { messages } = repairRequest(view.messages, options)
    if (view.messages.length > 0) expect(checkRequest(messages)).toEqual([])
    expect(repairRequest(messages)).toEqual({ messages, repairs: [] })
  }
}

const runs = { numRuns: 60 }

describe('over generated conversations', () => {
  test('the view holds the entries of the live window, and what was injected behind it', () => {
    fc.assert(
      fc.property(anySession, ({ records, truth }) => {
        const entries = entriesOf(records)
        const heads = entries.map(readHead)
        const inWindow = new Set(liveWindow(heads).order.map((row) => heads[row]?.uuid))
        const trailing = new Set(truth.live.trailing)
        const view = foldEntries(entries)
        const uuids = view.sources.flatMap((source) => source.uuids)
        expect(uuids.filter((uuid) => !inWindow.has(uuid) && !trailing.has(uuid))).toEqual([])
        expect(new Set(uuids).size).toBe(uuids.length)
        const assistants = truth.live.messages
        expect(view.messages.filter(({ role }) => role === 'assistant').length).toBe(assistants)
        const blocks = view.messages.flatMap(({ content }) => blocksOf(content))
        expect(blocks.filter(({ type }) => type === 'tool_use').length).toBe(truth.live.toolUses)
        expect(blocks.filter(({ type }) => type === 'tool_result').length).toBe(truth.live.toolResults)
      }),
      runs,
    )
  })

  test('any edits in any order, repeated, then repaired: a valid request, and every entry within reach', () => {
    fc.assert(
      fc.property(anySession, fc.array(anyChoice, { maxLength: 12 }), ({ records }, choices) => {
        const written = withEdits(records, choices)
        const given = JSON.stringify(written)
        const fold = createFold()
        for (const entry of entriesOf(written)) fold.add(entry)
        isValid(fold.view())
        expect(JSON.stringify(written)).toBe(given)
        for (const record of written) {
          const uuid = stringAt(record, 'uuid')
          if (uuid !== undefined) expect(fold.entry(uuid)?.record).toBe(record)
        }
      }),
      runs,
    )
  })

  test('entry by entry gives the same view at every step as all at once', () => {
    fc.assert(
      fc.property(anySession, fc.array(anyChoice, { maxLength: 12 }), fc.nat(6), ({ records }, choices, skip) => {
        const entries = entriesOf(withEdits(records, choices))
        const fold = createFold()
        for (const [at, entry] of entries.entries()) {
          fold.add(entry)
          const stride = Math.max(1, Math.floor(entries.length / 40))
          if (at % (skip + 1) === 0) fold.view()
          if (at % stride === 0 || at === entries.length - 1) {
            expect(wholeOf(fold.view())).toBe(wholeOf(foldEntries(entries.slice(0, at + 1))))
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('a view stays what it was when it was taken, whatever is added later', () => {
    fc.assert(
      fc.property(anySession, fc.array(anyChoice, { maxLength: 12 }), ({ records }, choices) => {
        const entries = entriesOf(withEdits(records, choices))
        const fold = createFold()
        const taken = entries.map((entry) => {
          fold.add(entry)
          return fold.view()
        })
        const stride = Math.max(1, Math.floor(entries.length / 20))
        for (const [at, view] of taken.entries()) {
          if (at % stride === 0) expect(wholeOf(view)).toBe(wholeOf(foldEntries(entries.slice(0, at + 1))))
        }
      }),
      { numRuns: 40 },
    )
  })

  test('whatever is done and then undone, the view is the very same bytes', () => {
    fc.assert(
      fc.property(anySession, fc.array(anyChoice, { minLength: 1, maxLength: 5 }), ({ records }, choices) => {
        const fold = createFold()
        const script: Script = { records: [...records], edits: 0, tips: new Map() }
        for (const entry of entriesOf(records)) fold.add(entry)
        const before = bytesOf(fold.view())
        const append = () => {
          for (const entry of entriesOf(script.records.slice(fed))) fold.add(entry)
          fed = script.records.length
        }
        let fed = records.length
        for (const choice of choices) addEdit(script, choice)
        append()
        const after = bytesOf(fold.view())
        const done = script.records.slice(records.length).map((record) => stringAt(record, 'uuid') ?? '')
        const undo = (uuid: string, name: string) => {
          const at = {
            uuid: name,
            parentUuid: stringAt(script.records.at(-1), 'uuid') ?? null,
            timestamp: '',
            sessionId: '',
          }
          script.records.push(editRecord({ type: 'undo', uuid }, at))
          append()
        }
        for (const uuid of done.toReversed()) undo(uuid, `undo-${uuid}`)
        expect(bytesOf(fold.view())).toBe(before)
        for (const uuid of done) undo(`undo-${uuid}`, `redo-${uuid}`)
        expect(bytesOf(fold.view())).toBe(after)
      }),
      runs,
    )
  })
})
