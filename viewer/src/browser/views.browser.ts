// Every view in a real browser: what it shows, by mouse and by keyboard, in both themes and on a phone.
import axe from 'axe-core'
import { generateSession, serialize } from 'everlong/internal/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, browserPath, startBrowser } from '../testing/browser.ts'
import { lossySession, temporaryFolder } from '../testing/sessions.ts'

const folder = temporaryFolder()

describe.skipIf(browserPath === undefined)('in a browser (skipped: there is no Chromium on this machine)', () => {
  let viewer: Viewer
  let browser: Browser
  beforeAll(async () => {
    folder.write('project/lossy.jsonl', lossySession())
    const long = generateSession({ seed: 5, turns: 60, boundaries: 3, subagents: 'inline', microcompact: true })
    folder.write('project/long.jsonl', [...long].map(serialize).join(''))
    const page = builtPage(await buildPage())
    viewer = await startViewer({ paths: [folder.path], port: 0, env: {}, page })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await viewer?.close()
    folder.remove()
  })

  const at = (path: string) => `http://127.0.0.1:${viewer.port}${path}`

  test('the token leaves the address, and another tab needs none', async () => {
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.getByText('lossy.jsonl').first().waitFor()
    expect(page.url()).toBe(at('/'))
    await page.close()
  })

  test('from the list to a session, to a compaction, to what is gone, and back', async () => {
    const { page, seen } = await browser.open()
    await page.goto(viewer.url)
    await page.getByText('Migrate the reports.').first().click()
    await page.getByRole('heading', { name: 'Migrate the reports.' }).waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    await page.getByText('Never drop the table orders_2019.').first().waitFor()
    const sentence = page.getByRole('button', { name: /12 rows into the warehouse/ })
    await sentence.click()
    await page.getByRole('link', { name: 'Item 8' }).click()
    await page.getByText('imported 12 rows').first().waitFor()
    expect(page.url()).toContain('at=7')
    await page.goBack()
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    expect(seen.problems).toEqual([])
    await page.close()
  })

  test.each(['light', 'dark'] as const)('axe finds nothing in any view (%s)', async (scheme) => {
    const { page } = await browser.open({ scheme })
    for (const path of await paths(page)) {
      await page.goto(at(path))
      await page.waitForLoadState('networkidle').catch(() => undefined)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForTimeout(300)
      expect([path, await violations(page)]).toEqual([path, []])
    }
    await page.close()
  })

  /** One address of each view. */
  async function paths(page: Page): Promise<readonly string[]> {
    await page.goto(viewer.url)
    const link = page.getByRole('link', { name: /lossy/ })
    await link.waitFor()
    const session = (await link.getAttribute('data-link')) ?? ''
    return [
      '/',
      session,
      `${session}/compaction/1`,
      `${session}/compaction/1?tab=words`,
      `${session}/compaction/1?tab=everlong`,
    ]
  }
})

async function violations(page: Page): Promise<readonly string[]> {
  // The policy of the page lets no script of others in, so it comes through the protocol of the debugger.
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    type Axe = {
      run: () => Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>
    }
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    )
  })
}
