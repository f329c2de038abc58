// Records for testing a session store.
import type { JsonObject } from '../../core/message/json.ts'
import type { StoredRecord } from '../../core/ports/session-store.ts'

/** Valid JSON that storage systems tend to change or refuse. */
export function oddRecords(): readonly JsonObject[] {
  const large = `${'All work and no play. '.repeat(4_000)}\u0000 \ud800 "quoted" \\ end`
  const contents: readonly unknown[] = [
    'plain',
    '',
    'NUL \u0000, a lone surrogate \udc00, an emoji 🦎, a line separator \u2028',
    large,
    [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: large },
      { type: 'text', text: large },
    ],
    { nested: [[[[{ large, empty: {}, none: null }]]], []] },
    [0, -0.5, 1e300, 1.5e-9, Number.MAX_SAFE_INTEGER, true, false, null],
    `'; DROP TABLE entry; -- {"$ref":"blob"} \${hash} %s`,
  ]
  return [
    ...contents.map((content, at) => ({ type: 'user', uuid: `odd-${at}`, message: { role: 'user', content } })),
    { type: 'queue-operation', operation: 'enqueue', content: 'a record without a uuid' },
    { type: 'queue-operation', operation: 'dequeue' },
    JSON.parse(
      '{"type":"system","uuid":"odd-proto","__proto__":{"a":1},"constructor":2,"10":"ten","2":"two","":"empty"}',
    ),
    {},
  ]
}

/** Ids that no new session may have: paths, patterns, ids that are too long, ids that collide with files of other sessions. */
export const hostileIds: readonly string[] = [
  '',
  '.',
  '..',
  '../other',
  '/etc/passwd',
  'a/b',
  'a//b',
  'a/',
  'a/subagents/agent-1',
  'a\\b',
  '.hidden',
  '-rf',
  'x.jsonl',
  'x.JSONL',
  'x.jsonl.lock',
  'x.jsonl.lock.token.draft',
  'C:',
  'a b',
  'a%2Fb',
  'ä',
  '🦎',
  'x\u0000',
  'x\n',
  '\ud800',
  "'; DROP TABLE session; --",
  'x'.repeat(129),
  'x'.repeat(5_000),
]

/** A prompt, a call and its result, and an answer. */
export function toolTalk(prefix: string): readonly StoredRecord[] {
  const call = { type: 'tool_use', id: `toolu_${prefix}`, name: 'Read', input: { path: 'notes.md' } }
  const result = { type: 'tool_result', tool_use_id: `toolu_${prefix}`, content: 'The zeppelin is in the hangar.' }
  const lines = [
    ['u1', 'user', 'Where is the zeppelin?'],
    ['a1', 'assistant', [call]],
    ['u2', 'user', [result]],
    ['a2', 'assistant', [{ type: 'text', text: 'I found it.' }]],
  ] as const
  return lines.map(([name, role, content], at) => {
    const uuid = `${prefix}-${name}`
    const parentUuid = at === 0 ? null : `${prefix}-${lines[at - 1]?.[0]}`
    const timestamp = `2026-03-02T09:00:0${at}.000Z`
    return { id: uuid, record: { type: role, uuid, parentUuid, timestamp, message: { role, content } } }
  })
}
