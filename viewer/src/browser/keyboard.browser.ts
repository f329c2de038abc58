// Every view by keyboard alone.
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { browserPath } from '../testing/browser.ts'
import { type OpenedPlace, openPlace } from '../testing/place.ts'

describe.skipIf(browserPath === undefined)('by keyboard alone (skipped: there is no Chromium on this machine)', () => {
  let place: OpenedPlace
  beforeAll(async () => {
    place = await openPlace()
  })
  afterEach(() => place?.browser.closePages())
  afterAll(() => place?.close())

  test('from the list into a session, through the chart to an answer', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'lossy.jsonl' }).first().waitFor()
    await press(page, 'Filter by title')
    await page.keyboard.type('lossy')
    await press(page, 'lossy.jsonl')
    await page.keyboard.press('Enter')
    await page.getByRole('slider').waitFor()
    await press(page, 'The context over time')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL(/at=\d+/)
    await page.close()
  })

  test('find, select and copy in the conversation; then the compaction, a tab, the original, a sentence with its source', async () => {
    const { page } = await place.browser.open()
    const [, session = ''] = await place.paths(page)
    await page.goto(place.at(session))
    await page.getByRole('slider').waitFor()
    await page.locator('article.item').first().waitFor()
    await press(page, 'Find in this session')
    await page.keyboard.type('checkpoint')
    await page.keyboard.press('Enter')
    await page.getByText('1 item', { exact: true }).waitFor()
    await press(page, 'Next match')
    await page.keyboard.press('Enter')
    await page.waitForURL(/at=4/)
    await page.locator('article.here').waitFor()
    await press(page, 'Select item')
    await page.keyboard.press('Space')
    await page.getByText('1 item selected').waitFor()
    await press(page, 'Copy', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Copied').waitFor()
    // Tab begins with the first item of the list.
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('Migrate the reports')
    await press(page, 'Compaction 1')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    await page.getByText('12 rows into the warehouse').first().waitFor()
    await press(page, 'The user’s words')
    await page.keyboard.press('Enter')
    await page.getByText('not found').first().waitFor()
    await press(page, 'Gone (7)', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await press(page, 'Show the original')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Hide the original' }).waitFor()
    await press(page, 'The import brought 12 rows into the warehouse')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Item 8' }).waitFor()
    await page.close()
  })

  test('the button for the theme, and the link that skips to the content', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line').first().waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await press(page, 'Theme', 'Shift+Tab')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('light')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBeUndefined()
    await page.close()
  })
})

const press = async (page: Page, wanted: string, key = 'Tab') => {
  for (let at = 0; at < 120; at++) {
    await page.keyboard.press(key)
    const label = await page.evaluate(
      'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
    )
    if (String(label).includes(wanted)) return
  }
  throw new Error(`Tab never reached ${wanted}`)
}
