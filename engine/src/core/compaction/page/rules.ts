// Standing rules of the user that the context does not hold yet, verbatim, however old they are.
import type { Ledger } from '../../ledger/facts.ts'
import { olderRulesLine } from '../../prompts/recall.ts'
import { neutralize } from '../../text/neutralize.ts'
import { holdsWords, plainWords } from './plain-words.ts'

export type RulesOptions = {
  readonly shown: string
  readonly recall: boolean
  readonly tokens: number
  readonly countTokens: (text: string) => number
}

/** Oldest first. Where some must go the newest stay, and a line says how many went and how to find them. */
export function ruleLines({ rules, olderRules = 0 }: Ledger, options: RulesOptions): readonly string[] {
  const { shown, recall, tokens, countTokens } = options
  const plain = plainWords(shown)
  const missing = rules.filter(({ text }) => !holdsWords(plain, plainWords(text))).toSorted((a, b) => b.last - a.last)
  let left = tokens
  const kept: string[] = []
  for (const { text, by } of missing) {
    const line = `- ${by === 'agent' ? '(from the agent that started this one) ' : ''}"${neutralize(text)}"`
    const cost = countTokens(`${line}\n`)
    if (cost > left) break
    left -= cost
    kept.unshift(line)
  }
  const gone = olderRules + missing.length - kept.length
  return gone === 0 ? kept : [olderRulesLine(gone, { recall }), ...kept]
}
