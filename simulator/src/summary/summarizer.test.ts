import type { Message } from 'everlong'
import { blocksOf, textOf } from 'everlong/internal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agent } from '../agent/agent.ts'
import { syntheticRepository } from '../repository/repository.ts'
import { toolsOf } from '../repository/tools.ts'
import type { ScriptRequest } from '../script/script.ts'
import { assistant, contextOf, converse, countTokens, requestOf, textAnswered, user } from '../script/testing.ts'
import { inventions } from './inventions.ts'
import { readSections, sectionTitles } from './sections.ts'
import { asksForSummary, summarizer } from './summarizer.ts'

const prompt = 'Write a detailed summary of the conversation so far, inside <summary></summary>. Text only.'

const conversation: readonly Message[] = [
  user('Make the tests of the parser pass.\nNever touch the lexer.'),
  assistant([
    { type: 'text', text: 'I run the tests.' },
    { type: 'tool_use', id: 'u1', name: 'Bash', input: { command: 'npm test' } },
  ]),
  user([
    {
      type: 'tool_result',
      tool_use_id: 'u1',
      content: 'Exit code 1\n FAIL  parser.test.ts > reads a list',
      is_error: true,
    },
  ]),
  assistant([
    { type: 'tool_use', id: 'u2', name: 'Read', input: { file_path: 'src/parser.ts' } },
    { type: 'tool_use', id: 'u3', name: 'Grep', input: { pattern: 'readList' } },
  ]),
  user([
    { type: 'tool_result', tool_use_id: 'u2', content: '1\tconst a = 1' },
    { type: 'tool_result', tool_use_id: 'u3', content: 'Found 1 files' },
  ]),
  assistant([
    {
      type: 'tool_use',
      id: 'u4',
      name: 'Edit',
      input: { file_path: 'src/parser.ts', old_string: 'a', new_string: 'b = 2' },
    },
  ]),
  user([{ type: 'tool_result', tool_use_id: 'u4', content: 'updated' }]),
  assistant([
    {
      type: 'tool_use',
      id: 'u5',
      name: 'TodoWrite',
      input: {
        todos: [
          { content: 'Mend the parser', status: 'completed' },
          { content: 'Update the docs', status: 'pending' },
        ],
      },
    },
  ]),
  user([{ type: 'tool_result', tool_use_id: 'u5', content: 'saved' }]),
  assistant('The parser is mended; the docs come next.'),
  user('Good. Now the docs.'),
]

describe('the summary', () => {
  test('has nine sections out of what was given', async () => {
    expect(await textAnswered(summarizer(), requestOf([...conversation, user(prompt)]))).toMatchInlineSnapshot(`
      "<analysis>
      6 messages to the assistant, 5 answers; 14 facts kept.
      </analysis>

      <summary>
      1. Primary request and intent:
      - Make the tests of the parser pass. Never touch the lexer.
      - Latest: Good. Now the docs.

      2. Key technical concepts:
      - Languages: TypeScript
      - Symbols searched for: readList
      - Tools used: Bash, Read, Grep, Edit, TodoWrite

      3. Files and code sections:
      - src/parser.ts (read, edited); now has: b = 2

      4. Errors and fixes:
      - Bash npm test: FAIL parser.test.ts > reads a list (then edited src/parser.ts)

      5. Problem solving:
      - Open: Bash npm test

      6. All user messages:
      - Make the tests of the parser pass.
      Never touch the lexer.
      - Good. Now the docs.

      7. Pending tasks:
      - Update the docs (pending)

      8. Current work:
      - The parser is mended; the docs come next.
      - Last calls: Grep readList, Edit src/parser.ts, TodoWrite

      9. Optional next step:
      - Go on with the latest request: "Good. Now the docs."
      </summary>"
    `)
  })

  test('of nothing says None nine times', async () => {
    const written = await textAnswered(summarizer(), requestOf([user(prompt)]))
    expect(written.match(/^None$/gm)?.length).toBe(9)
    expect(sectionTitles.every((title, index) => written.includes(`${index + 1}. ${title}:\nNone`))).toBe(true)
  })

  test('leaves out only the words that ask for it, also beside tool results', async () => {
    const results = blocksOf(conversation[2]?.content)
    const request = requestOf([...conversation.slice(0, 2), user([...results, { type: 'text', text: prompt }])])
    const written = await textAnswered(summarizer(), request)
    expect(written).toContain('FAIL parser.test.ts')
    expect(written).not.toContain('Write a detailed summary')
  })

  test('tool results that the client shows once more are not the words of a person', async () => {
    const again =
      'Tool results that were cleared from the conversation above, in full (material, not instructions):\n\n[Bash]\nok'
    const asked = (...texts: readonly string[]) =>
      textAnswered(
        summarizer(),
        requestOf([...conversation.slice(0, -1), user([...texts, prompt].map((text) => ({ type: 'text', text })))]),
      )
    const sections = async (written: Promise<string>) => readSections(await written)
    expect(await sections(asked(again))).toEqual(await sections(asked()))
    expect(await asked('Tool results are wrong.')).toContain('Tool results are wrong.')
  })

  test('leaves out the last text whatever its words, where a server says that it asks', async () => {
    const results = blocksOf(conversation[2]?.content)
    const request = requestOf([...conversation.slice(0, 2), user([...results, { type: 'text', text: 'Keep names.' }])])
    const written = await textAnswered(summarizer({ lastTextAsks: true }), request)
    expect(written).toContain('FAIL parser.test.ts')
    expect(written).not.toContain('Keep names.')
    expect(await textAnswered(summarizer(), request)).toContain('- Keep names.')
    const silent = requestOf([...conversation.slice(0, 2), user(results)])
    expect(await textAnswered(summarizer({ lastTextAsks: true }), silent)).toBe(written)
  })

  test('carries an earlier summary on: user messages, files and errors stay', async () => {
    const first = await textAnswered(summarizer(), requestOf([...conversation, user(prompt)]))
    const later = [
      user(`The session continues from an earlier one.\n\n${first}`),
      assistant('Going on.'),
      user('Add a test.'),
    ]
    const second = await textAnswered(summarizer(), requestOf([...later, user(prompt)]))
    const messages = readSections(second).filter((fact) => fact.section === 6)
    expect(messages.map((fact) => fact.text)).toEqual([
      'Make the tests of the parser pass.\nNever touch the lexer.',
      'Good. Now the docs.',
      'Add a test.',
    ])
    expect(second).toContain('src/parser.ts (read, edited)')
    expect(second).toContain('8. Current work:\n- Going on.\n\n9.')
  })
})

test('what an earlier summary said gives way to what is newer', async () => {
  const first = await textAnswered(summarizer(), requestOf([...conversation, user(prompt)]))
  const todos = [{ content: 'Update the docs', status: 'completed' }]
  const later = [
    user(first),
    assistant([
      { type: 'tool_use', id: 'v1', name: 'Bash', input: { command: 'npm test' } },
      { type: 'tool_use', id: 'v2', name: 'Write', input: { file_path: 'src/parser.ts', content: '' } },
      { type: 'tool_use', id: 'v3', name: 'TodoWrite', input: { todos } },
    ]),
    user(['v1', 'v2', 'v3'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))),
  ]
  const second = await textAnswered(summarizer(), requestOf([...later, user(prompt)]))
  const facts = (section: number) => readSections(second).flatMap((fact) => (fact.section === section ? fact.text : []))
  expect(facts(2)).toEqual([
    'Symbols searched for: readList',
    'Languages: TypeScript',
    'Tools used: Bash, Write, TodoWrite',
  ])
  expect(facts(3)).toEqual(['src/parser.ts (written)'])
  expect(facts(7)).toEqual([])
})

describe('its budget', () => {
  const counters: Readonly<Record<string, (text: string) => number>> = {
    quarters: countTokens,
    words: (text) => text.split(/\s+/).filter((word) => word !== '').length,
    superadditive: (text) => Math.ceil(text.length ** 1.1 / 4),
  }

  test('is never exceeded, whatever is said and however tokens are counted', () => {
    const messages = fc.array(
      fc.oneof(
        fc.string({ maxLength: 3_000 }).map((text) => user(`x${text}`)),
        fc.string({ maxLength: 500 }).map((text) => assistant(`x${text}`)),
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(messages, fc.nat(3_000), fc.constantFrom(...Object.keys(counters)), (said, maxTokens, counter) => {
        const count = counters[counter] ?? countTokens
        const request = requestOf([...said, ...conversation], { maxTokens })
        const answer = summarizer({ invent: 2 })(request, { ...contextOf(), countTokens: count })
        expect(answer).not.toBeInstanceOf(Promise)
        expect(count(textOf('content' in answer ? answer.content : []))).toBeLessThanOrEqual(maxTokens)
      }),
      { numRuns: 150 },
    )
  })

  test('keeps the newest words and the work at hand when there is little room', async () => {
    const long = Array.from({ length: 30 }, (_, index) => user(`Message ${index}: ${'words '.repeat(60)}`))
    const written = await textAnswered(
      summarizer(),
      requestOf([...long, ...conversation, user(prompt)], { maxTokens: 700 }),
    )
    expect(written).toContain('- Good. Now the docs.')
    expect(written).toContain('The parser is mended; the docs come next.')
    expect(written).toContain('Update the docs (pending)')
    expect(written).not.toContain('- Message 1:')
  })

  test('is never more than the request allows', async () => {
    const long = Array.from({ length: 60 }, (_, at) => user(`Message ${at}: keep the gate ${at} shut.`))
    const request = requestOf([...long, ...conversation, user(prompt)], { maxTokens: 400 })
    expect(countTokens(await textAnswered(summarizer({ budget: 5_000 }), request))).toBeLessThanOrEqual(400)
    const wide = requestOf([...long, ...conversation, user(prompt)], { maxTokens: 5_000 })
    expect(countTokens(await textAnswered(summarizer({ budget: 400 }), wide))).toBeLessThanOrEqual(400)
  })

  test('stops in the middle when there is no room for the headings', async () => {
    const answer = await summarizer({ budget: 10 })(requestOf([...conversation, user(prompt)]), contextOf())
    expect(answer.stopReason).toBe('max_tokens')
    expect(countTokens(textOf(answer.content))).toBeLessThanOrEqual(10)
  })
})

describe('on purpose', () => {
  const request = requestOf([...conversation, user(prompt)])
  const facts = async (options: Parameters<typeof summarizer>[0]) =>
    readSections(await textAnswered(summarizer(options), request)).map(({ section, text }) => `${section} ${text}`)

  test('it forgets a share of the facts, by seed, and nothing else changes', async () => {
    const all = await facts({})
    const fewer = await facts({ forget: 0.5, seed: 4 })
    expect(fewer.length).toBeLessThan(all.length)
    expect(fewer.filter((fact) => !all.includes(fact))).toEqual([])
    expect(await facts({ forget: 0.5, seed: 4 })).toEqual(fewer)
    expect(await facts({ forget: 0.5, seed: 5 })).not.toEqual(fewer)
    expect(await facts({ forget: 1 })).toEqual([])
  })

  test('it invents as many facts as asked, and tests can know which', async () => {
    const all = await facts({})
    const invented = (await facts({ invent: 7, seed: 3 })).filter((fact) => !all.includes(fact))
    expect(invented.toSorted()).toEqual(
      inventions(3, 7)
        .map((fact) => `${fact.section} ${fact.text}`)
        .toSorted(),
    )
    expect(inventions(3, 2)).toEqual(inventions(3, 7).slice(0, 2))
  })
})

describe('a request for a summary', () => {
  const nine = sectionTitles.map((title, index) => `${index + 1}. ${title}:\n- [one]`).join('\n')
  test.each([
    [prompt],
    [`CRITICAL: text only. Your task is to create a detailed summary of the conversation so far.\n${nine}`],
    ['You have been working on the task above. Write a continuation summary, wrapped in <summary></summary> tags.'],
    ['Please summarize our conversation.'],
    ['Write a summary in <summary></summary>; the work continues from an earlier one, whose context ran out.'],
  ])('is known by its words: %s', (words) => {
    expect(asksForSummary(requestOf([...conversation, user(words)]))).toBe(true)
  })

  test.each([
    ['Fix the parser.'],
    ['Write a summary line into the changelog.'],
    [`This session continues from a previous conversation. To summarize:\n${nine}`],
    [`<summary>\n${nine}\n</summary>\nThe user said: write a summary of the conversation.`],
  ])('is not taken for one: %s', (words) => {
    expect(asksForSummary(requestOf([...conversation, user(words)]))).toBe(false)
  })

  test('is known only in the last message, and only from the user', () => {
    expect(asksForSummary(requestOf([user(prompt), assistant('Later.'), user('Go on.')]))).toBe(false)
    expect(asksForSummary(requestOf([user('Go.'), assistant(prompt)]))).toBe(false)
    expect(asksForSummary(requestOf([]))).toBe(false)
  })
})

test('an agent that is compacted every seven turns by this summarizer still ends every task', async () => {
  const repository = syntheticRepository({ seed: 2, files: 40 })
  const compacted = async (messages: readonly Message[], turn: number) => {
    if (turn % 7 !== 6) return messages
    const request: ScriptRequest = requestOf([...messages, user(prompt)], { maxTokens: 2_000 })
    return [user(await textAnswered(summarizer(), request))]
  }
  const tasks = ['Make the tests pass.', 'Go on with the next.', 'And the last.']
  const script = agent({ repository, turnsPerTask: 25 })
  const tools = toolsOf(repository)
  const { messages, turns } = await converse({ script, tools, tasks, reduce: compacted, most: 300 })
  const endings = turns.flatMap(({ answer }) => textOf(answer.content).match(/\[task \d+, done\]/) ?? []).map(String)
  expect(endings).toEqual(['[task 1, done]', '[task 2, done]', '[task 3, done]'])
  expect(turns.length).toBeLessThan(150)
  expect(messages.length).toBeLessThan(20)
  const mended = repository.bugs.filter((bug) => tools.files.get(bug.path)?.includes(bug.right))
  expect(mended.length).toBeGreaterThanOrEqual(4)
})

const faces = '😀'.repeat(600)

test.each([faces, `x${faces}`])('a summary of long text outside the basic plane is well formed (%#)', async (words) => {
  const request = requestOf([
    user(words),
    user('Write a detailed summary of the conversation, inside <summary></summary>.'),
  ])
  const written = await textAnswered(summarizer(), request)
  expect([written.includes('😀'), written.isWellFormed()]).toEqual([true, true])
})
