// A person's actions in the views: undo, originals, selections, lanes, filters, and what stays hidden.
import { readFileSync } from 'node:fs'
import { session } from 'everlong/internal/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer } from '../server/start.ts'
import { browserPath } from '../testing/browser.ts'
import { type OpenedPlace, openPlace } from '../testing/place.ts'

describe.skipIf(browserPath === undefined)('actions (skipped: there is no Chromium on this machine)', () => {
  let place: OpenedPlace
  beforeAll(async () => {
    place = await openPlace()
  })
  afterEach(() => place?.browser.closePages())
  afterAll(() => place?.close())

  test('a compaction that Everlong wrote is undone and redone', async () => {
    const { page, seen } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'own.jsonl' }).click()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('button', { name: 'Undo this compaction' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Undo this compaction' }).click()
    await page.getByRole('button', { name: 'Undo', exact: true }).click()
    await page.getByText('undone').waitFor()
    await page.getByRole('button', { name: 'Redo this compaction' }).click()
    await page.getByRole('button', { name: 'Redo', exact: true }).click()
    await page.getByRole('button', { name: 'Undo this compaction' }).waitFor()
    expect(seen.problems).toEqual([])
    // Not in a session of another agent.
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'project/lossy' }).click()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    await page.getByText('Never drop the table').first().waitFor()
    expect(await page.getByRole('button', { name: /Undo/ }).count()).toBe(0)
    await page.close()
  })

  test('the original of a lost fact is one click away, and can be copied', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'project/lossy' }).click()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    const gone = page
      .getByLabel('What is gone and what is left')
      .locator('li', { hasText: 'checkpoint refused' })
      .first()
    await gone.getByRole('button', { name: 'Show the original' }).click()
    await gone.getByText('Exit code 2').waitFor()
    await gone.getByRole('button', { name: 'Copy', exact: true }).click()
    await gone.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('Error: checkpoint refused')
    await page.getByRole('button', { name: 'Copy what is gone' }).click()
    await expect.poll(() => page.getByText('Copied').count()).toBe(2)
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('- Never drop the table orders_2019.\n')
    await page.close()
  })

  test('a selection is copied and saved, without secrets', async () => {
    const key = `sk-ant-api03-${'A1b2'.repeat(10)}`
    place.folder.write(
      'project/keys.jsonl',
      session().user(`Use ${key}.`).assistant('Two.').user('Three.').assistant('Four.').text,
    )
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'keys.jsonl' }).click()
    await page.getByLabel('Select item 1', { exact: true }).click()
    await page.getByLabel('Select item 3', { exact: true }).click({ modifiers: ['Shift'] })
    await page.getByText('3 items selected').waitFor()
    await page.getByLabel('Select item 2', { exact: true }).click()
    await page.getByText('2 items selected').waitFor()
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByText('Copied').waitFor()
    const copied = String(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied).toMatch(/^### User, .*line 1\n\nUse \[redacted\]\.\n\n### User, .*line 3\n\nThree\.\n$/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as JSON Lines' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ index, type }) => [index, type])).toEqual([
      [0, 'user'],
      [2, 'user'],
    ])
    expect(JSON.stringify(lines)).not.toContain(key)
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await page.getByText(/selected$/).count()).toBe(0)
    await page.close()
  })

  test('sub-agents are lanes with their price', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'project/lossy.jsonl' }).click()
    await page.getByRole('heading', { name: '2 sub-agents' }).waitFor()
    expect(await page.locator('.chart .lane').count()).toBe(2)
    await page.getByText(/\+ \$\d+\.\d\d sub-agents/).waitFor()
    await page.locator('section[aria-label="Sub-agents"] a').first().click()
    await page.getByRole('heading', { name: /Look at (one|two)\./ }).waitFor()
    await page.close()
  })

  test('the place that was seen last is offered on the next visit', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'long.jsonl' }).click()
    await page.getByRole('slider').click()
    await page.locator('article.here').waitFor()
    const [, item = ''] = /at=(\d+)/.exec(page.url()) ?? []
    await page.waitForTimeout(1_200)
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'long.jsonl' }).click()
    await page.getByRole('link', { name: `Continue where you were: item ${Number(item) + 1}` }).click()
    await page.locator('article.here').waitFor()
    expect(page.url()).toContain(`at=${item}`)
    await page.close()
  })

  test('filters and order are in the address, and the numbers are saved without texts', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'own.jsonl' }).waitFor()
    await page.getByLabel('Compactions', { exact: true }).selectOption('lost')
    await page.getByRole('button', { name: 'Price' }).click()
    await page.getByLabel('Filter by title, project or path').fill('lossy')
    await expect.poll(() => page.url()).toContain('?only=lost&sort=cost&words=lossy')
    const rows = () => page.locator('a.line').allTextContents()
    await expect.poll(async () => (await rows()).every((row) => row.includes('lossy'))).toBe(true)
    const before = await rows()
    await page.reload()
    await expect.poll(rows).toEqual(before)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    const [head = '', ...lines] = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(head.split(',').slice(0, 2)).toEqual(['session', 'agent'])
    expect(lines).toHaveLength(before.length)
    expect(lines.join()).not.toMatch(/Migrate|lossy|home/)
    await page.close()
  })

  test('without content the views have numbers and no words', async () => {
    const files = builtPage(await buildPage())
    const hidden = await startViewer({
      paths: [place.folder.path],
      port: 0,
      env: {},
      page: files,
      isContentHidden: true,
    })
    // A session has the same address in both viewers.
    const other = await place.browser.open()
    const [, session = ''] = await place.paths(other.page)
    await other.page.close()
    const { page, seen } = await place.browser.open()
    await page.goto(hidden.url)
    await page.locator(`a.line[data-link="${session}"]`).click()
    await page.getByRole('heading', { level: 1, name: /^Session [0-9a-f]{6}$/ }).waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByText('Gone (7)').waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/Migrate|orders_2019|ClickHouse|lossy/)
    expect(seen.problems).toEqual([])
    await page.close()
    await hidden.close()
  })
})
