// The messages of a session, for commands that offer them.
import { lastAction, messagesOf, stringAt, textOf, type ViewMessage } from 'everlong/internal'
import type { Session } from 'everlong/node'
import type { CommandResult } from '../app.ts'
import { typedWords } from '../command-message.ts'
import { dateTime } from '../render/numbers.ts'
import { clipped, text } from './command.ts'

const maxListed = 50

type ListedMessage = { readonly uuid: string; readonly words: string; readonly detail?: string }

export function choices(name: string, title: string, listed: readonly ListedMessage[]): CommandResult {
  if (listed.length === 0) return text('There are no messages yet.')
  return {
    type: 'choose',
    title,
    choices: listed.map(({ uuid, words, detail }) => ({
      label: clipped(words),
      ...(detail === undefined ? {} : { detail }),
      command: `/${name} ${uuid}`,
    })),
  }
}

function timeOf({ time }: ViewMessage): { readonly detail?: string } {
  return time === undefined ? {} : { detail: dateTime(time, undefined) }
}

/** Newest first. */
export async function yourMessages(session: Session): Promise<readonly ListedMessage[]> {
  return await recentMessages(session, ({ origin }) => origin === 'human')
}

export async function recentMessages(
  session: Session,
  isWanted: (message: ViewMessage) => boolean = isSaid,
): Promise<readonly ListedMessage[]> {
  // Not the messages of the view, which merges adjacent ones.
  const wanted = messagesOf([...(await session.entries())])
    .filter(isWanted)
    .slice(-maxListed)
    .toReversed()
  return wanted.flatMap((message) =>
    message.uuid === undefined
      ? []
      : [{ uuid: message.uuid, words: typedWords(textOf(message.content)), ...timeOf(message) }],
  )
}

function isSaid({ origin, content }: ViewMessage): boolean {
  return (origin === 'human' || origin === 'assistant') && textOf(content).trim() !== ''
}

/** Null for the first entry, undefined if there is none with this id. */
export async function parentOf(session: Session, uuid: string): Promise<string | null | undefined> {
  for (const { record } of await session.entries()) {
    if (record.uuid === uuid) return stringAt(record, 'parentUuid') ?? null
  }
  return undefined
}

export async function messageWith(session: Session, uuid: string): Promise<ViewMessage | undefined> {
  return messagesOf([...(await session.entries())]).find((message) => message.uuid === uuid)
}

/** The newest change of the conversation that /undo would reverse. */
export async function newestChange(session: Session): Promise<string | undefined> {
  return lastAction([...(await session.entries())])[0]?.uuid
}
