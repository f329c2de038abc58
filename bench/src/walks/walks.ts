// The walks: small programs and commands that each do one thing with Everlong, in a process of its own.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'
import { writeSession } from '../write-session.ts'

export type Walk = {
  readonly name: string
  /** The arguments of Node, which runs in an empty folder. May write files into it. */
  readonly prepare: (folder: string) => { readonly words: readonly string[]; readonly input?: string }
}

const program = (name: string) => join(import.meta.dirname, 'programs', `${name}.ts`)

export const walks: readonly Walk[] = [
  { name: 'hello: a message becomes a request, in memory', prepare: () => ({ words: [program('hello')] }) },
  {
    name: 'compaction: automatic, with a model, on disk, files restored',
    prepare: (folder) => ({ words: [program('compaction'), folder] }),
  },
  { name: 'micro-compaction', prepare: () => ({ words: [program('micro')] }) },
  {
    name: 'open: a session of 101 MB',
    prepare: (folder) => {
      const path = join(folder, 'session.jsonl')
      writeSession(path, { seed: 7, targetBytes: 101e6, boundaries: 36, kept: 'before' })
      return { words: [program('open'), path] }
    },
  },
  {
    name: 'agent: a prompt with tool calls, `agent -p --model demo`',
    prepare: (folder) => {
      const work = join(folder, 'work')
      mkdirSync(work)
      writeFileSync(join(work, 'sum.ts'), 'export const sum = (a: number, b: number) => a + b\n')
      const words = ['agent', work, '-p', 'Read sum.ts.', '--model', 'demo', '--permission-mode', 'allow']
      return { words: [join(root, 'cli/src/main.ts'), ...words] }
    },
  },
  { name: 'AI SDK: one generateText through the middleware', prepare: () => ({ words: [program('ai-sdk')] }) },
  {
    name: 'Claude Code: the SessionStart hook after a compaction',
    prepare: (folder) => {
      const path = join(folder, 'session.jsonl')
      const human = ['Never touch schema.sql from now on.', 'Fix the report.', 'Continue.']
      writeSession(path, { seed: 5, targetBytes: 1e6, boundaries: 1, human })
      const event = { session_id: 's1', transcript_path: path, hook_event_name: 'SessionStart', source: 'compact' }
      const words = [join(root, 'plugins/claude-code/src/main.ts'), 'hook', folder]
      return { words, input: JSON.stringify(event) }
    },
  },
]
