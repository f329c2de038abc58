// One agent of each SDK through the contract, over HTTP on this machine, and the figures of its page.
import { expect, test } from 'vitest'
import { anthropicAdapters } from './anthropic.ts'
import { type Adapter, runAdapterContract } from './contract.ts'
import { wrongFigures } from './figures.ts'
import { langChainAdapters } from './langchain.ts'
import { openaiAdapters } from './openai.ts'
import { openaiAgentsAdapters } from './openai-agents.ts'
import { responsesAdapter } from './openai-responses.ts'

const first = (page: string, [adapter]: readonly Adapter[]) => ({ page, adapter: adapter as Adapter })

test.each([
  first('anthropic-sdk.md', anthropicAdapters),
  first('langchain.md', langChainAdapters),
  first('openai.md', openaiAgentsAdapters),
  { page: 'openai.md', adapter: openaiAgentsAdapters[1] as Adapter },
  first('openai.md', openaiAdapters),
  { page: 'openai.md', adapter: responsesAdapter },
])('$page: $adapter.name goes on for 200 turns', { timeout: 600_000 }, async ({ page, adapter }) => {
  const { broken, managed, bare } = await runAdapterContract(adapter)
  expect(broken).toEqual([])
  expect(wrongFigures(page, adapter.name, managed)).toEqual([])
  expect(wrongFigures(page, `${adapter.name}, without Everlong`, bare)).toEqual([])
})
