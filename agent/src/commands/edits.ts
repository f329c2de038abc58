// Commands that edit the context, and recall. Nothing is lost: each appends to the transcript, and /undo reverses it. Without
// arguments they offer a choice.

import { messagesOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { fullnessOf } from '../render/gauge.ts'
import { count } from '../render/numbers.ts'
import { clipped, error, type SlashCommand, text } from './command.ts'
import { choices, newestChange, recentMessages, yourMessages } from './messages.ts'
import { restoredLines } from './rewind.ts'

export const undo: SlashCommand = {
  name: 'undo',
  help: 'takes back the last compaction, clearing, snip or rewind',
  needsQuiet: true,
  run: async (_, { session, checkpoints }) => {
    const rewound = await checkpoints?.lastRewind()
    const isNewest = rewound !== undefined && rewound.change === (await newestChange(session()))
    const files = async () => (isNewest ? restoredLines((await checkpoints?.undoRewind()) ?? []) : [])
    if (isNewest && rewound.what === 'files') return text('Undone: rewind of the files.', ...(await files()))
    const outcome = await session().undo()
    if (outcome.type === 'nothing-to-undo') return text('There is nothing to undo.')
    const { tokens, limit, isAutoCompactOn } = fullnessOf(session().explain())
    const waits = outcome.change.type === 'compaction' && isAutoCompactOn
    return text(
      `Undone: ${outcome.change.type}. The context has ${count(tokens)} tokens now.`,
      ...(waits ? [`The next compaction waits until it has ${count(limit)}.`] : []),
      ...(await files()),
    )
  },
}

export const snip: SlashCommand = {
  name: 'snip',
  arguments: '[FROM [TO]]',
  help: 'replaces part of the conversation with one line',
  needsQuiet: true,
  run: async (words, { session }) => {
    if (words === '')
      return choices('snip', 'Remove which message and what followed it?', await yourMessages(session()))
    const [from = '', to = await lastOfTurn(session(), from)] = words.split(/\s+/)
    const outcome = await session().snip({ from, to })
    if (outcome.type === 'declined') return error(outcome.why)
    return text(`Removed ${count(outcome.freed)} tokens from the context. /undo takes this back.`)
  },
}

export const pin: SlashCommand = {
  name: 'pin',
  arguments: '[ID]',
  help: 'keeps a message word for word, through every compaction',
  run: async (words, { session }) => {
    if (words === '') return choices('pin', 'Keep which message?', await recentMessages(session()))
    const outcome = await session().pin(words)
    return outcome.type === 'declined' ? error(outcome.why) : text(`Pinned. /unpin ${words} takes this back.`)
  },
}

export const unpin: SlashCommand = {
  name: 'unpin',
  arguments: 'ID',
  help: 'removes a pin',
  run: async (words, { session }) => {
    if (words === '') return choices('unpin', 'Remove the pin of which message?', await recentMessages(session()))
    const outcome = await session().unpin(words)
    return outcome.type === 'declined' ? error(outcome.why) : text('Unpinned.')
  },
}

export const recall: SlashCommand = {
  name: 'recall',
  arguments: 'WORDS',
  help: 'searches everything that was said, also what has left the context',
  run: async (words, { session }) => {
    if (words === '') return error('Say what to look for: /recall WORDS.')
    const original = /^\S+$/.test(words) ? await session().read(words) : undefined
    if (original !== undefined) return text(original)
    const { matches, more } = await session().recall(words)
    if (matches.length === 0) return text(`Nothing was found for ${words}.`)
    const lines = matches.map(
      ({ id, kind, time = '', snippet }) => `${[time.slice(0, 16), kind, id].join(' · ')}\n  ${clipped(snippet, 200)}`,
    )
    return text(...lines, ...(more ? ['There is more. Use more words.'] : []), '/recall ID shows one of them whole.')
  },
}

/** The last message before the person spoke again. */
async function lastOfTurn(session: Session, from: string): Promise<string> {
  const messages = messagesOf([...(await session.entries())])
  const at = messages.findIndex(({ uuid }) => uuid === from)
  const next = messages.findIndex(({ origin }, index) => index > at && origin === 'human')
  const turn = messages.slice(at, next < 0 ? undefined : next)
  return turn.findLast(({ uuid }) => uuid !== undefined)?.uuid ?? from
}
