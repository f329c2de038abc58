// Loads the instruction files of a folder when the agent first touches a file in it.
import type { MessageInput } from 'everlong'
import { isObject, textOf, type ViewMessage } from 'everlong/internal'
import type { LoopEvent } from '../events.ts'
import { type MemoryFile, type NestedPlaces, nestedMemoryFiles } from './memory-files.ts'

export type NestedMemory = {
  /** Records the files that tools touch. */
  readonly onEvent: (event: LoopEvent) => void
  /** Their instructions that are not in the context. */
  readonly next: (context: readonly ViewMessage[]) => readonly MessageInput[]
  /** Call it when the context has changed, because instructions may have left it. */
  readonly forget: () => void
}

export function createNestedMemory(places: NestedPlaces): NestedMemory {
  let touched: readonly string[] = []
  let known: ReadonlySet<string> = new Set()
  return {
    onEvent: (event) => {
      if (event.type !== 'tool-started' || !isObject(event.input)) return
      const { file_path, path } = event.input
      const file = file_path ?? path
      if (typeof file === 'string') touched = [...touched, file]
    },
    next: (context) => {
      if (touched.length === 0) return []
      const files = touched.flatMap((file) => nestedMemoryFiles(places, file))
      touched = []
      const isNew = (file: MemoryFile, at: number) =>
        !known.has(file.path) && files.findIndex(({ path }) => path === file.path) === at
      const fresh = files.filter(isNew)
      known = new Set([...known, ...fresh.map(({ path }) => path)])
      return fresh.filter((file) => !isIn(context, file)).map(messageOf)
    },
    forget: () => {
      known = new Set()
    },
  }
}

function isIn(context: readonly ViewMessage[], { text }: MemoryFile): boolean {
  return context.some(({ content }) => textOf(content).includes(text.trim()))
}

function messageOf({ path, text }: MemoryFile): MessageInput {
  const content = `Instructions for the files below this folder, from ${path}:\n\n${text.trim()}`
  return { role: 'user', origin: 'attachment', attachment: 'Instructions', content }
}
