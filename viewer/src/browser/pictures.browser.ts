// The pictures of README.md and docs/viewer.md. EVERLONG_PICTURES=1 writes them again.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateSession, serialize } from 'everlong/internal/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, browserPath, startBrowser } from '../testing/browser.ts'
import { createMovie } from '../testing/movie.ts'
import { lossySession, temporaryFolder } from '../testing/sessions.ts'
import { storySession } from '../testing/story.ts'

const folder = join(import.meta.dirname, '../../../docs/pictures')
const isWanted = browserPath !== undefined && process.env.EVERLONG_PICTURES === '1'

describe.skipIf(!isWanted)('pictures (skipped: set EVERLONG_PICTURES=1, and have a Chromium)', () => {
  const sessions = temporaryFolder()
  let viewer: Viewer
  let browser: Browser
  beforeAll(async () => {
    sessions.write('orders-api/rate-limits.jsonl', storySession())
    sessions.write('reports/reports.jsonl', lossySession())
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const made = generateSession({
        seed,
        turns: 50 + seed * 9,
        boundaries: seed % 4,
        thinking: 0.5,
        startTime: `2026-02-2${seed + 1}T09:00:00Z`,
        windowTokens: 160_000,
      })
      sessions.write(`services/session-${seed}.jsonl`, [...made].map(serialize).join(''))
    }
    viewer = await startViewer({ paths: [sessions.path], port: 0, env: {}, page: builtPage(await buildPage()) })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await viewer?.close()
    sessions.remove()
  })

  /** Opens the list when all sessions are read. Returns the path of the story. */
  const openList = async (page: Page) => {
    await page.goto(viewer.url)
    await page.getByText(/^8 sessions$/).waitFor()
    const link = page.locator('a.line', { hasText: 'rate-limits.jsonl' })
    return (await link.getAttribute('data-link')) ?? ''
  }

  test('of every view', async () => {
    const { page } = await browser.open({ width: 1280 })
    const story = await openList(page)
    const shot = async (path: string, name: string) => {
      await page.setViewportSize({ width: 1280, height: 680 })
      await page.goto(`http://127.0.0.1:${viewer.port}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (path === '/') await page.getByText(/^8 sessions$/).waitFor()
      await page.waitForTimeout(2_500)
      await page.screenshot({ path: join(folder, `viewer-${name}.png`), fullPage: true })
    }
    await shot('/', 'sessions')
    await shot(story, 'session')
    await shot(`${story}/compaction/1`, 'compaction')
  })

  test('one that moves: from the list to what a compaction lost', async () => {
    const size = { width: 1200, height: 700 }
    const { page } = await browser.open({ width: size.width })
    await page.setViewportSize(size)
    await openList(page)
    const movie = await createMovie(page, size)
    await movie.hold(1_500)
    await movie.click(page.locator('a.line', { hasText: 'rate-limits.jsonl' }))
    const lost = page.getByLabel('Lost', { exact: true })
    await lost.getByText('Never change the /v1/orders routes').waitFor()
    await page.getByRole('slider').waitFor()
    await movie.hold(2_200)
    for (const share of [0.1, 0.2, 0.3, 0.38, 0.42, 0.6]) await movie.point(page.getByRole('slider'), share, 450)
    await movie.click(lost.getByRole('link', { name: 'lost by compaction 1' }).first())
    const gone = page.getByLabel('What is gone and what is left')
    await gone.getByText('Never change the /v1/orders routes').waitFor()
    await movie.hold(2_400)
    await movie.click(gone.getByRole('button', { name: 'Show the original' }).first())
    await gone.getByRole('button', { name: 'Hide the original' }).waitFor()
    await movie.hold(2_000)
    await movie.click(gone.getByRole('button', { name: /Doubtful claims/ }))
    await movie.hold(2_400)
    await movie.click(gone.getByRole('button', { name: 'What Everlong would have left' }))
    await gone.getByText(/messages word for word/).waitFor()
    await movie.hold(3_000)
    const made = movie.finish()
    writeFileSync(join(folder, 'viewer.webp'), made)
    // GitHub shows pictures of this size at once.
    expect(made.length).toBeLessThan(2_000_000)
    expect(await movie.framesIn(made)).toEqual(movie.times())
  })
})
