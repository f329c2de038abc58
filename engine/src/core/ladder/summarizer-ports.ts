// The ports of a compaction, as the session knows them: a summarizer whose window is the one that everybody else goes by,
// limits that are learned on the way, and every request counted.
import type { ModelClient } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import { type Desk, modelWindow } from '../session/desk.ts'
import { metered } from '../session/metered.ts'
import { limitOf } from './limits.ts'
import { learnLimit } from './window-ends.ts'

export function summarizerPorts(desk: Desk): CompactionPorts {
  return {
    ...desk.ports,
    model: withKnownWindow(desk),
    emit: (event) => {
      // Whoever asked for the summary tells; the session has to know it too, and tells it under its own name.
      if (event.type === 'limit-learned') learnLimit(desk, event)
      else desk.emit(event)
    },
  }
}

/** A host that sets the window, or an overflow that taught it, knows better than the client's table. */
function withKnownWindow(desk: Desk): ModelClient {
  const { model, lessons } = desk
  return {
    ...metered(desk),
    capabilities: (name) => {
      const able = model.capabilities(name)
      const window = name === desk.modelName ? modelWindow(desk) : (limitOf(lessons.limits, model, name) ?? able.window)
      return { ...able, ...(window === undefined ? {} : { window }) }
    },
  }
}
