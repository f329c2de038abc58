// Recall as a tool of opencode: search and reading over the copies of the project's sessions.
import { join } from 'node:path'
import { stringAt } from 'everlong/internal'
import { type Archive, createRecallTool, openArchive, type RecallTool } from 'everlong/node'
import * as z from 'zod'
import type { Copies } from './copies.ts'
import type { ToolDefinition } from './opencode-api.ts'

export type Recall = { readonly tool: ToolDefinition; readonly close: () => void }

export function createRecall(copies: Copies): Recall {
  let archive: Archive | undefined
  const opened = (): Archive => {
    archive ??= openArchive(copies.folder, { folder: join(copies.folder, 'index'), budgetMs: 0 })
    return archive
  }
  const recall = createRecallTool({ archive: opened })
  return {
    tool: {
      description: `${recall.description} It covers all sessions of this project.`,
      args: argsOf(recall.input_schema),
      execute: async (args) => {
        const updated = await copies.update().catch(String)
        if (typeof updated === 'string') return `The sessions of the project cannot be read. ${updated}`
        const { text } = recall.run(args)
        return updated ? text : `Not all sessions of the project have been read yet: ask again for the rest.\n${text}`
      },
    },
    close: () => archive?.close(),
  }
}

/** opencode wants the parameters in zod; plain JSON schemas would all be required. */
function argsOf({ properties, required = [] }: RecallTool['input_schema']): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const type = typeOf(property).describe(stringAt(property, 'description') ?? '')
      return [name, required.includes(name) ? type : type.optional()]
    }),
  )
}

function typeOf(property: object): z.ZodType {
  if ('enum' in property && Array.isArray(property.enum)) return z.enum(property.enum)
  return stringAt(property, 'type') === 'integer' ? z.int() : z.string()
}
