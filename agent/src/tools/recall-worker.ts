// The thread for recall. It has one archive, and opens another one if the session changes.

import { parentPort } from 'node:worker_threads'
import { type Archive, createRecallTool, openArchive } from 'everlong/node'
import { reasonOf } from '../reason-of.ts'

export type RecallRequest = { readonly id: number; readonly path: string; readonly input: unknown }
export type RecallAnswer = { readonly id: number; readonly text: string; readonly isError: boolean }

let open: { readonly path: string; readonly archive: Archive } | undefined

function archiveOf(path: string): Archive {
  if (open?.path !== path) {
    open?.archive.close()
    open = { path, archive: openArchive(path, { budgetMs: 0 }) }
  }
  return open.archive
}

parentPort?.on('message', ({ id, path, input }: RecallRequest) => {
  const answer = (text: string, isError: boolean) =>
    parentPort?.postMessage({ id, text, isError } satisfies RecallAnswer)
  try {
    const { text, isError } = createRecallTool({ archive: archiveOf(path) }).run(input)
    answer(text, isError)
  } catch (error) {
    answer(reasonOf(error), true)
  }
})
