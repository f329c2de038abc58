// The usage of sub-agents inside a session's own file.
import type { Entry } from 'everlong'
import { costOf, readAnswerLine, stringAt } from 'everlong/internal'
import type { AgentLane } from './api.ts'
import { timeOf } from './conversation.ts'
import { addSums, noSums } from './facts.ts'

type Used = Pick<AgentLane, 'from' | 'to' | 'tokens' | 'cost'>

/** By the uuid of their first entry. */
export function lanesInside(entries: readonly Entry[]): ReadonlyMap<string, Used> {
  const rootOf = new Map<string, string>()
  const lanes = new Map<string, Used>()
  const counted = new Set<string>()
  for (const { record } of entries) {
    const uuid = stringAt(record, 'uuid')
    if (record.isSidechain !== true || record.agentId !== undefined || uuid === undefined) continue
    const root = rootOf.get(stringAt(record, 'parentUuid') ?? '') ?? uuid
    rootOf.set(uuid, root)
    const time = timeOf(record)
    const lane = lanes.get(root) ?? { from: time, to: time, tokens: noSums, cost: null }
    const answer = readAnswerLine(record)
    const isNew = answer !== undefined && !counted.has(answer.messageId)
    if (isNew) counted.add(answer.messageId)
    const cost = isNew ? costOf(answer.usage, answer.model) : undefined
    lanes.set(root, {
      from: lane.from,
      to: time ?? lane.to,
      tokens: isNew ? addSums(lane.tokens ?? noSums, answer.usage) : lane.tokens,
      cost: cost === undefined ? lane.cost : (lane.cost ?? 0) + cost,
    })
  }
  return lanes
}
