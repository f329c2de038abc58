// `everlong edit`: snip, rewind, pin and unpin append edits to the session. They remove nothing, and `everlong undo` reverses
// them.

import { count, visible } from '@everlong/agent/render'
import { pinProblem } from 'everlong/internal'
import { type ContextSize, type Explanation, situationOf } from 'everlong/internal/compaction'
import { applyEdits, type Transcript } from 'everlong/internal/node'
import { type Edit, snip } from 'everlong/mechanisms'
import type { Io } from '../../io.ts'
import { failed, gathered, noTranscript, type Outcome, opening } from '../../outcome.ts'
import { heading, paragraph, type Screen } from '../../render/screen.ts'
import { countingOf, openFile } from '../../session.ts'

/** The requested edit. Entries are named by uuid. */
export type RequestedEdit =
  | { readonly command: 'snip'; readonly from: string; readonly to: string; readonly marker?: string }
  | { readonly command: 'rewind'; readonly to: string }
  | { readonly command: 'pin' | 'unpin'; readonly uuid: string }

export type EditReport = {
  readonly path: string
  readonly command: RequestedEdit['command']
  readonly edits: readonly Edit[]
  /** The appended entries. */
  readonly uuids: readonly string[]
  readonly before: ContextSize
  readonly after: ContextSize
}

export async function gather(path: string, requested: RequestedEdit, io: Io): Promise<Outcome<EditReport>> {
  const open = (whole = false) => opening(path, async () => gathered(await openFile(path, { env: io.env, whole })))
  // The named entries may be older than the last compaction.
  const opened = await open(true)
  if (opened.type === 'failed') return opened
  const { transcript: file, session } = opened.report
  if (file.view.messages.length === 0) return failed(noTranscript(path, file.bytes))
  const now = io.now()
  const before = session.explain()
  const planned = editsFor(file, requested, { now, explanation: before })
  if (typeof planned === 'string') return failed(`nothing changed. ${planned}`)
  const reason = 'asked for on the command line'
  const edits = planned.map((edit): Edit => ({ ...edit, reason }))
  const applied = await applyEdits(file, edits, { owner: `everlong ${requested.command}`, now })
  if (applied.type === 'not-applied') return failed(`nothing changed. ${applied.why}`)
  const edited = await open()
  if (edited.type === 'failed') return edited
  const sizes = { before: before.size, after: edited.report.session.explain().size }
  return gathered({ path, command: requested.command, edits, uuids: applied.uuids, ...sizes })
}

type Moment = { readonly now: number; readonly explanation: Explanation }

/** Returns a string with the reason if the edit is impossible. */
function editsFor(file: Transcript, requested: RequestedEdit, moment: Moment): readonly Edit[] | string {
  if (requested.command === 'snip') return snipped(file, requested, moment)
  const uuid = requested.command === 'rewind' ? requested.to : requested.uuid
  if (!file.entry(uuid))
    return `There is no entry ${visible(uuid)} in ${visible(file.path)}. See everlong inspect --tree --json.`
  const edit: Edit = requested.command === 'rewind' ? { type: 'rewind', to: uuid } : { type: requested.command, uuid }
  const problem = pinProblem(file.view, edit)
  return problem === undefined ? [edit] : visible(problem)
}

function snipped(
  file: Transcript,
  { command: _, ...range }: Extract<RequestedEdit, { readonly command: 'snip' }>,
  moment: Moment,
): readonly Edit[] | string {
  const { view } = file
  const plan = snip(range).plan(view, situationOf(view, { ...countingOf(file, moment.explanation), ...moment }))
  if (plan.type === 'declined') return visible(plan.why)
  if (plan.type !== 'reduced') throw new Error('A snip is always edits of the transcript.')
  // The first of them has the freed tokens.
  return plan.edits.map((edit, at) => ({ ...edit, freed: at === 0 ? plan.freed : 0 }))
}

const titles: Readonly<Record<RequestedEdit['command'], string>> = {
  snip: 'Removed from the context',
  rewind: 'Rewound',
  pin: 'Pinned',
  unpin: 'Unpinned',
}

export function render({ path, command, edits, before, after }: EditReport, screen: Screen): readonly string[] {
  const back = { pin: 'edit unpin', unpin: 'edit pin', snip: 'undo', rewind: 'undo' }[command]
  const [edit] = edits
  const uuid = edit?.type === 'pin' || edit?.type === 'unpin' ? ` ${visible(edit.uuid)}` : ''
  return [
    heading(titles[command], screen),
    ...paragraph(`${count(before.tokens)} tokens before, ${count(after.tokens)} now`, screen),
    ...paragraph(`To undo it: everlong ${back} ${visible(path)}${uuid}`, screen),
  ]
}
