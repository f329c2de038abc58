import type { Block, Message } from 'everlong'
import { describe, expect, test } from 'vitest'
import { syntheticRepository } from '../repository/repository.ts'
import { toolsOf } from '../repository/tools.ts'
import type { ToolDefinition } from '../script/script.ts'
import { agent } from './agent.ts'
import { answerInSight, lookupFor, openQuestion, type Question, questionText, tookIn } from './question.ts'
import { wishText } from './wish.ts'

const wish = { task: 4, path: 'src/a.ts', symbol: 'pickA', over: 104, reason: 'AB-123' } as const
const line: Question = { task: 9, about: 4, what: 'line' }
const run: Question = { task: 9, about: 4, what: 'run' }
const user = (...texts: readonly string[]): Message => ({
  role: 'user',
  content: texts.map((text) => ({ type: 'text', text })),
})
const called = (id: string, name: string, input: object, result: string): readonly Message[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name, input } as Block] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
]
const tools = toolsOf(syntheticRepository({ seed: 1, files: 5 })).definitions
const recall: ToolDefinition = { name: 'recall', description: '', input_schema: {} }
const tested = (id: string, took: string) =>
  called(id, 'Bash', { command: 'npm test -- src/a.test.ts' }, ` Duration  ${took}`)

describe('an open question', () => {
  test.each([line, run])('is read from its own words: $what', (question) => {
    expect(openQuestion([user(wishText(wish)), user(questionText(question))])).toEqual(question)
  })

  test('is the newest, and none once a newer wish is there', () => {
    const older = questionText({ ...line, task: 6 })
    expect(openQuestion([user(older), user(questionText(run))])).toEqual(run)
    expect(openQuestion([user(questionText(line)), user(wishText({ ...wish, task: 10 }))])).toBeUndefined()
  })

  test('is only what a person says, not what a tool returns or the agent says', () => {
    const words = questionText(line)
    const said: Message = { role: 'assistant', content: [{ type: 'text', text: words }] }
    expect(openQuestion([user('Go.'), said, ...called('toolu_t1_s0_0_0', 'Read', {}, words)])).toBeUndefined()
  })
})

describe('the answer', () => {
  test('is the time of the run in that task, not of another task or another command', () => {
    const other = called('toolu_t4_s1_1_0', 'Bash', { command: 'npm test' }, ' Duration  1.00s')
    const messages = [...other, ...tested('toolu_t4_s6_2_0', '7.31s'), ...tested('toolu_t5_s6_3_0', '9.99s')]
    expect(answerInSight(messages, run)).toBe('7.31s')
    expect(answerInSight(other, run)).toBeUndefined()
  })

  test('is what recall has read by the id of that run', () => {
    const read = called('toolu_t9_s0_8_0', 'recall', { read: 'toolu_t4_s6_2_0' }, 'x\n Duration  7.31s')
    expect(answerInSight(read, run)).toBe('7.31s')
    expect(answerInSight(called('toolu_t9_s0_8_0', 'recall', { query: 'x' }, ' Duration  7.31s'), run)).toBeUndefined()
  })

  test('is the line with the number of that wish, as long as the wish is there', () => {
    const shown = user('     7\t  const kept = all.filter((one) => one.version > 104) // AB-123 XY-999')
    const answer = 'const kept = all.filter((one) => one.version > 104) // AB-123 XY-999'
    expect(answerInSight([user(wishText(wish)), shown], line)).toBe(answer)
    expect(answerInSight([shown], line)).toBeUndefined()
    expect(answerInSight([user(wishText(wish)), user('one.version > 105)')], line)).toBeUndefined()
  })
})

describe('looking it up', () => {
  test('a line: the file is read again, once', () => {
    const known = [user(wishText(wish)), user(questionText(line))]
    const reading = { name: 'Read', input: { file_path: 'src/a.ts' } }
    expect(lookupFor(known, line, tools)).toEqual(reading)
    const read = called('toolu_t9_s0_1_0', 'Read', reading.input, 'nothing')
    expect(lookupFor([...known, ...read], line, tools)).toBeUndefined()
  })

  test('a test run: nothing without recall', () => {
    const gone = tested('toolu_t4_s6_2_0', '').slice(0, 1)
    expect(lookupFor([user(wishText(wish)), ...gone], run, tools)).toBeUndefined()
  })

  test('a test run with recall: by its id where the call is there, else by a search and what that finds', () => {
    const offered = [...tools, recall]
    const gone = tested('toolu_t4_s6_2_0', '').slice(0, 1)
    expect(lookupFor([user(wishText(wish)), ...gone], run, offered)?.input).toEqual({ read: 'toolu_t4_s6_2_0' })
    const query = { query: 'npm test -- src/a.test.ts' }
    const known = [user(wishText(wish))]
    expect(lookupFor(known, run, offered)?.input).toEqual(query)
    const found = called('toolu_t9_s0_1_0', 'recall', query, 'toolu_t3_s6_1_0 and toolu_t4_s6_2_0')
    expect(lookupFor([...known, ...found], run, offered)?.input).toEqual({ read: 'toolu_t4_s6_2_0' })
  })

  test('a wish that is gone is searched for first', () => {
    expect(lookupFor([], line, [...tools, recall])?.input).toEqual({ query: 'Task 4: let keep versions' })
    expect(lookupFor([], line, tools)).toBeUndefined()
  })
})

describe('an agent that works by sight', () => {
  const repository = syntheticRepository({ seed: 3, files: 20 })
  const script = agent({ repository, seed: 3, needs: 'sight' })
  const context = { turn: 40, random: () => 0.5, countTokens: () => 0 }
  const ask = async (messages: readonly Message[], offered: readonly ToolDefinition[]) =>
    (await script({ model: 'any', maxTokens: 1_000, system: '', tools: offered, messages }, context)).content

  test('answers from the request, looks it up, or says that it does not know', async () => {
    const done: Message = { role: 'assistant', content: [{ type: 'text', text: 'Finished. [task 4, done]' }] }
    const said = [...tested('toolu_t4_s6_2_0', '7.31s'), done]
    const asked = user(questionText(run))
    expect(await ask([user(wishText(wish)), ...said, asked], tools)).toMatchObject([
      { text: 'It was: 7.31s [task 5, done]' },
    ])
    const gone = [user(wishText(wish)), asked]
    expect(await ask(gone, [...tools, recall])).toMatchObject([{ type: 'tool_use', name: 'recall' }])
    expect(await ask(gone, tools)).toMatchObject([{ text: 'I no longer know. [task 1, done]' }])
  })

  test('gives up after a few searches', async () => {
    const query = { query: 'npm test -- src/a.test.ts' }
    const tries = [0, 1, 2, 3].flatMap((step) =>
      called(`toolu_t9_s${step}_1_0`, 'recall', query, `toolu_t4_s${step}_2_0`),
    )
    expect(await ask([user(wishText(wish)), user(questionText(run)), ...tries], [...tools, recall])).toMatchObject([
      { type: 'text' },
    ])
  })

  test('every test run takes its own time', () => {
    const { run: call } = toolsOf(repository)
    const times = Array.from({ length: 20 }, () => tookIn(call('Bash', { command: 'npm test' }).content))
    expect(new Set(times.flat()).size).toBe(20)
  })
})
