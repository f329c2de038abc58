import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { main as aiSdkChat } from './ai-sdk-chat.ts'
import { main as anthropicTools } from './anthropic-tools.ts'
import { main as anyClient } from './any-client.ts'
import { main as compactMessages } from './compact-messages.ts'
import { main as host } from './host.ts'
import { main as langChainAgent } from './langchain-agent.ts'
import { main as openaiAgent } from './openai-agent.ts'
import { main as tenLines } from './ten-lines.ts'

async function said(main: (say: (line: string) => void) => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = []
  await main((line) => lines.push(line))
  return lines
}

test('the newcomer’s ten lines work as they stand', async () => {
  const [line] = await said(tenLines)
  expect(line).toMatch(/^prepared: ready; found again: [1-9]\d*; \d+ % left$/)
})

test('what a session prepared can be sent with the official SDK', async () => {
  const lines = await said(anyClient)
  expect(lines).toHaveLength(3)
  for (const line of lines) expect(line).toMatch(/^\d+ tokens in, \d+ in the context, \d+ % left$/)
})

test('a list of messages becomes a shorter one, and the rule is still there', async () => {
  const [sizes, rule] = await said(compactMessages)
  expect(rule).toBe('the rule is still there: true')
  const [, from = 0, to = 0] = /^40 messages became \d+; (\d+) tokens became (\d+)$/.exec(sizes ?? '') ?? []
  expect(Number(to)).toBeLessThan(Number(from) / 2)
})

test('a host with a tool goes on through compactions', async () => {
  const lines = await said(host)
  expect(lines.filter((line) => line.startsWith('day '))).toHaveLength(8)
  const sizes = lines.flatMap((line) =>
    [/^compacted: (\d+) → (\d+) tokens$/.exec(line)].filter((found) => found !== null),
  )
  expect(sizes.length).toBeGreaterThan(0)
  for (const [, before, after] of sizes) expect(Number(after)).toBeLessThan(Number(before) / 2)
})

test('the tool runner of the official SDK goes on through compactions', async () => {
  const lines = await said(anthropicTools)
  expect(lines.filter((line) => line.startsWith('compacted: ')).length).toBeGreaterThan(1)
  expect(lines.at(-1)).toMatch(/^13 replies, \d+ messages in the runner$/)
})

test('an agent of LangChain goes on through compactions', async () => {
  const counts = (await said(langChainAgent)).map((line) => Number(/: (\d+) messages/.exec(line)?.[1]))
  expect(counts).toHaveLength(10)
  expect(Math.max(...counts)).toBeLessThan(20)
})

test('a chat on the AI SDK goes on through compactions', async () => {
  const lines = await said(aiSdkChat)
  expect(lines.filter((line) => line.startsWith('day '))).toHaveLength(8)
  expect(lines.some((line) => line.startsWith('compacted: '))).toBe(true)
})

test('an agent of the OpenAI Agents SDK goes on through compactions', async () => {
  const counts = (await said(openaiAgent)).map((line) => Number(/: (\d+) items/.exec(line)?.[1]))
  expect(counts).toHaveLength(10)
  expect(Math.max(...counts)).toBeLessThan(20)
})

test('every example has at most 60 lines', () => {
  const folder = new URL('.', import.meta.url)
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))) {
    expect([name, readFileSync(new URL(name, folder), 'utf8').split('\n').length <= 61]).toEqual([name, true])
  }
})
