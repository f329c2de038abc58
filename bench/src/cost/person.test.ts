import { agent, syntheticRepository, toolsOf } from '@everlong/simulator'
import type { Message } from 'everlong'
import { isToolUse } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { Person } from './person.ts'
import { shareOfQuestions, shareOfReturns } from './returns.ts'

const repository = syntheticRepository({ seed: 3, files: 60 })
const pathsAsked = (seed: number, count: number) => {
  const person = new Person(repository, seed)
  return Array.from({ length: count }, () => {
    person.asks()
    return person.subject
  }).filter((path) => path !== '')
}
const isQuestion = (words: string) => words.includes(', a question: ')

describe('a person', () => {
  test('comes back to files of earlier tasks about as often as in real sessions', () => {
    // Short enough that there are still files nobody has touched.
    const paths = Array.from({ length: 200 }, (_, seed) => pathsAsked(seed, 20))
    const returns = paths.flatMap((asked) => asked.map((path, at) => asked.indexOf(path) < at).slice(1))
    expect(Math.abs(returns.filter(Boolean).length / returns.length - shareOfReturns)).toBeLessThan(0.03)
  })

  test('says the rule once, and the reason for a file once', () => {
    const person = new Person(repository, 4)
    const all = Array.from({ length: 20 }, () => person.asks())
    const said = all.filter((words) => !isQuestion(words))
    expect(said.filter((words) => words.includes('For every task of today'))).toEqual([said[0]])
    const told = said.filter((words) => / note is [A-Z]{2}-\d{3}\./.test(words)).length
    const named = said.filter((words) => / note is that of task \d+\./.test(words)).length
    expect([told, named, told + named]).toEqual([new Set(pathsAsked(4, 20)).size, said.length - told, said.length])
  })

  test('asks about an earlier task in a fifth of the tasks, and every change has its own number', () => {
    const asked = Array.from({ length: 100 }, (_, seed) => {
      const person = new Person(repository, seed)
      return Array.from({ length: 33 }, () => person.asks())
    })
    const questions = asked.flat().filter(isQuestion)
    expect(Math.abs(questions.length / asked.flat().length - shareOfQuestions)).toBeLessThan(0.02)
    const numbers = asked.flat().map((words) => Number(/Task (\d+)/.exec(words)?.[1]))
    expect(numbers).toEqual(asked.flatMap(() => Array.from({ length: 33 }, (_, at) => at + 1)))
    const isAboutWish = (words: string, said: readonly string[]) => {
      const about = Number(/ in task (\d+)\?/.exec(words)?.[1])
      return about < Number(/Task (\d+)/.exec(words)?.[1]) && !isQuestion(said[about - 1] ?? '')
    }
    expect(asked.flatMap((said) => said.filter((words) => isQuestion(words) && !isAboutWish(words, said)))).toEqual([])
  })

  test('is content with an answer that has the line or the time, and with no other', () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 30; seed++) {
      const person = new Person(repository, seed)
      const tools = toolsOf(repository)
      const times: string[] = []
      const lines: string[] = []
      for (let task = 1; task <= 15; task++) {
        const words = person.asks()
        if (!person.isAsking) {
          person.sees(`\n   Duration  ${task}.25s`)
          person.isContentWith(tools.files)
          times[task] = `${task}.25s`
          const [symbol, path] = [/let (\w+) in/.exec(words)?.[1], person.subject]
          lines[task] = tools.files.get(path)?.split(`export function ${symbol}(`)[1]?.split('\n')[1]?.trim() ?? '?'
          continue
        }
        // Of a later run that was needed for nothing.
        person.sees('\n   Duration  99.99s')
        const about = Number(/ in task (\d+)\?/.exec(words)?.[1])
        const what = words.includes('which line') ? 'line' : 'run'
        const right = what === 'line' ? lines[about] : times[about]
        const answers = ['', 'I no longer know.', '99.99s', `It was: ${right}`]
        expect(answers.map((text) => person.isContentWith(tools.files, text))).toEqual([false, false, false, true])
        seen.add(what)
      }
    }
    expect([...seen].toSorted()).toEqual(['line', 'run'])
  })

  test('is not content with any answer to a question that nothing is known about', () => {
    const person = new Person(repository, 2)
    const tools = toolsOf(repository)
    const contents: boolean[] = []
    for (let task = 1; task <= 30; task++) {
      person.asks()
      if (person.isAsking)
        contents.push(person.isContentWith(tools.files, 'It took 1.25s, and the line is const kept = 1.'))
    }
    expect([contents.length > 0, contents.includes(true)]).toEqual([true, false])
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
