// Every view in a real browser: its content, by mouse and by keyboard, in both themes and on a phone.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import axe from 'axe-core'
import { session } from 'everlong/internal/testing'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildPage, buildPlayground } from '../../build.ts'
import { builtPage, exportSession, startViewer } from '../server/start.ts'
import { browserPath } from '../testing/browser.ts'
import { type OpenedPlace, openPlace } from '../testing/place.ts'
import { lossySession, temporaryFolder } from '../testing/sessions.ts'

describe.skipIf(browserPath === undefined)('in a browser (skipped: there is no Chromium on this machine)', () => {
  let place: OpenedPlace
  beforeAll(async () => {
    place = await openPlace()
  })
  afterEach(() => place?.browser.closePages())
  afterAll(() => place?.close())

  const at = (path: string) => place.at(path)

  test('the token leaves the address, and another tab needs none', async () => {
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.getByText('lossy.jsonl').first().waitFor()
    expect(page.url()).toBe(at('/'))
    await page.close()
  })

  test('from the list to a session, to a compaction, to what is gone, and back', async () => {
    const { page, seen } = await place.browser.open()
    await page.goto(place.viewer.url)
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

  test('the first screen of a session and of a compaction shows what is gone', async () => {
    const { page } = await place.browser.open({ width: 1280 })
    await page.setViewportSize({ width: 1280, height: 720 })
    const [, session] = await place.paths(page)
    for (const [path, part] of [
      [`${session}`, 'Lost'],
      [`${session}/compaction/1`, 'What is gone and what is left'],
    ] as const) {
      await page.goto(at(path))
      const fact = page.getByLabel(part, { exact: true }).getByText('Never drop the table orders_2019.')
      await fact.waitFor()
      const box = await fact.boundingBox()
      expect([part, (box?.y ?? 720) + (box?.height ?? 0) < 720]).toEqual([part, true])
    }
    await page.close()
  })

  test('dragging over the chart draws a brush and zooms to it', async () => {
    const { page } = await place.browser.open({ width: 1280 })
    const [, path] = await place.paths(page)
    await page.goto(at(`${path}`))
    const chart = page.getByRole('slider', { name: 'The context over time, by answer' })
    await chart.waitFor()
    const range = async () => [await chart.getAttribute('aria-valuemin'), await chart.getAttribute('aria-valuemax')]
    const [first, last] = await range()
    const box = await chart.boundingBox()
    if (!box) throw new Error('The chart has no place on the page.')
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + 1, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 2, y, { steps: 4 })
    expect(await page.locator('rect.brush').count()).toBe(1)
    await page.mouse.up()
    await page.waitForTimeout(100)
    const [from, to] = await range()
    expect([from, Number(to) < Number(last), await page.locator('rect.brush').count()]).toEqual([first, true, 0])
    await page.close()
  })

  test('a long list begins short, and is shown whole and short again', async () => {
    const { page } = await place.browser.open()
    const [, session] = await place.paths(page)
    await page.goto(at(`${session}/compaction/1`))
    const list = page.getByLabel('What is gone and what is left')
    const facts = () => list.getByText(/^line \d+$/).count()
    await list.getByRole('button', { name: 'Show all 7' }).click()
    expect(await facts()).toBe(7)
    await list.getByRole('button', { name: 'Show only 5' }).click()
    expect(await facts()).toBe(5)
    await page.close()
  })

  test('a compaction names doubtful claims, and shows the whole text of the new context', async () => {
    const { page } = await place.browser.open()
    const [, session] = await place.paths(page)
    await page.goto(at(session ?? ''))
    await page.getByRole('link', { name: 'The last summary' }).click()
    await page.getByRole('button', { name: 'Doubtful claims (1)', pressed: true }).waitFor()
    await page.getByText('no such approval on record').waitFor()
    const out = page.getByLabel('What came out')
    await out.getByRole('button', { name: 'Show the whole text' }).first().click()
    await out.locator('pre', { hasText: 'The user approved deleting the staging bucket.' }).waitFor()
    await page.close()
  })

  test('a folder without sessions says so', async () => {
    const empty = temporaryFolder()
    const viewer = await startViewer({ paths: [empty.path], port: 0, env: {}, page: builtPage(await buildPage()) })
    const { page } = await place.browser.open()
    await page.goto(viewer.url)
    await page.getByText(`No sessions were found in ${empty.path}.`).waitFor()
    await page.close()
    await viewer.close()
    empty.remove()
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 375],
    ['dark', 375],
  ] as const)('axe finds nothing in any view (%s, %i wide)', async (scheme, width) => {
    const { page } = await place.browser.open({ scheme, width })
    for (const path of await place.paths(page)) {
      await page.goto(at(path))
      await page.locator('h1, [role=alert]').first().waitFor()
      await page.waitForTimeout(800)
      expect([path, await violations(page)]).toEqual([path, []])
    }
    await page.close()
  })

  test('an exported session needs no server, and asks for nothing', async () => {
    const path = join(place.folder.path, 'exported.html')
    const lossy = place.folder.write('export/lossy.jsonl', lossySession())
    writeFileSync(
      path,
      await exportSession(lossy, { comment: 'Look at this.', env: {}, page: builtPage(await buildPage()) }),
    )
    const { page, seen } = await place.browser.open()
    await page.goto(`file://${path}`)
    await page.getByText('Look at this.').waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    await page.getByText('Never drop the table orders_2019.').first().waitFor()
    await page.getByRole('button', { name: 'What Everlong would have left' }).click()
    await page.getByText(/messages word for word: 2 of 2; in the recorded context 0/).waitFor()
    expect(seen.requests).toEqual([`file://${path}`])
    expect(seen.problems).toEqual([])
    await page.close()
  })

  test('the playground shows a pasted transcript in the browser alone', async () => {
    const built = join(place.folder.path, 'playground')
    await buildPlayground(built)
    const host = createServer((request, response) => {
      const name = new URL(request.url ?? '/', 'http://host').pathname
      const type = { '.js': 'text/javascript', '.css': 'text/css' }[name.slice(name.lastIndexOf('.'))] ?? 'text/html'
      response
        .writeHead(200, { 'content-type': type })
        .end(readFileSync(join(built, name === '/' ? 'playground.html' : name)))
    })
    await new Promise<void>((listening) => host.listen(0, '127.0.0.1', listening))
    const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    const { page, seen } = await place.browser.open()
    await page.goto(`${origin}/playground.html`)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('No message of a conversation was found').waitFor()
    await page.getByLabel('The lines of a transcript').fill(lossySession())
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: 'Migrate the reports.' }).waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('button', { name: 'What Everlong would have left' }).click()
    await page.getByText(/messages word for word: 2 of 2; in the recorded context 0/).waitFor()
    expect(seen.requests.filter((url) => !/\/(playground\.html|assets\/[\w.-]+)$/.test(url))).toEqual([])
    expect(seen.problems).toEqual([])
    await page.close()
    host.close()
  })

  test('a running session grows on the page', async () => {
    const path = place.folder.write('project/live.jsonl', lossySession())
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'live.jsonl' }).click()
    await page.getByText('20 items').waitFor()
    const added = session({ ids: (name) => `later-${name}` }).user('And now this.').text
    appendFileSync(path, added)
    await page.getByText('21 items').waitFor()
    await page.close()
  })

  test('ten tabs work, because those in the background hold no connection, and one that comes back is up to date', async () => {
    const path = place.folder.write('project/tabs.jsonl', lossySession())
    const tabs = []
    for (let at = 0; at < 10; at++) {
      const { page } = await place.browser.open()
      await page.goto(place.viewer.url)
      await page.locator('a.line', { hasText: 'tabs.jsonl' }).click()
      await page.getByText('20 items').waitFor()
      await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`)
      tabs.push(page)
    }
    appendFileSync(path, session({ ids: (name) => `later-${name}` }).user('And now this.').text)
    await tabs[0]?.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`)
    await tabs[0]?.getByText('21 items').waitFor()
    expect(await tabs[1]?.getByText('21 items').count()).toBe(0)
    for (const page of tabs) await page.close()
  })

  test('the gauge and the chart of a running session move', async () => {
    const path = place.folder.write('project/gauge.jsonl', lossySession())
    const { page } = await place.browser.open()
    await page.goto(place.viewer.url)
    await page.locator('a.line', { hasText: 'gauge.jsonl' }).click()
    await page.getByText('9,060 of').waitFor()
    const answers = () => page.getByRole('slider').getAttribute('aria-valuemax')
    await page.getByRole('slider').waitFor()
    expect(await answers()).toBe('9')
    const later = session({ ids: (name) => `later-${name}` })
    appendFileSync(path, later.user('More.').assistant('Done.', { tokens: { cacheRead: 150_000, output: 500 } }).text)
    await page.getByText('150,510 of').waitFor()
    await expect.poll(answers).toBe('10')
    await page.close()
  })

  test('on a phone nothing is wider than the screen', async () => {
    const { page } = await place.browser.open({ width: 375 })
    for (const path of await place.paths(page)) {
      await page.goto(at(path))
      await page.locator('h1, [role=alert]').first().waitFor()
      await page.waitForTimeout(500)
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 375])
    }
    await page.close()
  })
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
