import { describe, expect, test } from 'vitest'
import {
  type JsonObject,
  type SessionBuilder,
  session,
  textBlock,
  thinkingBlock,
  toolUseBlock,
} from '../../../testing/index.ts'
import { blocksOf } from '../../message/message.ts'
import { shapeOf } from '../../message/shape.ts'
import { checkRequest } from '../../request/check-request.ts'
import { repairRequest } from '../../request/repair.ts'
import { type Edit, editRecord, readEdit } from '../format/edits.ts'
import type { Entry } from '../format/entry.ts'
import { createFold, foldEntries, type View } from './fold.ts'

const entriesOf = (records: readonly JsonObject[]): readonly Entry[] =>
  records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))

const viewOf = ({ records }: { readonly records: readonly JsonObject[] }): View => foldEntries(entriesOf(records))
const bytesOf = ({ messages, sources }: View) => JSON.stringify({ messages, sources })
const contentsOf = ({ messages }: View) => messages.map(({ content }) => content)

/** Adds an edit after the last line. The next line has it as its parent. */
function edit(built: SessionBuilder, change: Edit, uuid: string): SessionBuilder {
  const at = { uuid, parentUuid: built.last, timestamp: '2026-03-02T10:00:00.000Z', sessionId: built.sessionId }
  return built.raw(editRecord(change, at)).from(uuid)
}

describe('an edit', () => {
  test('is stored as a system record in the chain, and read back', () => {
    const change: Edit = { type: 'drop-range', from: 'a', to: 'b', marker: 'a detour', mechanism: 'snip' }
    const record = editRecord(change, { uuid: 'e1', parentUuid: 'a9', timestamp: 'T', sessionId: 's' })
    expect(record).toEqual({
      parentUuid: 'a9',
      isSidechain: false,
      sessionId: 's',
      type: 'system',
      subtype: 'everlong_edit',
      content: 'Context edited: drop-range',
      level: 'info',
      isMeta: false,
      everlong: { edit: change },
      timestamp: 'T',
      uuid: 'e1',
    })
    expect(readEdit(record)).toEqual(change)
  })

  test('that nobody here knows, or that lacks what it needs, is none', () => {
    const of = (given: unknown) => readEdit({ type: 'system', subtype: 'everlong_edit', everlong: { edit: given } })
    expect([{ type: 'transpose' }, { type: 'pin' }, { type: 'toString' }, null, 'x'].map(of)).toEqual(
      Array(5).fill(undefined),
    )
  })

  test('of Claude Code’s own micro-compaction is read as one of ours', () => {
    const microcompactMetadata = { compactedToolIds: ['t1'], clearedAttachmentUUIDs: ['x'] }
    expect(readEdit({ type: 'system', subtype: 'microcompact_boundary', microcompactMetadata })).toEqual({
      type: 'clear-results',
      toolUseIds: ['t1'],
      attachments: ['x'],
      mechanism: 'microcompact_boundary',
    })
  })
})

describe('the fold', () => {
  test('makes one message of the pieces of an answer and one of what comes back, results first', () => {
    const built = session()
      .user('look')
      .assistant([thinkingBlock('two files'), textBlock('looking')], { messageId: 'whole' })
      .toolUse('t1', 'Read', {}, { messageId: 'whole', uuid: 'call1' })
      .toolUse('t2', 'Read', {}, { messageId: 'whole', uuid: 'call2' })
      .toolResult('t1', 'one', { parent: 'call1', uuid: 'result1' })
      .attachment('task_reminder', { content: 'two tasks' })
      .toolResult('t2', 'two', { parent: 'call2', uuid: 'result2' })
      .user('and be quick')
      .assistant('done')
    const view = viewOf(built)
    expect(shapeOf(view.messages)).toBe('u a[th t tu2] u[tr2 t] a')
    expect(view.sources.map(({ uuids }) => uuids)).toEqual([
      ['u1'],
      ['a1', 'a2', 'call1', 'call2'],
      ['result1', 'result2', 'u2'],
      ['a3'],
    ])
    expect(checkRequest(view.messages)).toEqual([])
  })

  // claude-code layouts since 2.1: each result is written right after its call, in the middle of the answer.
  test('puts an answer together whose results were written between its pieces', () => {
    const built = session()
      .user('look')
      .toolUse('t1', 'Read', {}, { messageId: 'whole', uuid: 'call1' })
      .toolResult('t1', 'one')
      .toolUse('t2', 'Read', {}, { messageId: 'whole', uuid: 'call2' })
      .toolResult('t2', 'two')
      .assistant('done')
    expect(shapeOf(viewOf(built).messages)).toBe('u a[tu2] u[tr2] a')
  })

  test('does not move what a person said out of the middle of answers that share an id', () => {
    const built = session()
      .user('one')
      .assistant('1', { messageId: 'same' })
      .user('two')
      .assistant('2', { messageId: 'same' })
    expect(contentsOf(viewOf(built))).toEqual(['one', [textBlock('1')], 'two', [textBlock('2')]])
  })

  test('shows no system reminder instead of a range, and cuts no character in half', () => {
    const shown = (change: Edit) => contentsOf(viewOf(edit(session().user('one').assistant('1'), change, 'e1')))
    const range = { from: 'u1', to: 'a1' }
    const text = `<system-reminder>${'x'.repeat(59_982)}😀`
    expect(shown({ type: 'replace-range', ...range, text })).toEqual([`&lt;system-reminder>${'x'.repeat(59_982)}`])
    const marker = `<system-reminder>${'x'.repeat(279)}😀`
    expect(shown({ type: 'drop-range', ...range, marker })).toEqual([`&lt;system-reminder>${'x'.repeat(279)}`])
  })

  test('gives attachments as context with a title, and typed prompts among them as what they are', () => {
    const built = session()
      .user('go')
      .attachment('file', { content: 'text of the file' })
      .attachment('todo', { content: 'one task' })
      .attachment('queued_command', { prompt: 'and hurry' })
    expect(contentsOf(viewOf(built))).toEqual([
      [
        textBlock('go'),
        textBlock(
          '<system-reminder>\nContext that may or may not be relevant:\n\n# file\ntext of the file\n\n# todo\none task\n</system-reminder>',
        ),
        textBlock('and hurry'),
      ],
    ])
  })

  test('shows a compaction at once: boundary, summary, what was kept, what followed', () => {
    const compacted = session()
      .user('old')
      .assistant('old')
      .user('kept question')
      .assistant('kept answer')
      .boundary({ kept: ['u2', 'a2'] })
      .summary('so far')
    expect(viewOf(compacted).sources.map(({ uuids }) => uuids)).toEqual([['s1', 'u2'], ['a2']])
    expect(viewOf(compacted.user('new')).sources.map(({ uuids }) => uuids)).toEqual([['s1', 'u2'], ['a2'], ['u3']])
  })

  test('takes the usage of the piece that knows the whole output', () => {
    const built = session()
      .user('go')
      .assistant([textBlock('a')], { messageId: 'whole', tokens: { output: 1 } })
      .assistant([textBlock('b')], { messageId: 'whole', tokens: { output: 90 } })
    expect(viewOf(built).messages[1]?.usage?.output).toBe(90)
  })

  test('of nothing is empty', () => {
    expect(foldEntries([])).toEqual({
      messages: [],
      sources: [],
      edits: [],
      pins: [],
      trusted: undefined,
      reduced: undefined,
      changed: new Set(),
    })
  })
})

describe('clearing', () => {
  const base = () =>
    session()
      .user('look')
      .assistant([thinkingBlock('hm'), toolUseBlock('t1', 'Write', { path: 'a.ts', content: 'x'.repeat(300) })])
      .toolResult('t1', 'long text')
      .assistant('done')

  test('a result leaves its place and a word; with recall, the way back', () => {
    const cleared = edit(base(), { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
    expect(contentsOf(viewOf(cleared))[2]).toMatchObject([{ content: '[Old tool result content cleared]' }])
    expect(viewOf(cleared).sources[2]?.edits).toEqual(['e1'])
    const recalled = edit(base(), { type: 'clear-results', toolUseIds: ['t1'], recall: true }, 'e1')
    expect(contentsOf(viewOf(recalled))[2]).toMatchObject([
      { content: '[Old tool result content cleared] Recall it by its id: t1' },
    ])
  })

  test('a result leaves the stub that its edit stored, and none if there is not one for each result', () => {
    const shown = (change: object) =>
      contentsOf(viewOf(edit(base(), { type: 'clear-results', toolUseIds: ['t1'], ...change }, 'e1')))[2]
    const stub = 'Bash(npm test): exit 1'
    expect(shown({ stubs: [stub] })).toMatchObject([{ content: `[Old tool result content cleared] ${stub}` }])
    expect(shown({ stubs: [stub], recall: true })).toMatchObject([
      { content: `[Old tool result content cleared] ${stub}. Recall it by its id: t1` },
    ])
    const bare = [{ content: '[Old tool result content cleared]' }]
    expect(shown({ stubs: [''] })).toMatchObject(bare)
    expect(shown({ stubs: [stub, 'of another'] })).toMatchObject(bare)
    expect(shown({ stubs: [7] })).toMatchObject(bare)
  })

  test('each result gets its own stub, and the newest edit decides', () => {
    const built = session()
      .user('go')
      .assistant([toolUseBlock('t1', 'Bash'), toolUseBlock('t2', 'Bash')])
      .toolResult('t1', 'one')
      .toolResult('t2', 'two')
    const both = edit(built, { type: 'clear-results', toolUseIds: ['t2', 't1'], stubs: ['second', 'first'] }, 'e1')
    const texts = (view: ReturnType<typeof viewOf>) => blocksOf(contentsOf(view)[2]).map(({ content }) => content)
    expect(texts(viewOf(both))).toEqual([
      '[Old tool result content cleared] first',
      '[Old tool result content cleared] second',
    ])
    const again = edit(both, { type: 'clear-results', toolUseIds: ['t1'] }, 'e2')
    expect(texts(viewOf(again))).toEqual([
      '[Old tool result content cleared]',
      '[Old tool result content cleared] second',
    ])
  })

  test('of two edits the newer decides, also when the older one comes back last', () => {
    const steps: readonly (readonly [Edit, string])[] = [
      [{ type: 'pin', uuid: 'u1' }, 'e1'],
      [{ type: 'unpin', uuid: 'u1' }, 'e2'],
      [{ type: 'undo', uuid: 'e1' }, 'e3'],
      [{ type: 'undo', uuid: 'e3' }, 'e4'],
    ]
    const { records } = steps.reduce((built, [change, uuid]) => edit(built, change, uuid), base())
    const fold = createFold()
    const pins = entriesOf(records).map((entry) => {
      fold.add(entry)
      return fold.view().pins
    })
    expect(pins.slice(-4)).toEqual([['u1'], [], [], []])
    expect(foldEntries(entriesOf(records)).pins).toEqual([])
  })

  test('an input leaves what is short: the path, not the text', () => {
    const cleared = edit(base(), { type: 'clear-inputs', toolUseIds: ['t1'] }, 'e1')
    expect(contentsOf(viewOf(cleared))[1]?.[1]).toMatchObject({
      input: { path: 'a.ts', content: '[Old tool input cleared]' },
    })
  })

  test('thinking takes what was there, and leaves what is said after the edit', () => {
    const cleared = edit(base(), { type: 'clear-thinking' }, 'e1')
      .user('more')
      .assistant([thinkingBlock('again'), textBlock('yes')])
    expect(shapeOf(viewOf(cleared).messages)).toBe('u a[tu] u[tr] a u a[th t]')
  })

  test('thinking takes all of an answer, also when the edit names a piece in its middle', () => {
    const built = session()
      .user('go')
      .assistant([thinkingBlock('a'), textBlock('x'), thinkingBlock('b'), textBlock('y')])
      .user('more')
      .assistant([thinkingBlock('c'), textBlock('z')])
    expect(shapeOf(viewOf(edit(built, { type: 'clear-thinking', before: 'a3' }, 'e1')).messages)).toBe(
      'u a[t2] u a[th t]',
    )
  })

  test('attachments leaves a word', () => {
    const built = session().user('go').attachment('memory', { content: 'old rules' })
    const cleared = edit(built, { type: 'clear-results', toolUseIds: [], attachments: ['t1'] }, 'e1')
    expect(JSON.stringify(contentsOf(viewOf(cleared)))).toContain('# memory\\n[Old context cleared]')
  })

  test('stops at a pin', () => {
    const pinned = edit(base(), { type: 'pin', uuid: 'r1' }, 'p1')
    const cleared = edit(pinned, { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
    expect(contentsOf(viewOf(cleared))[2]).toMatchObject([{ content: 'long text' }])
    expect(viewOf(cleared)).toMatchObject({ pins: ['r1'] })
    const unpinned = edit(cleared, { type: 'unpin', uuid: 'r1' }, 'p2')
    expect(contentsOf(viewOf(unpinned))[2]).toMatchObject([{ content: '[Old tool result content cleared]' }])
  })
})

describe('ranges', () => {
  const base = () =>
    session()
      .user('first')
      .toolUse('t1', 'Read', {})
      .toolResult('t1', 'one')
      .assistant('done')
      .user('second')
      .assistant('yes')

  test('that are dropped leave one line', () => {
    const snipped = edit(base(), { type: 'drop-range', from: 'a1', to: 'a2', marker: '[a detour\nwas here]' }, 'e1')
    const view = viewOf(snipped)
    expect(contentsOf(view)).toEqual([
      [textBlock('first'), textBlock('[a detour was here]'), textBlock('second')],
      [textBlock('yes')],
    ])
    expect(view.sources[0]).toMatchObject({ uuids: ['u1', 'a1', 'r1', 'a2', 'u2'], edits: ['e1'] })
  })

  test('that are replaced show their summary, and the newest of two shows where both cover', () => {
    const one = edit(base(), { type: 'replace-range', from: 'a1', to: 'r1', text: 'read a file' }, 'e1')
    expect(viewOf(one).messages.map(({ origin }) => origin)).toEqual(['summary', 'assistant', 'human', 'assistant'])
    const two = edit(one, { type: 'replace-range', from: 'u1', to: 'u2', text: 'all of it' }, 'e2')
    expect(contentsOf(viewOf(two))).toEqual(['all of it', [textBlock('yes')]])
    const back = edit(two, { type: 'undo', uuid: 'e2' }, 'x1')
    expect(bytesOf(viewOf(back))).toBe(bytesOf(viewOf(one)))
  })

  test('leave a pinned round standing, call and result', () => {
    const pinned = edit(base(), { type: 'pin', uuid: 'r1' }, 'p1')
    const snipped = edit(pinned, { type: 'drop-range', from: 'u1', to: 'a3', marker: '[gone]' }, 'e1')
    expect(shapeOf(viewOf(snipped).messages)).toBe('u a[tu] u[tr]')
  })

  test('stay dropped where a later compaction kept a part of them', () => {
    const snipped = edit(base(), { type: 'drop-range', from: 'a2', to: 'u2', marker: '[gone]' }, 'e1')
    const compacted = snipped.boundary({ kept: ['u2', 'a3'] }).summary('so far')
    expect(contentsOf(viewOf(compacted))).toEqual([[textBlock('so far'), textBlock('[gone]')], [textBlock('yes')]])
  })
})

describe('undo', () => {
  const talk = () =>
    session()
      .user('first')
      .assistant([toolUseBlock('t1', 'Read'), toolUseBlock('t2', 'Read')], { messageId: 'whole' })
      .toolResult('t1', 'one')
      .toolResult('t2', 'two')
      .assistant('done')

  test('gives back the very same bytes, and undo of undo the others', () => {
    const plain = bytesOf(viewOf(talk()))
    const cleared = edit(talk(), { type: 'clear-results', toolUseIds: ['t1', 't2'] }, 'e1')
    const edited = bytesOf(viewOf(cleared))
    const undone = edit(cleared, { type: 'undo', uuid: 'e1' }, 'x1')
    expect(bytesOf(viewOf(undone))).toBe(plain)
    const redone = edit(undone, { type: 'undo', uuid: 'x1' }, 'x2')
    expect(bytesOf(viewOf(redone))).toBe(edited)
    expect(edited).not.toBe(plain)
  })

  // opencode#32368, hermes-agent#81130: an undo that does not restore what the compaction removed.
  test.each([
    ['nothing kept', []],
    ['the last answer kept', ['a3']],
  ])('of a compaction gives the view before it (%s)', (_, kept) => {
    const before = bytesOf(viewOf(talk()))
    const compacted = talk().boundary({ kept }).summary('so far').attachment('file', { content: 'put back' })
    const after = bytesOf(viewOf(compacted))
    const undone = edit(compacted, { type: 'undo', uuid: 'b1' }, 'x1')
    expect(bytesOf(viewOf(undone))).toBe(before)
    const redone = edit(undone, { type: 'undo', uuid: 'x1' }, 'x2')
    expect(bytesOf(viewOf(redone))).toBe(after)
    expect(after).not.toBe(before)
  })

  test('of a compaction puts what was said since on top', () => {
    const compacted = talk().boundary({}).summary('so far').user('next').assistant('sure')
    const undone = viewOf(edit(compacted, { type: 'undo', uuid: 'b1' }, 'x1'))
    expect(shapeOf(undone.messages)).toBe('u a[tu2] u[tr2] a u a')
    expect(undone.changed).toEqual(new Set([5]))
    expect(undone.trusted).toEqual(
      new Map([
        [1, 0],
        [3, 0],
      ]),
    )
  })

  test('of what no answer has seen gives back the figures that were reported before it', () => {
    const all = new Map([
      [1, 0],
      [3, 0],
    ])
    const compacted = talk().boundary({}).summary('so far')
    expect(viewOf(compacted).trusted).toEqual(new Map())
    const undone = edit(compacted, { type: 'undo', uuid: 'b1' }, 'x1')
    expect(viewOf(undone).trusted).toEqual(all)
    const cleared = edit(talk(), { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
    expect(viewOf(cleared).trusted).toEqual(new Map([[1, 0]]))
    expect(viewOf(edit(cleared, { type: 'undo', uuid: 'e1' }, 'x1')).trusted).toEqual(all)
    const seen = edit(talk(), { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
      .user('next')
      .assistant('sure')
    expect(viewOf(edit(seen, { type: 'undo', uuid: 'e1' }, 'x1')).trusted).toEqual(all)
  })

  test('of an edit that says what it freed: the answers given meanwhile reported so much less', () => {
    const edited = edit(talk(), { type: 'clear-results', toolUseIds: ['t1'], freed: 70 }, 'e1')
    expect(viewOf(edited).trusted).toEqual(
      new Map([
        [1, 0],
        [3, 70],
      ]),
    )
    const undone = edit(edited.user('next').assistant('sure'), { type: 'undo', uuid: 'e1' }, 'x1')
    expect(viewOf(undone).trusted).toEqual(
      new Map([
        [1, 0],
        [3, 0],
        [5, -70],
      ]),
    )
    // Restored: an answer given without it saw 70 fewer tokens removed; an answer given with it saw the same view.
    const again = edit(undone.user('more').assistant('yes'), { type: 'undo', uuid: 'x1' }, 'x2')
    expect(viewOf(again).trusted?.get(3)).toBe(70)
    expect(viewOf(again).trusted?.get(1)).toBe(0)
    for (const answer of [5, 7]) expect(viewOf(again).trusted?.get(answer)).not.toBe(0)
  })

  test('what the server left out is forgotten with the compaction after it, and not with one that was undone', () => {
    const left: Edit = { type: 'server-cleared', toolUses: 1, thinkingTurns: 0, tokens: 70 }
    const typesOf = (built: SessionBuilder) => viewOf(built).edits.map((one) => one.edit.type)
    const cleared = edit(talk(), left, 'e1')
    expect(typesOf(cleared)).toEqual(['server-cleared'])
    const compacted = edit(talk(), left, 'e1').boundary({}).summary('so far').user('next').assistant('sure')
    expect(typesOf(compacted)).toEqual([])
    const undone = edit(edit(talk(), left, 'e1').boundary({}).summary('so far'), { type: 'undo', uuid: 'b1' }, 'x1')
    expect(typesOf(undone)).toEqual(['server-cleared'])
  })

  test('of nothing that is there changes nothing', () => {
    expect(bytesOf(viewOf(edit(talk(), { type: 'undo', uuid: 'never' }, 'x1')))).toBe(bytesOf(viewOf(talk())))
  })
})

describe('rewind', () => {
  const first = () => session().user('one').assistant('1')
  const second = (built: SessionBuilder) => built.user('two').assistant('2')

  test('gives the view as it was, continues from there, and can be undone', () => {
    const whole = second(first())
    const all = bytesOf(viewOf(whole))
    const back = edit(whole, { type: 'rewind', to: 'a1' }, 'w1')
    expect(bytesOf(viewOf(back))).toBe(bytesOf(viewOf(first())))
    const undone = edit(back, { type: 'undo', uuid: 'w1' }, 'x1')
    expect(bytesOf(viewOf(undone))).toBe(all)
    const on = edit(second(first()), { type: 'rewind', to: 'a1' }, 'w1').user('three')
    expect(contentsOf(viewOf(on))).toEqual(['one', [textBlock('1')], 'three'])
  })

  test('takes the edits made since with it, and the compactions', () => {
    const edited = edit(second(first()), { type: 'drop-range', from: 'u1', to: 'a1', marker: '[gone]' }, 'e1')
    const compacted = edited
      .boundary({ kept: ['a2'] })
      .summary('so far')
      .user('three')
    const back = edit(compacted, { type: 'rewind', to: 'a2' }, 'w1')
    expect(bytesOf(viewOf(back))).toBe(bytesOf(viewOf(second(first()))))
    expect(viewOf(back)).toMatchObject({ trusted: undefined, changed: new Set() })
  })
})

describe('bound thinking', () => {
  const talk = () =>
    session()
      .user('one')
      .assistant([thinkingBlock('a'), toolUseBlock('t1', 'Read')])
      .toolResult('t1', 'long')
      .assistant([thinkingBlock('b'), textBlock('done')])

  // No peer handles it: on models that bind thinking, an edit before the thinking makes the next request fail with status 400.
  test('is void after the place of an edit, in the answers from before it', () => {
    const edited = edit(talk(), { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
      .user('two')
      .assistant([thinkingBlock('c'), textBlock('sure')])
    const view = viewOf(edited)
    expect(view.changed).toEqual(new Set([3]))
    expect(view.trusted).toEqual(
      new Map([
        [1, 0],
        [5, 0],
      ]),
    )
    const { messages } = repairRequest(view.messages, { thinking: 'strip-changed', changed: view.changed })
    expect(shapeOf(messages)).toBe('u a[th tu] u[tr] a u a[th t]')
  })

  test('is whole again when the edit is undone before another answer was given', () => {
    const edited = edit(talk(), { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
    expect(viewOf(edit(edited, { type: 'undo', uuid: 'e1' }, 'x1')).changed).toEqual(new Set())
  })

  test('of kept messages is void: a summary comes before them', () => {
    const compacted = talk()
      .boundary({ kept: ['a3', 'a4'] })
      .summary('so far')
    expect(viewOf(compacted).changed).toEqual(new Set([1]))
  })

  // The API allows dropping thinking oldest first, newest last or all of it. There may be no gap, and none may come back.
  describe('that leaves by itself', () => {
    const thoughts = () => {
      const built = session()
      for (const turn of [1, 2, 3]) {
        built.user(`ask ${turn}`).assistant([thinkingBlock(`t${turn}`), { type: 'text', text: `answer ${turn}` }])
      }
      return built
    }

    test('from the middle voids what was thought behind it', () => {
      const edited = edit(thoughts(), { type: 'clear-thinking', after: 'u2', before: 'u3' }, 'e1')
      expect(viewOf(edited).changed).toEqual(new Set([3, 5]))
    })

    test('oldest first leaves the rest as it was', () => {
      expect(viewOf(edit(thoughts(), { type: 'clear-thinking', before: 'u2' }, 'e1')).changed).toEqual(new Set())
    })

    test('and comes back voids what was thought while it was gone', () => {
      const gone = edit(thoughts(), { type: 'clear-thinking', before: 'u2' }, 'e1')
      gone.user('ask 4').assistant([thinkingBlock('t4'), { type: 'text', text: 'answer 4' }])
      expect(viewOf(gone).changed).toEqual(new Set())
      expect(viewOf(edit(gone, { type: 'undo', uuid: 'e1' }, 'x1')).changed).toEqual(new Set([7]))
    })
  })
})

describe('what peers got wrong', () => {
  const talk = () => session().user('one').assistant('1').user('two').assistant('2')

  // pi#2608 and oh-my-pi#11515: messages that the first compaction kept are neither summarized nor kept by the second.
  test('messages kept by one compaction can be kept by the next', () => {
    const once = talk()
      .boundary({ kept: ['u2', 'a2'] })
      .summary('first')
      .user('three')
    const twice = once.boundary({ kept: ['a2', 'u3'] }).summary('second')
    expect(viewOf(twice).sources.map(({ uuids }) => uuids)).toEqual([['s2'], ['a2'], ['u3']])
    const undone = edit(twice, { type: 'undo', uuid: 'b2' }, 'x1')
    expect(viewOf(undone).sources.map(({ uuids }) => uuids)).toEqual([['s1', 'u2'], ['a2'], ['u3']])
    const all = edit(undone, { type: 'undo', uuid: 'b1' }, 'x2')
    expect(viewOf(all).sources.map(({ uuids }) => uuids)).toEqual([['u1'], ['a1'], ['u2'], ['a2'], ['u3']])
  })

  // LangChain's contextEditing changes the given messages, so an edit leaks into the stored ones.
  test('an edit never changes an entry', () => {
    const built = session()
      .user('go')
      .toolUse('t1', 'Read', { path: 'a'.repeat(300) })
      .toolResult('t1', 'long')
    edit(built, { type: 'clear-results', toolUseIds: ['t1'] }, 'e1')
    edit(built, { type: 'clear-inputs', toolUseIds: ['t1'] }, 'e2')
    const given = JSON.stringify(built.records)
    viewOf(built)
    expect(JSON.stringify(built.records)).toBe(given)
  })

  // Mastra's ToolCallFilter and agenc-core#2156: a window that slides rewrites earlier messages with every answer.
  test('what comes before an edit, and all that was folded, stays the same bytes while the conversation continues', () => {
    const edited = edit(talk(), { type: 'drop-range', from: 'u1', to: 'a1', marker: '[gone]' }, 'e1')
    const before = viewOf(edited.user('three')).messages
    const after = viewOf(edited.assistant('3').user('four').assistant('4')).messages
    expect(JSON.stringify(after.slice(0, before.length))).toBe(JSON.stringify(before))
  })

  // Roo-Code: an abandoned branch counts as visible, and its fallback removes messages that are not there.
  test('a range that names what is no longer in view changes nothing', () => {
    const compacted = talk().boundary({}).summary('so far').user('three')
    const plain = contentsOf(viewOf(compacted))
    const edited = edit(compacted, { type: 'drop-range', from: 'u1', to: 'a2', marker: '[gone]' }, 'e1')
    expect(contentsOf(viewOf(edited))).toEqual(plain)
  })
})

test('a range over more entries than a call can take arguments comes and goes', () => {
  const built = session()
  for (let turn = 0; turn < 70_000; turn++) built.user('x').assistant('y')
  const fold = createFold()
  for (const entry of entriesOf(built.records)) fold.add(entry)
  const before = fold.view().messages.length
  const at = { parentUuid: built.last, timestamp: '', sessionId: '' }
  const add = (change: Edit, uuid: string) => {
    for (const entry of entriesOf([editRecord(change, { ...at, uuid })])) fold.add(entry)
    return fold.view().messages.length
  }
  expect(add({ type: 'drop-range', from: 'a1', to: 'a69999', marker: '[gone]' }, 'e1')).toBe(2)
  expect(add({ type: 'undo', uuid: 'e1' }, 'x1')).toBe(before)
})

test('what an edit does not touch stays the very same message, with the very same source', () => {
  const built = session().user('go')
  for (const id of ['t1', 't2', 't3']) {
    built.assistant([textBlock(id), toolUseBlock(id, 'Bash')]).toolResult(id, `result of ${id}`)
  }
  built.assistant('done')
  const fold = createFold()
  for (const entry of entriesOf(built.records)) fold.add(entry)
  const before = fold.view()
  const all = built.records.length
  edit(built, { type: 'clear-results', toolUseIds: ['t1', 't3'] }, 'e1')
  for (const entry of entriesOf(built.records.slice(all))) fold.add(entry)
  const after = fold.view()
  const changed = (one: readonly unknown[], other: readonly unknown[]) =>
    one.flatMap((item, at) => (item === other[at] ? [] : [at]))
  expect(changed(before.messages, after.messages)).toEqual([2, 6])
  expect(changed(before.sources, after.sources)).toEqual([2, 6])
  expect(bytesOf(after)).toBe(bytesOf(viewOf(built)))
})

test('every entry can be had by its uuid, also when the view has no trace of it', () => {
  const fold = createFold()
  const built = session().user('old').assistant('old').boundary({}).summary('so far').user('new')
  for (const entry of entriesOf(built.records)) fold.add(entry)
  expect(fold.view().messages.length).toBe(1)
  expect(fold.entry('u1')?.record).toBe(built.records[0])
  expect(fold.entry('nowhere')).toBeUndefined()
})
