// /compact: by hand, everything, or only what comes before or after a message. Its progress is in the engine's events.
import type { Session } from 'everlong/node'
import { receiptLine, receiptsIn } from '../receipt.ts'
import { error, type SlashCommand, text } from './command.ts'

export const compact: SlashCommand = {
  name: 'compact',
  arguments: '[from ID | up_to ID] [instructions]',
  help: 'summarizes the conversation; instructions say what matters',
  needsQuiet: true,
  run: async (words, { session, signal, tellReceipts }) => {
    const [, side, uuid, rest = ''] = /^(from|up_to)\s+(\S+)\s*([\s\S]*)$/.exec(words) ?? []
    const range: Parameters<Session['compact']>[0] =
      uuid === undefined ? {} : side === 'from' ? { from: uuid } : { upTo: uuid }
    const instructions = (uuid === undefined ? words : rest).trim()
    const done = await session().compact({ ...range, ...(instructions === '' ? {} : { instructions }), signal })
    if (done.type === 'failed') {
      if (done.reason === 'aborted') return text('Stopped. The conversation is as it was.')
      return error(`Nothing was compacted: ${done.why}`)
    }
    tellReceipts(done.records)
    const [receipt] = receiptsIn(done.records)
    return text(receipt ? receiptLine(receipt) : `Made the context smaller (${done.mechanism}).`, ...done.notices)
  },
}
