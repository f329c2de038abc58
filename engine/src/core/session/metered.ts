// A session's model client for work beside the turns: every request it sends is counted, whatever becomes of its answer.
import { billedCounts, noTokens } from '../message/usage.ts'
import type { ModelClient } from '../ports/model.ts'
import type { Desk } from './desk.ts'
import { withSpent } from './spent.ts'

export function metered(desk: Pick<Desk, 'model' | 'modelName' | 'spent'>): ModelClient {
  const { model: client } = desk
  const { provider, model: own, endpoint } = client
  return {
    provider,
    model: own,
    ...(endpoint === undefined ? {} : { endpoint }),
    capabilities: (model) => client.capabilities(model),
    ...(client.count ? { count: client.count.bind(client) } : {}),
    ...(client.describe ? { describe: client.describe.bind(client) } : {}),
    send: async (request, options) => {
      const result = await client.send(request, options)
      const usage = result.type === 'answer' ? billedCounts(result.usage) : noTokens
      const { source, model = desk.modelName } = request
      desk.spent = withSpent(desk.spent, { source, usage, model })
      return result
    },
  }
}
