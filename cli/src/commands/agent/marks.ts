// Removes the marks of the demo model, such as `[task 1, step 2]`, from its answers, even while they stream.
import type { Agent } from '@everlong/agent'

const mark = /\s*\[task \d+, [^\]]*\]/g
/** The start of a text that may become a mark. */
const beginning = /\s*(\[(t(a(s(k( [^\]]*)?)?)?)?)?)?$/

export function textWithoutMarks(text: string): string {
  return text.replaceAll(mark, '')
}

type MarkRemover = {
  /** Returns the part of the text that can be shown now. */
  readonly take: (text: string) => string
  readonly reset: () => void
}

function createMarkRemover(): MarkRemover {
  let held = ''
  return {
    take: (text) => {
      const clean = textWithoutMarks(held + text)
      const start = beginning.exec(clean)?.index ?? clean.length
      held = clean.slice(start)
      return clean.slice(0, start)
    },
    reset: () => {
      held = ''
    },
  }
}

/** The same agent, as a person should see it. */
export function agentWithoutMarks(agent: Agent): Agent {
  return {
    ...agent,
    on: (listener) => {
      const remover = createMarkRemover()
      return agent.on((event) => {
        if (event.type === 'stream' && event.event.type === 'text') {
          const text = remover.take(event.event.text)
          if (text !== '') listener({ ...event, event: { ...event.event, text } })
        } else {
          if (event.type === 'answer') remover.reset()
          listener(event)
        }
      })
    },
  }
}
