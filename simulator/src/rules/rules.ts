// Every rule over a request whose shape is right, in the order in which the API complains.
import type { Problem } from '../http/problem.ts'
import type { MessagesRequest } from '../request/request.ts'
import { combinesEdits } from './context-management.ts'
import { endsWell, hasContent, hasMessages, hasText, placesSystem, startsWithUser } from './conversation.ts'
import { countsMedia, takesImages } from './images.ts'
import { marksAtMostFour, marksLastBlockAlike, marksLongBeforeShort, marksNoEmptyText } from './marks.ts'
import { hasUniqueUses, pairsTools } from './pairing.ts'
import { pairsServerTools } from './server-tools.ts'
import {
  choosesFromTools,
  fitsOutputLimit,
  samplesByItself,
  stopsAtSomething,
  triesAsItCan,
  warmsOnly,
} from './settings.ts'
import {
  doesNotEndInThinking,
  doesNotForceTools,
  leavesRoomForAnswer,
  startsToolTurnWithThinking,
  startsTurnsWithThinking,
  thinksAsItCan,
  thinksWhenItTriesHard,
} from './thinking.ts'

export type Rule = (request: MessagesRequest) => Problem | undefined

const rules: readonly Rule[] = [
  hasMessages,
  startsWithUser,
  placesSystem,
  fitsOutputLimit,
  warmsOnly,
  stopsAtSomething,
  choosesFromTools,
  triesAsItCan,
  samplesByItself,
  thinksAsItCan,
  thinksWhenItTriesHard,
  leavesRoomForAnswer,
  doesNotForceTools,
  combinesEdits,
  marksNoEmptyText,
  marksAtMostFour,
  marksLongBeforeShort,
  marksLastBlockAlike,
  hasContent,
  hasText,
  endsWell,
  hasUniqueUses,
  pairsTools,
  pairsServerTools,
  doesNotEndInThinking,
  startsTurnsWithThinking,
  startsToolTurnWithThinking,
  countsMedia,
  takesImages,
]

export function brokenRule(request: MessagesRequest): Problem | undefined {
  for (const rule of rules) {
    const problem = rule(request)
    if (problem) return problem
  }
  return undefined
}
