// The summary without a model: the record of the whole conversation under a line that says who wrote it.
import { oneLine } from '../../ledger/text.ts'
import { writtenByCode } from '../../prompts/page.ts'
import { neutralize } from '../../text/neutralize.ts'
import { type Conversation, type RecordOptions, record } from './record.ts'

export type OfflineInput = Conversation &
  Omit<RecordOptions, 'alreadySaid'> & {
    readonly instructions: string
  }

/** Never more than `tokens`; empty where not even its opening fits. */
export function offlineSummary(input: OfflineInput): string {
  const { tokens, countTokens, instructions } = input
  const asked = instructions.trim() === '' ? [] : [`Asked of this summary: ${neutralize(oneLine(instructions, 600))}`]
  const opening = [writtenByCode, ...asked].join('\n')
  const room = tokens - countTokens(`${opening}\n\n`)
  if (room < 0) return ''
  return [opening, record(input, { ...input, alreadySaid: '', tokens: room })]
    .filter((part) => part !== '')
    .join('\n\n')
}
