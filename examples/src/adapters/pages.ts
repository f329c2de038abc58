// Every adapter with the page that describes it and the rows of its table there.
import { aiSdkAdapters } from './ai-sdk.ts'
import { anthropicAdapters } from './anthropic.ts'
import type { Adapter } from './contract.ts'
import { langChainAdapters } from './langchain.ts'
import { hasMastra, mastraAdapter } from './mastra.ts'
import { openaiAdapters } from './openai.ts'
import { openaiAgentsAdapters } from './openai-agents.ts'
import { responsesAdapter } from './openai-responses.ts'

export type Described = {
  readonly page: string
  readonly adapter: Adapter
  /** The row of the conversation with Everlong. */
  readonly row: string
  /** The row of the conversation without it. */
  readonly bareRow: string
}

const described = (page: string) => (adapter: Adapter) => ({
  page,
  adapter,
  row: adapter.name,
  bareRow: `${adapter.name}, without Everlong`,
})

export const describedAdapters: readonly Described[] = [
  ...anthropicAdapters.slice(0, 1).map(described('anthropic-sdk.md')),
  ...langChainAdapters.slice(0, 1).map(described('langchain.md')),
  ...openaiAgentsAdapters.slice(0, 2).map(described('openai.md')),
  ...openaiAdapters.slice(0, 1).map(described('openai.md')),
  described('openai.md')(responsesAdapter),
  ...aiSdkAdapters.map((adapter) => ({
    page: 'ai-sdk.md',
    adapter,
    row: adapter.name.replace('AI SDK, ', ''),
    bareRow: 'without Everlong',
  })),
  ...(hasMastra ? [{ page: 'mastra.md', adapter: mastraAdapter, row: 'processor', bareRow: 'without Everlong' }] : []),
]
