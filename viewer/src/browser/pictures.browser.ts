// The pictures of docs/viewer.md. EVERLONG_PICTURES=1 writes them again.
import { join } from 'node:path'
import { generateSession, serialize } from 'everlong/internal/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, browserPath, startBrowser } from '../testing/browser.ts'
import { lossySession, temporaryFolder } from '../testing/sessions.ts'

const folder = join(import.meta.dirname, '../../../docs/pictures')
const isWanted = browserPath !== undefined && process.env.EVERLONG_PICTURES === '1'

describe.skipIf(!isWanted)('pictures (skipped: set EVERLONG_PICTURES=1, and have a Chromium)', () => {
  const sessions = temporaryFolder()
  let viewer: Viewer
  let browser: Browser
  beforeAll(async () => {
    sessions.write('project/reports.jsonl', lossySession())
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const made = generateSession({
        seed,
        turns: 50 + seed * 9,
        boundaries: seed % 4,
        thinking: 0.5,
        startTime: `2026-03-0${seed}T09:00:00Z`,
        windowTokens: 160_000,
      })
      sessions.write(`project/session-${seed}.jsonl`, [...made].map(serialize).join(''))
    }
    viewer = await startViewer({ paths: [sessions.path], port: 0, env: {}, page: builtPage(await buildPage()) })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await viewer?.close()
    sessions.remove()
  })

  test('of every view', async () => {
    const { page } = await browser.open({ width: 1280 })
    const shot = async (path: string, name: string) => {
      await page.setViewportSize({ width: 1280, height: 680 })
      await page.goto(`http://127.0.0.1:${viewer.port}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path === '/') await page.getByText(/^7 sessions$/).waitFor()
      await page.waitForTimeout(2_500)
      await page.screenshot({ path: join(folder, `viewer-${name}.png`), fullPage: true })
    }
    await page.goto(viewer.url)
    await page.getByText('session-3').first().waitFor()
    await page.waitForTimeout(4_000)
    const linkTo = async (name: string) =>
      (await page.locator('a.line', { hasText: name }).getAttribute('data-link')) ?? ''
    const [long, lossy] = [await linkTo('session-3'), await linkTo('reports.jsonl')]
    await shot('/', 'sessions')
    await shot(long, 'session')
    await shot(`${lossy}/compaction/1`, 'compaction')
  })
})
