// The tools of the demonstration: those of the made-up repository, which check their inputs themselves, and recall over the
// session's own archive.
import type { AnyTool } from '@everlong/agent'
import type { RepositoryTools } from '@everlong/simulator'
import { type Archive, createRecallTool } from 'everlong/node'

const readers: ReadonlySet<string> = new Set(['Read', 'Grep'])

export function repositoryTools({ definitions, run }: RepositoryTools): readonly AnyTool[] {
  return definitions.map((definition) => ({
    name: definition.name,
    description: definition.description ?? '',
    isParallel: readers.has(definition.name),
    definition: { ...definition },
    call: async (input) => run(definition.name, input),
  }))
}

/** Answers are short, because recall should keep the context small. */
const recallTokens = 800

export function recallTool(archive: Archive): AnyTool {
  const { name, description, input_schema, run } = createRecallTool({ archive, maxTokens: recallTokens })
  return {
    name,
    description,
    isParallel: true,
    definition: { name, description, input_schema },
    call: async (input) => {
      const { text, isError } = run(input)
      return { content: text, isError }
    },
  }
}
