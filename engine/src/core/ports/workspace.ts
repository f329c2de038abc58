// The state of the workspace, read when it is needed instead of remembered from the conversation.
import { clipped } from '../text/cut.ts'
import type { AbortSignalPort } from './model.ts'

export type Commit = { readonly hash: string; readonly title: string }

export type WorkspaceFile = {
  /** Relative to the workspace's folder. */
  readonly path: string
  /** Absent for a plain modification. */
  readonly change?: 'new' | 'deleted' | 'renamed'
}

/** The first few items and the total count. */
export type Capped<T> = { readonly items: readonly T[]; readonly count: number }

export type WorkspaceState = {
  readonly type: 'state'
  /** Absent when HEAD is detached. */
  readonly branch?: string
  /** Absent before the first commit. */
  readonly head?: Commit
  readonly upstream?: {
    readonly name: string
    /** Absent when the upstream branch no longer exists. */
    readonly counts?: { readonly ahead: number; readonly behind: number }
  }
  readonly staged: Capped<WorkspaceFile>
  readonly unstaged: Capped<WorkspaceFile>
  readonly untracked: Capped<WorkspaceFile>
  readonly conflicts: Capped<WorkspaceFile>
  /** Newest first. Absent if not asked for, or if git does not know where to start. */
  readonly commits?: Capped<Commit>
  /** A size limit was reached, so counts are minimums. */
  readonly isPartial: boolean
}

export type NoWorkspaceState = { readonly type: 'unknown'; readonly why: string }

/** Milliseconds since 1970. */
export type Since = { readonly time: number }

export type WorkspaceQuery = {
  /** The start of the list of commits. There is no list without it. */
  readonly since?: Since | undefined
  readonly signal?: AbortSignalPort | undefined
}

export type Workspace = {
  /** Never rejects, changes nothing, and answers within its own time limit. */
  readonly state: (query?: WorkspaceQuery) => Promise<WorkspaceState | NoWorkspaceState>
}

/** Describes the state in a few lines. Quotes names of files, branches and commits so that they cannot pass for anything else. */
export function describeWorkspace(state: WorkspaceState): string {
  const { conflicts, staged, unstaged, untracked, isPartial } = state
  const lists = Object.entries({ Conflicts: conflicts, Staged: staged, Unstaged: unstaged, Untracked: untracked })
  const changes = lists.flatMap(([title, files]) => {
    const items = files.items.map(({ path, change }) => `${shownName(path)}${change ? ` (${change})` : ''}`)
    const count = `${isPartial ? 'at least ' : ''}${files.count}`
    return files.count === 0 ? [] : [`${title} (${count}): ${[...items, ...more(files)].join(', ')}.`]
  })
  const nothing = changes.length > 0 ? [] : ['Nothing is staged, changed or untracked.']
  return [headLine(state), ...changes, ...nothing, ...commitsLine(state)].join('\n')
}

function headLine({ branch, head, upstream }: WorkspaceState): string {
  const where = branch === undefined ? 'HEAD is detached' : `On branch ${shownName(branch)}`
  const at = head ? ` at ${shownCommit(head)}` : ', which has no commits yet'
  return `${where}${at}${upstream ? upstreamText(upstream) : ''}.`
}

function upstreamText({ name, counts }: NonNullable<WorkspaceState['upstream']>): string {
  const remote = shownName(name)
  if (!counts) return `, upstream ${remote} is gone`
  const { ahead, behind } = counts
  if (ahead === 0 && behind === 0) return `, level with ${remote}`
  if (behind === 0) return `, ${ahead} ahead of ${remote}`
  if (ahead === 0) return `, ${behind} behind ${remote}`
  return `, ${ahead} ahead of and ${behind} behind ${remote}`
}

function commitsLine({ commits, isPartial }: WorkspaceState): readonly string[] {
  if (!commits) return []
  const { items, count } = commits
  if (count === 0) return ['No commits since this session began.']
  const shown = [...items.map(shownCommit), ...more(commits)]
  return [
    `Commits since this session began (${isPartial ? 'at least ' : ''}${count}), newest first: ${shown.join('; ')}.`,
  ]
}

function more({ items, count }: Capped<unknown>): readonly string[] {
  return count > items.length ? [`and ${count - items.length} more`] : []
}

const shortHash = 7
const maxTitleLength = 120

function shownCommit({ hash, title }: Commit): string {
  const text = title.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  // A generic type in a title stays readable, but a tag does not stay a tag.
  return `${hash.slice(0, shortHash)} "${clipped(text, maxTitleLength)
    .replace(/<(?=[/!?a-z])/gi, '< ')
    .replaceAll('"', "'")}"`
}

const plainName = /^[\p{L}\p{M}\p{N}._/@+#%=~()[\]{}-]+$/u

/** Quotes and escapes a name that could be misread. */
function shownName(name: string): string {
  if (plainName.test(name)) return name
  return JSON.stringify(name).replace(/[<\p{C}\p{Zl}\p{Zp}]/gu, (odd) =>
    Array.from({ length: odd.length }, (_, at) => `\\u${odd.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}
