// The files of the built page, in memory: a request can name nothing else.
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

export type PageFile = { readonly type: string; readonly bytes: Buffer }
/** By path, as a browser asks for it. */
export type Page = ReadonlyMap<string, PageFile>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export function builtPage(folder: string): Page {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((item) => item.isFile())
  return new Map(
    files.flatMap((item) => {
      const path = join(item.parentPath, item.name)
      const type = types[extname(item.name)]
      const name = path.slice(folder.length).replaceAll('\\', '/')
      return type === undefined ? [] : [[name, { type, bytes: readFileSync(path) }]]
    }),
  )
}
