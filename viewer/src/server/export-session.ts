// One session of this machine as a page in a single file.
import type { Environment } from 'everlong'
import { exportData, exportPage } from './export.ts'
import { createLibrary } from './library.ts'
import type { Page } from './page.ts'

export type ExportOptions = { readonly comment: string | null; readonly env: Environment; readonly page: Page }

export async function exportSession(path: string, { comment, env, page }: ExportOptions): Promise<string> {
  const library = createLibrary({ paths: [path], env })
  const view = library.open(library.admit(path))
  if (view === undefined) throw new Error(`${path} is not in its own library`)
  return exportPage(await exportData(view, comment), page)
}
