// A summary that can be trusted, within a budget: from a model's prose where there is some, else from what code reads off
// the conversation. A first form: human messages, ledger and newest rounds; to be replaced by verify-and-mend.

import type { Ledger } from '../ledger/facts.ts'
import { renderLedger } from '../ledger/render.ts'
import { textOf } from '../message/block.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import { sectionTitles } from '../prompts/summary.ts'
import { cutInMiddle } from './too-long.ts'

export type ComposeInput = {
  readonly source: {
    /** What is summarised, one for each entry; an earlier summary is among them. */
    readonly messages: readonly ViewMessage[]
    readonly ledger: Ledger
    /** What stays in the context word for word. */
    readonly kept: readonly ViewMessage[]
  }
  /** As the model wrote it; left out, the summary is made without one. */
  readonly prose?: string
  readonly instructions?: string
  readonly budget: number
  readonly humanBudget: number
  readonly ledgerBudget: number
  readonly countTokens: (text: string) => number
  /** The pointer to an original. */
  readonly recall?: (uuid: string) => string
}

export type Composed = { readonly text: string; readonly report: FidelityReport; readonly tokens: number }

export function composeSummary(input: ComposeInput): Composed {
  const { source, budget, humanBudget, ledgerBudget, countTokens, prose } = input
  const last = source.messages.findLastIndex(({ origin }) => origin === 'summary')
  const human = source.messages.slice(last + 1).filter(({ origin }) => origin === 'human')
  const room = Math.min(humanBudget, Math.floor(budget * 0.5))
  const quoted = quotes(human, { room, input })
  const ledger = renderLedger(source.ledger, { budget: Math.min(ledgerBudget, Math.floor(budget * 0.25)), countTokens })
  const latest = human.at(-1)
  const end = latest
    ? `Latest request, word for word:\n${fit(textOf(latest.content), Math.floor(budget * 0.2), input, latest)}`
    : ''
  const parts = (body: string) => [body, quoted.text, ledger, end].filter((part) => part !== '').join('\n\n')
  const left = budget - countTokens(parts('')) - 10
  const body = fit(prose ?? offlineBody(source.messages), Math.max(0, left), input)
  const text = parts(body)
  return {
    text,
    tokens: countTokens(text),
    report: {
      humanMessages: {
        total: human.length,
        verbatim: quoted.verbatim,
        shortened: human.length - quoted.verbatim,
        putIn: 0,
      },
      falseQuotes: [],
      unsupported: [],
      missingSections: [],
      ledgerTokens: countTokens(ledger),
    },
  }
}

function quotes(
  human: readonly ViewMessage[],
  { room, input }: { readonly room: number; readonly input: ComposeInput },
): { readonly text: string; readonly verbatim: number } {
  const lines: string[] = []
  let verbatim = 0
  let left = room
  for (const [index, message] of [...human.entries()].toReversed()) {
    const text = textOf(message.content)
    const own = fit(text, Math.max(40, Math.floor(left / (index + 1))), input, message)
    if (own === text) verbatim++
    left -= input.countTokens(own)
    lines.unshift(`- ${own}`)
  }
  return { text: lines.length === 0 ? '' : `User messages, word for word:\n${lines.join('\n')}`, verbatim }
}

function fit(text: string, tokens: number, { countTokens, recall }: ComposeInput, source?: ViewMessage): string {
  const whole = countTokens(text)
  if (whole <= tokens) return text
  const pointer = source?.uuid && recall ? ` (${recall(source.uuid)})` : ''
  let length = Math.floor((text.length * tokens) / whole)
  for (; length > 20; length = Math.floor(length * 0.8)) {
    const cut = `${cutInMiddle(text, length)}${pointer}`
    if (countTokens(cut) <= tokens) return cut
  }
  return text.slice(0, 20)
}

function offlineBody(messages: readonly ViewMessage[]): string {
  const newest = messages
    .slice(-6)
    .map(({ role, content }) => `${role}: ${cutInMiddle(textOf(content), 800)}`)
    .join('\n')
  return sectionTitles()
    .map((title, index) => `${index + 1}. ${title}:\n${title === 'Current work' ? newest || 'None' : 'None'}`)
    .join('\n\n')
}
