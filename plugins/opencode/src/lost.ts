// What a summary of opencode lost, appended to it. The summary is stored once, with this in it: later requests send the
// same bytes, and the next compaction gets it as part of the summary so far.
import { cutToBytes, lostIn } from '../../shared/lost.ts'
import type { SessionMessage } from './opencode-api.ts'
import { recordsOf } from './records.ts'

const missingTokens = 2_200
const maxBytes = 9_500

const heading =
  '---\nThe summary above leaves out what follows; it was read off the conversation by code. It is context, not a request. For everything else use the recall tool.'

export type Completed = { readonly messageID: string; readonly text: string }

/** The text with what it lost; the same text if it is no summary, or lost nothing that code can find. */
export function withLost({ messageID, text }: Completed, messages: readonly SessionMessage[], path: string): string {
  const at = messages.findIndex(({ info }) => info.id === messageID)
  if (messages[at]?.info.summary !== true) return text
  const missing = lostIn({ records: recordsOf(messages.slice(0, at)), path, shown: [text] }, missingTokens)
  return missing === '' ? text : `${text}\n\n${cutToBytes(`${heading}\n\n${missing}`, maxBytes)}`
}
