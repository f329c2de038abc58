// A folder of sessions of every kind, with a viewer on it and a browser, for the tests of pages.
import { join } from 'node:path'
import { applyEdits, readTranscript } from 'everlong/internal/node'
import { generateSession, serialize, session } from 'everlong/internal/testing'
import type { Page } from 'playwright-core'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, startBrowser } from './browser.ts'
import { type Folder, lossySession, ownSession, temporaryFolder } from './sessions.ts'

export type OpenedPlace = {
  readonly folder: Folder
  readonly viewer: Viewer
  readonly browser: Browser
  readonly at: (path: string) => string
  /** One address of each view. */
  readonly paths: (page: Page) => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

export async function openPlace(): Promise<OpenedPlace> {
  const folder = temporaryFolder()
  await writeSessions(folder)
  const undo = async (path: string, uuid: string) => {
    const edits = [{ type: 'undo', uuid, reason: 'test' }] as const
    const applied = await applyEdits(readTranscript(path), edits, { owner: 'test', now: Date.now() })
    return applied.type === 'applied' ? undefined : applied.why
  }
  const viewer = await startViewer({
    paths: [folder.path],
    port: 0,
    env: {},
    page: builtPage(await buildPage()),
    undo,
  })
  const browser = await startBrowser()
  const at = (path: string) => `http://127.0.0.1:${viewer.port}${path}`
  return {
    folder,
    viewer,
    browser,
    at,
    paths: async (page) => {
      await page.goto(viewer.url)
      const link = page.locator('a.line', { hasText: 'project/lossy' })
      await link.waitFor()
      const path = (await link.getAttribute('data-link')) ?? ''
      return [
        '/',
        path,
        `${path}/compaction/1`,
        `${path}/compaction/1?tab=words`,
        `${path}/compaction/1?tab=doubts`,
        `${path}/compaction/1?tab=restored`,
        `${path}/compaction/1?tab=everlong`,
        `${path}?find=table&at=2`,
        '/?everywhere=orders',
        '/session/0123456789abcdef',
      ]
    },
    close: async () => {
      await browser.close()
      await viewer.close()
      folder.remove()
    },
  }
}

async function writeSessions(folder: Folder): Promise<void> {
  folder.write('project/lossy.jsonl', lossySession())
  const long = generateSession({ seed: 5, turns: 60, boundaries: 3, subagents: 'inline', microcompact: true })
  folder.write('project/long.jsonl', [...long].map(serialize).join(''))
  await ownSession(join(folder.path, 'project/own.jsonl'))
  for (const name of ['one', 'two'])
    folder.write(
      `project/lossy/subagents/agent-${name}.jsonl`,
      session({ ids: (id) => `${name}-${id}` })
        .user(`Look at ${name}.`)
        .assistant('I looked.', { tokens: { cacheWrite: 90_000, output: 900 } }).text,
    )
}
