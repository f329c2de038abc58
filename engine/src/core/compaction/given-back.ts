// Counts what a text gives back to an agent after a compaction: list items under the headings and lines that code writes. Text
// of others cannot imitate those (text/neutralize.ts).
import { cautionLine, doubtLeads, pageTitles, standingRulesLead } from '../prompts/page.ts'

export type GivenBack = {
  /** Rules of the user, verbatim. */
  readonly rules: number
  /** The user's words, state and records. */
  readonly facts: number
  /** Claims in the summary that the conversation does not support. */
  readonly doubts: number
}

const { rules: rulesTitle, doubts: _names, ...factTitles } = pageTitles

const kinds: ReadonlyMap<string, keyof GivenBack> = new Map([
  [standingRulesLead, 'rules'],
  [`## ${rulesTitle}`, 'rules'],
  ...[cautionLine, ...Object.values(doubtLeads)].map((lead) => [lead, 'doubts'] as const),
  ...Object.values(factTitles).map((title) => [`## ${title}`, 'facts'] as const),
])

export function countGivenBack(text: string): GivenBack {
  const counts = { rules: 0, facts: 0, doubts: 0 }
  let kind: keyof GivenBack | undefined
  let isQuoted = false
  for (const line of text.split('\n')) {
    if (line === '<user-message>' || line === '</user-message>') isQuoted = line === '<user-message>'
    if (isQuoted) continue
    if (line === '' && kind !== 'facts') kind = undefined
    else if (line.startsWith('## ') || kinds.has(line)) kind = kinds.get(line)
    else if (line.startsWith('- ') && kind !== undefined) counts[kind]++
  }
  return counts
}
