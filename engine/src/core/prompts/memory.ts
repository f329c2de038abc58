// The texts of session memory: the empty notes, and the request to a model to update them.

import { wellFormed } from '../text/cut.ts'
import { neutralizeNotes } from '../text/neutralize.ts'

export type NoteHead = { readonly heading: string; readonly hint: string }

export const noteHeads: readonly NoteHead[] = [
  { heading: 'Session title', hint: 'Five to ten words that say what this session is about.' },
  { heading: 'Current state', hint: 'What is being worked on at this moment, what is pending, what comes next.' },
  { heading: 'Task specification', hint: 'What the user asked for, and the design decisions taken on the way.' },
  { heading: 'Files and functions', hint: 'The files that matter, what is in them, and why they matter.' },
  { heading: 'Workflow', hint: 'Commands that are run, in which order, and how to read what they print.' },
  { heading: 'Errors & corrections', hint: 'What failed, how it was mended, and what must not be tried again.' },
  { heading: 'Codebase and system documentation', hint: 'How the parts of the system work and fit together.' },
  { heading: 'Learnings', hint: 'What worked well, what did not, what to avoid.' },
  { heading: 'Key results', hint: 'Exact output that the user asked for: a table, an answer, a number.' },
  { heading: 'Worklog', hint: 'One terse line for each step taken.' },
]

export function emptyNotes(heads: readonly NoteHead[] = noteHeads): string {
  return heads.map(({ heading, hint }) => `# ${heading}\n_${hint}_\n`).join('\n')
}

const task = `Pause the work for one step: bring the notes about this session up to date. This request is not part of the conversation and must not be mentioned in the notes. Use no tools; a tool call is refused and wastes the step.

Write for somebody who goes on with the work tomorrow and has nothing but these notes. Put down what cannot be guessed: exact paths, names, commands, numbers, error texts, decisions with what was rejected and why, and what the user said word for word where it is a rule. Leave out what any reader of the code would see at once. What was only supposed is marked as supposed.`

const form = `Answer with the sections that change and nothing else, each as

<section name="HEADING">
the whole new text of the section
</section>

with the heading exactly as it stands in the notes. A section that you leave out stays as it is. Do not repeat the heading or the line in italics inside a section. Always bring "Current state" up to date.`

export type MemoryPromptInput = {
  readonly notes: string
  /** Sections above their limit, with their size. */
  readonly long: readonly { readonly heading: string; readonly tokens: number }[]
  readonly sectionLimit: number
  /** Set if the whole file is above its limit. */
  readonly total?: { readonly tokens: number; readonly limit: number }
  /** The user's own text instead of ours. The notes and the format of the answer are still added. */
  readonly custom?: string | undefined
}

export function memoryPrompt({ notes, long, sectionLimit, total, custom }: MemoryPromptInput): string {
  const limits = long.map(
    ({ heading, tokens }) =>
      `- "${heading}" has about ${tokens} tokens and may have ${sectionLimit}: condense it, keeping what is needed most.`,
  )
  const critical = total
    ? [
        `CRITICAL: the notes have about ${total.tokens} tokens and may have ${total.limit}. Shorten them aggressively, in every section, oldest and least needed first. Keep "Current state" and "Errors & corrections" accurate.`,
      ]
    : []
  const parts = [
    custom ?? task,
    ...critical,
    ...(limits.length > 0 ? [limits.join('\n')] : []),
    `The notes as they stand:\n\n<notes>\n${neutralizeNotes(notes.trim())}\n</notes>`,
    form,
  ]
  return wellFormed(parts.join('\n\n'))
}

export function memoryCutMarker(path: string): string {
  return `[cut here: the whole section can be read in ${path}]`
}
