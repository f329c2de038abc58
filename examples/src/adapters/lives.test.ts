// Every adapter with the real packages: processes that end, two people at once, aborted calls.
import { expect, test } from 'vitest'
import { aiSdkAdapters } from './ai-sdk.ts'
import { anthropicAdapters } from './anthropic.ts'
import { langChainAdapters } from './langchain.ts'
import { runAbort, runLives } from './lives.ts'
import { hasMastra, mastraAdapter } from './mastra.ts'
import { openaiAdapters } from './openai.ts'
import { openaiAgentsAdapters } from './openai-agents.ts'
import { responsesAdapter } from './openai-responses.ts'

const adapters = [
  ...anthropicAdapters.map((adapter) => ({ sdk: 'Anthropic SDK', adapter })),
  ...aiSdkAdapters.map((adapter) => ({ sdk: 'AI SDK', adapter })),
  ...langChainAdapters.map((adapter) => ({ sdk: 'LangChain', adapter })),
  ...[...openaiAdapters, responsesAdapter].map((adapter) => ({ sdk: 'OpenAI SDK', adapter })),
  ...openaiAgentsAdapters.map((adapter) => ({ sdk: 'OpenAI Agents SDK', adapter })),
  ...(hasMastra ? [{ sdk: 'Mastra', adapter: mastraAdapter }] : []),
]

/** Whether answers stream makes no difference to what is stored. */
const storing = adapters.filter(({ adapter }) => !adapter.name.endsWith('streaming'))

test.each(storing)(
  '$sdk, $adapter.name: a restart loses no rule and no fact, and two people never meet',
  { timeout: 120_000 },
  async ({ adapter }) => expect(await runLives(adapter)).toEqual([]),
)

test.each(adapters)(
  '$sdk, $adapter.name: an abort ends the call, and the conversation goes on',
  { timeout: 120_000 },
  async ({ adapter }) => expect(await runAbort(adapter)).toEqual([]),
)
