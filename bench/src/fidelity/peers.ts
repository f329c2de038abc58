// What peers leave after a compaction, by their own code where it can be run, each with the recorded summary as its
// model's answer. They know no budget for the whole: what would not fit is left out from the oldest end.
import type { Message } from 'everlong'
import { isRequest, messagesOf, textOf } from 'everlong/internal'
import { compactWithRunner } from '../peers/anthropic.ts'
import { clineCut, clineKeeps, clineSummary } from '../peers/cline.ts'
import { codexHistory } from '../peers/codex.ts'
import { summarizeWith, toLangChain } from '../peers/langchain.ts'
import { fromPi, loadPi, type Pi, piModel, toPi } from '../peers/pi.ts'
import { type Case, shownIn } from './cases.ts'
import { countTokens } from './measure.ts'
import { type Contender, endOf, recordedSummary, sessionOf, startOf } from './parts.ts'

/** The summary, cut at its end where it is too long alone, and as much of the end of what follows as fits. */
export function within(budget: number, summary: string, newer: string): string {
  const start = startOf(summary, budget)
  const whole = endOf(newer, budget, `${start}\n\n`)
  return newer !== '' && countTokens(whole) <= budget ? whole : start
}

/** What the model would have seen next. */
function requestOf(found: Case): readonly Message[] {
  return sessionOf(found).fold.view().messages
}

const shown = (messages: readonly Message[]) =>
  messages.map((message) => shownIn({ ...message, origin: 'meta' })).join('\n')

const sdkRunner: Contender = async (found, budget, answer = recordedSummary(found)) => {
  const [summary, ...rest] = await compactWithRunner(requestOf(found), () => answer)
  return within(budget, shown(summary ? [summary] : []), shown(rest))
}

/** Its defaults: the last 20 messages stay. */
const langchain: Contender = async (found, budget, answer = recordedSummary(found)) => {
  const compact = summarizeWith({ tokens: 1, answer: () => answer })
  const [summary, ...rest] = (await compact(toLangChain(requestOf(found)))).map((message) => {
    const calls = 'tool_calls' in message ? JSON.stringify(message.tool_calls) : ''
    return `${textOf(message.content as never)}${calls}`
  })
  return within(budget, summary ?? '', rest.join('\n'))
}

/** Its newest messages, at most 20,000 tokens, as many as the summary leaves room for. */
const pi: Contender = async (found, budget, summary = recordedSummary(found)) => {
  const { SessionManager, prepareCompaction, compact } = await piOnce()
  const session = SessionManager.inMemory()
  for (const message of toPi(requestOf(found))) session.appendMessage(message)
  const answers = [summary, 'The turn goes on below.']
  const model = await piModel(() => answers.shift() ?? '')
  const keepRecentTokens = Math.min(20_000, Math.max(1, budget - countTokens(summary)))
  const settings = { enabled: true, reserveTokens: 16_384, keepRecentTokens }
  const preparation = prepareCompaction(session.getBranch(), settings)
  if (preparation === undefined) return within(budget, summary, '')
  const done = await compact(preparation, model.ready(), 'none')
  session.appendCompaction(done.summary, done.firstKeptEntryId, done.tokensBefore, done.details)
  const [first, ...rest] = fromPi(session.buildSessionContext().messages)
  return within(budget, shown(first ? [first] : []), shown(rest))
}

let loading: Promise<Pi> | undefined

function piOnce(): Promise<Pi> {
  loading ??= loadPi()
  return loading
}

/** What was typed or asked by another agent, in this window and in those before it, and the summary. */
const codex: Contender = async (found, budget, summary = recordedSummary(found)) => {
  const typed = messagesOf([...found.earlier, ...found.before])
    .filter(({ origin }) => isRequest(origin))
    .map(shownIn)
  const history = codexHistory(typed, summary)
  return within(budget, history.at(-1) ?? '', history.slice(0, -1).join('\n\n'))
}

/** Its newest messages, at most as many as the summary leaves room for. */
const cline: Contender = async (found, budget, summary = recordedSummary(found)) => {
  const messages = requestOf(found)
  const cut = clineCut(messages, Math.min(clineKeeps, Math.max(1, budget - countTokens(summary))))
  if (cut === 0) return within(budget, summary, '')
  return within(budget, clineSummary(summary, messages.slice(0, cut)), shown(messages.slice(cut)))
}

export const peers: Readonly<Record<string, Contender>> = {
  'Anthropic SDK’s runner': sdkRunner,
  'LangChain’s middleware': langchain,
  pi,
  'rule of Cline, in our words': cline,
  'rule of Codex, in our words': codex,
}
