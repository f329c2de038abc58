// /rewind: returns to the state before one of the person's messages: the conversation, the files, or both. The message returns to
// the input.
import { textOf } from 'everlong/internal'
import type { CommandResult } from '../app.ts'
import type { Checkpoint, Rewind } from '../checkpoints/checkpoints.ts'
import type { FileChange } from '../checkpoints/shadow.ts'
import { typedWords } from '../command-message.ts'
import { counted } from '../render/numbers.ts'
import { type CommandContext, clipped, error, type SlashCommand, text } from './command.ts'
import { choices, messageWith, newestChange, parentOf, yourMessages } from './messages.ts'

export const rewind: SlashCommand = {
  name: 'rewind',
  arguments: '[ID [both | conversation | files]]',
  help: 'goes back to before one of your messages, with the files or without',
  needsQuiet: true,
  run: async (words, context) => {
    const { session, checkpoints } = context
    if (words === '') return choices('rewind', 'Go back to before which message?', await yourMessages(session()))
    const [uuid = '', what = '', ...more] = words.split(/\s+/)
    if (!['', 'both', 'conversation', 'files'].includes(what) || more.length > 0)
      return error(`${[what, ...more].join(' ')} cannot be rewound. Say both, conversation or files.`)
    const message = await messageWith(session(), uuid)
    if (!message) return error(`There is no message ${uuid} in this session.`)
    const point = message.time === undefined ? undefined : await checkpoints?.before(message.time)
    const changes = point && what !== 'conversation' ? ((await checkpoints?.changesSince(point)) ?? []) : []
    if (what === '' && changes.length > 0) return chooseWhat(uuid, changes)
    if (what === 'files') {
      if (!point) return error('The files from before this message were not kept.')
      const isSame = changes.length === 0
      return isSame ? text(...restoredLines(changes)) : text(...(await restoreFiles(context, point, 'files')), undoable)
    }
    return goBack(context, {
      uuid,
      input: typedWords(textOf(message.content)),
      point: changes.length > 0 ? point : undefined,
    })
  },
}

function chooseWhat(uuid: string, changes: readonly FileChange[]): CommandResult {
  const files = counted(changes.length, 'file')
  const detail = clipped(changes.map(({ path }) => path).join(', '), 200)
  return {
    type: 'choose',
    title: `${files} changed since then. What should go back?`,
    choices: [
      { label: 'The conversation and the files', detail, command: `/rewind ${uuid} both` },
      { label: 'Only the conversation', command: `/rewind ${uuid} conversation` },
      { label: 'Only the files', command: `/rewind ${uuid} files` },
    ],
  }
}

type Target = { readonly uuid: string; readonly input: string; readonly point: Checkpoint | undefined }

async function goBack(context: CommandContext, { uuid, input, point }: Target): Promise<CommandResult> {
  const { session } = context
  const parent = await parentOf(session(), uuid)
  if (parent === undefined || parent === null) return error('That is the first message. /clear starts over.')
  const outcome = await session().rewind(parent)
  if (outcome.type === 'declined') return error(outcome.why)
  const files = point ? await restoreFiles(context, point, 'both') : ['Files are as they were.']
  const said = [`The conversation is as it was before that message. ${undoable}`, ...files]
  return { type: 'edit', text: said.join('\n'), input }
}

async function restoreFiles(
  { checkpoints, session }: CommandContext,
  point: Checkpoint,
  what: Rewind['what'],
): Promise<readonly string[]> {
  const rewind = { what, change: await newestChange(session()) }
  const changes = (await checkpoints?.restore(point, rewind)) ?? []
  const left = point.skipped.length === 0 ? [] : [`Not kept, so as they are: ${point.skipped.join(', ')}`]
  return [...restoredLines(changes), ...left]
}

const undoable = '/undo takes this back.'
const maxListed = 20
const done = { created: 'restored', changed: 'changed back', deleted: 'removed' } as const

/** The changes of the files. */
export function restoredLines(changes: readonly FileChange[]): readonly string[] {
  if (changes.length === 0) return ['No file has changed since.']
  const listed = changes.slice(0, maxListed).map(({ path, kind }) => `  ${done[kind]} ${path}`)
  const left = changes.length - listed.length
  return [`${counted(changes.length, 'file')}:`, ...listed, ...(left > 0 ? [`  and ${left} more`] : [])]
}
