// Logs and prices every answered request, in one place.
import type { Sampling } from '../answer/usage.ts'
import { shapeOf } from '../log/log.ts'
import { costOfAll } from '../log/meter.ts'
import type { MessagesRequest } from '../request/request.ts'
import type { World } from './world.ts'

export type Answered = {
  readonly endpoint: string
  readonly organization: string
  /** The model's name, even if the request was invalid. */
  readonly model: string
  readonly request: MessagesRequest | undefined
}

export type Result = { readonly status: number; readonly outcome: string; readonly samplings: readonly Sampling[] }

export function record(world: World, answered: Answered, result: Result): void {
  const { request, ...rest } = answered
  const isAsked = request !== undefined && result.samplings.length > 0
  const cost = isAsked ? costOfAll(result.samplings, request.facts) : undefined
  if (!answered.endpoint.endsWith('count_tokens')) world.meter.add(result.samplings, cost)
  const shape = request && shapeOf({ ...request, system: request.system.length, tools: request.tools.length })
  world.log.add({ ...rest, ...result, time: world.clock.now(), shape: shape ?? '', cost })
}
