import { agent, syntheticRepository, toolsOf } from '@everlong/simulator'
import type { Message } from 'everlong'
import { isToolUse } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { Person } from './person.ts'
import { shareOfReturns } from './returns.ts'

const repository = syntheticRepository({ seed: 3, files: 60 })
const pathsAsked = (seed: number, count: number) => {
  const person = new Person(repository, seed)
  return Array.from({ length: count }, () => {
    person.asks()
    return person.subject
  })
}

describe('a person', () => {
  test('comes back to files of earlier tasks about as often as in real sessions', () => {
    // Short enough that there are still files nobody has touched.
    const paths = Array.from({ length: 200 }, (_, seed) => pathsAsked(seed, 20))
    const returns = paths.flatMap((asked) => asked.map((path, at) => asked.indexOf(path) < at).slice(1))
    expect(Math.abs(returns.filter(Boolean).length / returns.length - shareOfReturns)).toBeLessThan(0.03)
  })

  test('says the rule once, and the reason for a file once', () => {
    const person = new Person(repository, 4)
    const said = Array.from({ length: 20 }, () => person.asks())
    expect(said.filter((words) => words.includes('For every task of today'))).toEqual([said[0]])
    const told = said.filter((words) => / note is [A-Z]{2}-\d{3}\./.test(words)).length
    const named = said.filter((words) => / note is that of task \d+\./.test(words)).length
    expect([told, named, told + named]).toEqual([new Set(pathsAsked(4, 20)).size, 20 - told, 20])
  })

  test('asks the same of everybody', () => {
    expect(pathsAsked(5, 33)).toEqual(pathsAsked(5, 33))
  })

  test('is content with what was done as asked, and with nothing else', async () => {
    const person = new Person(repository, 6)
    const tools = toolsOf(repository)
    const text = person.asks()
    expect(person.isContentWith(tools.files)).toBe(false)
    const script = agent({ repository, seed: 6, needs: 'sight' })
    let messages: readonly Message[] = [{ role: 'user', content: [{ type: 'text', text }] }]
    const system = { model: 'any', maxTokens: 1_000, system: '', tools: tools.definitions }
    for (let turn = 0; turn < 12; turn++) {
      const { content } = await script({ ...system, messages }, { turn, random: Math.random, countTokens: () => 0 })
      const results = content.filter(isToolUse).map(({ id, name, input }) => {
        return { type: 'tool_result', tool_use_id: id, content: tools.run(name, input).content }
      })
      messages = [...messages, { role: 'assistant', content }, { role: 'user', content: results }]
    }
    expect(person.isContentWith(tools.files)).toBe(true)
    person.asks()
    expect(person.isContentWith(tools.files)).toBe(false)
  })
})
