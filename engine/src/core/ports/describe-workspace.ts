// Says in a few lines what state the workspace is in. Names of files, branches and commits are anybody's text: they
// are shown so that they cannot pass for anything else.
import { clipped } from '../text/cut.ts'
import type { Capped, Commit, WorkspaceFile, WorkspaceState } from './workspace.ts'

export function describeWorkspace(state: WorkspaceState): string {
  const lists = [
    filesLine('Conflicts', state.conflicts, state),
    filesLine('Staged', state.staged, state),
    filesLine('Unstaged', state.unstaged, state),
    filesLine('Untracked', state.untracked, state),
  ].filter((line) => line !== '')
  const changes = lists.length > 0 ? lists : ['Nothing is staged, changed or untracked.']
  return [headLine(state), ...changes, ...commitsLine(state)].join('\n')
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

function filesLine(title: string, files: Capped<WorkspaceFile>, { isPartial }: WorkspaceState): string {
  if (files.count === 0) return ''
  const items = files.items.map(({ path, change }) => `${shownName(path)}${change ? ` (${change})` : ''}`)
  return `${title} (${isPartial ? 'at least ' : ''}${files.count}): ${[...items, ...more(files)].join(', ')}.`
}

function commitsLine({ commits, isPartial }: WorkspaceState): readonly string[] {
  if (!commits) return []
  const { since, items, count } = commits
  const from = 'commit' in since ? shownName(since.commit.slice(0, shortHash)) : 'this session began'
  if (count === 0) return [`No commits since ${from}.`]
  const shown = [...items.map(shownCommit), ...more(commits)]
  return [`Commits since ${from} (${isPartial ? 'at least ' : ''}${count}), newest first: ${shown.join('; ')}.`]
}

function more({ items, count }: Capped<unknown>): readonly string[] {
  return count > items.length ? [`and ${count - items.length} more`] : []
}

const shortHash = 7
const longestTitle = 120

function shownCommit({ hash, title }: Commit): string {
  const text = title.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  // A generic type in a title stays readable, and a tag is none any more.
  return `${hash.slice(0, shortHash)} "${clipped(text, longestTitle)
    .replace(/<(?=[/!?a-z])/gi, '< ')
    .replaceAll('"', "'")}"`
}

const plainName = /^[\p{L}\p{M}\p{N}._/@+#%=~()[\]{}-]+$/u

/** As it is, or quoted with escapes where a name could be misread. */
function shownName(name: string): string {
  if (plainName.test(name)) return name
  return JSON.stringify(name).replace(/[<\p{C}\p{Zl}\p{Zp}]/gu, (odd) =>
    Array.from({ length: odd.length }, (_, at) => `\\u${odd.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
}
