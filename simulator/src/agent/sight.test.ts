import type { Message } from 'everlong'
import { blocksOf, isToolResult, isToolUse } from 'everlong/internal'
import { expect, test } from 'vitest'
import { syntheticRepository } from '../repository/repository.ts'
import { toolsOf } from '../repository/tools.ts'
import { converse, user } from '../script/testing.ts'
import { agent } from './agent.ts'
import { partInSight } from './sight.ts'
import { grantedEnding, ruleText, type Wish, wishText } from './wish.ts'

const repository = syntheticRepository({ seed: 11, files: 40 })
const [path = '', text = ''] = [...repository.files].find(([name]) => /^src\/\w+\/\w+\.ts$/.test(name)) ?? []
const [first = '', second = ''] = [...text.matchAll(/export function (\w+\d)\(/g)].map((found) => found[1] ?? '')

const sign = 'KX-482'
const reason = 'QD-77'
const wishes: readonly Wish[] = [
  { task: 1, path, symbol: first, over: 31, reason },
  { task: 2, path, symbol: second, over: 32, reason: { task: 1 } },
]
const tasks = wishes.map((wish, at) => (at === 0 ? `${ruleText(sign)} ${wishText(wish)}` : wishText(wish)))

type Reduce = (messages: readonly Message[]) => Promise<readonly Message[]>

async function work(reduce?: Reduce, rereads = 0) {
  const tools = toolsOf(repository)
  const script = agent({ repository, seed: 5, turnsPerTask: 9, needs: 'sight', rereads })
  const { messages, turns } = await converse({ script, tools, tasks, ...(reduce ? { reduce } : {}) })
  const isRead = (input: unknown) =>
    JSON.stringify(input) === JSON.stringify({ file_path: `${repository.root}/${path}` })
  const asked = turns.flatMap(({ answer }) => answer.content.filter(isToolUse)).filter(({ input }) => isRead(input))
  const file = tools.files.get(path) ?? ''
  const granted = wishes.map((wish) => file.includes(grantedEnding(wish, { reason, sign })))
  return { reads: asked.length, answers: turns.length, granted, messages }
}

/** Leaves the words and takes every result but the newest away. */
const forgetResults: Reduce = async (messages) =>
  messages.map((message, at) =>
    at < messages.length - 1 && blocksOf(message.content).some(isToolResult)
      ? user(blocksOf(message.content).map((block) => ({ ...block, content: '[cleared]' })))
      : message,
  )

/** Takes the first thing that a person said away. */
const forgetWords: Reduce = async (messages) => [user('Earlier words were lost.'), ...messages.slice(1)]

test('who keeps what was read changes another part of the file without reading it again', async () => {
  const { reads, answers, granted } = await work()
  expect({ reads, answers, granted }).toEqual({ reads: 1, answers: 17, granted: [true, true] })
})

test('who forgets what was read spends an answer on reading it again, and gets the same done', async () => {
  const { reads, answers, granted } = await work(forgetResults)
  expect({ reads, answers, granted }).toEqual({ reads: 2, answers: 18, granted: [true, true] })
})

test('an agent that looks twice reads again what it sees', async () => {
  const { reads, answers, granted } = await work(undefined, 1)
  expect({ reads, answers, granted }).toEqual({ reads: 2, answers: 18, granted: [true, true] })
})

test('a part that is taken away right before the change is read once more', async () => {
  let wasTaken = false
  const once: Reduce = async (messages) => {
    const last = messages.at(-1)
    if (
      wasTaken ||
      !last ||
      !partInSight(
        blocksOf(last.content).map((block) => String(block.content)),
        first,
      )
    )
      return messages
    wasTaken = true
    return [...messages.slice(0, -1), user(blocksOf(last.content).map((block) => ({ ...block, content: '[cleared]' })))]
  }
  const { reads, granted } = await work(once)
  expect({ wasTaken, reads, granted }).toEqual({ wasTaken: true, reads: 2, granted: [true, true] })
})

test('a rule and a reason that are out of sight leave the task undone', async () => {
  const { granted, messages } = await work(forgetWords)
  expect(granted).toEqual([false, false])
  expect(JSON.stringify(messages)).not.toContain(sign)
})

test('what a summary quotes is in sight', async () => {
  const quote: Reduce = async (messages) => [user(`Summary: "${tasks[0]}"`), ...messages.slice(1)]
  expect((await work(quote)).granted).toEqual([true, true])
})

test('the same seed gives the same work to the byte', async () => {
  const [once, again] = await Promise.all([work(forgetResults), work(forgetResults)])
  expect(JSON.stringify(again.messages)).toBe(JSON.stringify(once.messages))
})

test('a file restored raw or with numbered lines is in sight, a line that a search found is not', () => {
  const lines = [`export function ${first}(a) {`, '  const kept = a.filter((b) => b.version > 1)', '  return kept']
  const part = { signature: lines[0], line: lines[1] }
  const numbered = lines.map((line, at) => `${String(at + 7).padStart(6)}\t${line}`)
  const found = lines.map((line, at) => `${path}:${at + 7}:${line}`)
  const seen = [lines, numbered, found, lines.slice(0, 2)].map((some) => partInSight(['x', some.join('\n')], first))
  expect(seen).toEqual([part, part, undefined, undefined])
})
