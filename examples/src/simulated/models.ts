// The model for each example: it watches logs, searches if it has recall, and writes summaries.
import { asksForSummary, fixed, route, type Script, summarizer, text, toolUse } from '@everlong/simulator'

/** Reads the log of the requested day, and of each day after it up to the last. */
const watcher: Script = ({ messages }) => {
  const last = JSON.stringify(messages.at(-1))
  const isResult = last.includes('"tool_result"')
  const day = Number(/day (\d+)/.exec(last)?.[1] ?? 1)
  const until = Number(/day 1 to day (\d+)/.exec(JSON.stringify(messages))?.[1] ?? 0)
  if (!isResult) return toolUse('read_log', { day })
  return day < until ? toolUse('read_log', { day: day + 1 }) : text('Nothing unusual.')
}

const recaller: Script = ({ messages }) => {
  const last = JSON.stringify(messages.at(-1))
  if (!last.includes('"tool_result"')) return toolUse('recall', { query: 'checksum E4711' })
  return text(`It was ${/0x[0-9a-f]+/.exec(last)?.[0] ?? 'not found'}.`)
}

const talker = fixed(['By month, with a view over all of them.', 'The oldest.', 'A write during the copy.'])

const scripts: Readonly<Record<string, Script>> = {
  'any-client': talker,
  'summarizer-model': talker,
  'recall-tool': recaller,
}

export function scriptOf(example: string): Script {
  return route([{ when: asksForSummary, script: summarizer() }], scripts[example] ?? watcher)
}
