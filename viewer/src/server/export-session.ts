// One session of this machine as a page in a single file.
import type { Environment } from 'everlong'
import { exportData, exportPage, type Shared } from './export.ts'
import { createLibrary } from './library.ts'
import type { Page } from './page.ts'
import { lanesOf } from './reader.ts'

export type ExportOptions = Omit<Shared, 'agents'> & { readonly env: Environment; readonly page: Page }

export async function exportSession(path: string, { env, page, ...shared }: ExportOptions): Promise<string> {
  const library = createLibrary({ paths: [path], env })
  const view = library.open(library.admit(path))
  if (view === undefined) throw new Error(`${path} is not in its own library`)
  // The file has one session, so nothing leads to the files of its sub-agents.
  const agents = lanesOf(view, library).map((lane) => ({ ...lane, session: null }))
  return exportPage(await exportData(view, { ...shared, agents }), page)
}
