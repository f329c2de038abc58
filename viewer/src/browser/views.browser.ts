// Every view in a real browser: what it shows, by mouse and by keyboard, in both themes and on a phone.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import axe from 'axe-core'
import { applyEdits, readTranscript } from 'everlong/internal/node'
import { generateSession, serialize, session } from 'everlong/internal/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage, buildPlayground } from '../../build.ts'
import { builtPage, exportSession, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, browserPath, startBrowser } from '../testing/browser.ts'
import { lossySession, ownSession, temporaryFolder } from '../testing/sessions.ts'

const folder = temporaryFolder()

describe.skipIf(browserPath === undefined)('in a browser (skipped: there is no Chromium on this machine)', () => {
  let viewer: Viewer
  let browser: Browser
  beforeAll(async () => {
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
    const page = builtPage(await buildPage())
    const undo = async (path: string, uuid: string) => {
      const applied = await applyEdits(readTranscript(path), [{ type: 'undo', uuid, reason: 'test' }], {
        now: Date.now(),
      })
      return applied.type === 'applied' ? undefined : applied.why
    }
    viewer = await startViewer({ paths: [folder.path], port: 0, env: {}, page, undo })
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

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 375],
    ['dark', 375],
  ] as const)('axe finds nothing in any view (%s, %i wide)', async (scheme, width) => {
    const { page } = await browser.open({ scheme, width })
    for (const path of await paths(page)) {
      await page.goto(at(path))
      await page.locator('h1, [role=alert]').first().waitFor()
      await page.waitForTimeout(800)
      expect([path, await violations(page)]).toEqual([path, []])
    }
    await page.close()
  })

  test('an exported session needs no server, and asks for nothing', async () => {
    const path = join(folder.path, 'exported.html')
    const lossy = folder.write('export/lossy.jsonl', lossySession())
    writeFileSync(
      path,
      await exportSession(lossy, { comment: 'Look at this.', env: {}, page: builtPage(await buildPage()) }),
    )
    const { page, seen } = await browser.open()
    await page.goto(`file://${path}`)
    await page.getByText('Look at this.').waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    await page.getByText('Never drop the table orders_2019.').first().waitFor()
    await page.getByRole('button', { name: 'What Everlong would have left' }).click()
    await page.getByText(/messages of the user, 2 are in it word for word/).waitFor()
    expect(seen.requests).toEqual([`file://${path}`])
    expect(seen.problems).toEqual([])
    await page.close()
  })

  test('the playground shows a pasted transcript in the browser alone', async () => {
    const place = join(folder.path, 'playground')
    await buildPlayground(place)
    const host = createServer((request, response) => {
      const name = new URL(request.url ?? '/', 'http://host').pathname
      const type = { '.js': 'text/javascript', '.css': 'text/css' }[name.slice(name.lastIndexOf('.'))] ?? 'text/html'
      response
        .writeHead(200, { 'content-type': type })
        .end(readFileSync(join(place, name === '/' ? 'playground.html' : name)))
    })
    await new Promise<void>((listening) => host.listen(0, '127.0.0.1', listening))
    const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    const { page, seen } = await browser.open()
    await page.goto(`${origin}/playground.html`)
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('No message of a conversation was found').waitFor()
    await page.getByLabel('The lines of a transcript').fill(lossySession())
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: 'Migrate the reports.' }).waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('button', { name: 'What Everlong would have left' }).click()
    await page.getByText(/messages of the user, 2 are in it word for word/).waitFor()
    expect(seen.requests.filter((url) => !/\/(playground\.html|assets\/[\w.-]+)$/.test(url))).toEqual([])
    expect(seen.problems).toEqual([])
    await page.close()
    host.close()
  })

  test('a running session grows on the page', async () => {
    const path = folder.write('project/live.jsonl', lossySession())
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'live.jsonl' }).click()
    await page.getByText('20 items').waitFor()
    const added = session({ ids: (name) => `later-${name}` }).user('And now this.').text
    appendFileSync(path, added)
    await page.getByText('21 items').waitFor()
    await page.close()
  })

  test('the gauge and the chart of a running session move', async () => {
    const path = folder.write('project/gauge.jsonl', lossySession())
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'gauge.jsonl' }).click()
    await page.getByText('9,050 of').waitFor()
    const answers = () => page.getByRole('slider').getAttribute('aria-valuemax')
    await page.getByRole('slider').waitFor()
    expect(await answers()).toBe('2')
    const later = session({ ids: (name) => `later-${name}` })
    appendFileSync(path, later.user('More.').assistant('Done.', { tokens: { cacheRead: 150_000, output: 500 } }).text)
    await page.getByText('150,500 of').waitFor()
    await expect.poll(answers).toBe('3')
    await page.close()
  })

  test('a compaction that Everlong wrote is undone and redone', async () => {
    const { page, seen } = await browser.open()
    await page.goto(viewer.url)
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
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'project/lossy' }).click()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
    await page.getByText('Never drop the table').first().waitFor()
    expect(await page.getByRole('button', { name: /Undo/ }).count()).toBe(0)
    await page.close()
  })

  test('the original of a lost fact is one click away, and can be copied', async () => {
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'project/lossy' }).click()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    const gone = page.locator('li', { hasText: 'checkpoint refused' }).first()
    await gone.getByRole('button', { name: 'Show the original' }).click()
    await gone.getByText('Exit code 2').waitFor()
    await gone.getByRole('button', { name: 'Copy' }).click()
    await gone.getByText('Copied').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('Error: checkpoint refused')
    await page.getByRole('button', { name: 'Copy what is gone' }).click()
    await page.getByText('Copied').first().waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('- Never drop the table orders_2019.\n')
    await page.close()
  })

  test('a selection is copied and saved, without secrets', async () => {
    const key = `sk-ant-api03-${'A1b2'.repeat(10)}`
    folder.write(
      'project/keys.jsonl',
      session().user(`Use ${key}.`).assistant('Two.').user('Three.').assistant('Four.').text,
    )
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'keys.jsonl' }).click()
    await page.getByLabel('Select item 1', { exact: true }).click()
    await page.getByLabel('Select item 3', { exact: true }).click({ modifiers: ['Shift'] })
    await page.getByText('3 items selected').waitFor()
    await page.getByLabel('Select item 2', { exact: true }).click()
    await page.getByText('2 items selected').waitFor()
    await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: 'Copy' }).click()
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
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'project/lossy.jsonl' }).click()
    await page.getByRole('heading', { name: '2 sub-agents' }).waitFor()
    expect(await page.locator('.chart .lane').count()).toBe(2)
    await page.getByText(/and \$\d+\.\d\d by sub-agents/).waitFor()
    await page.locator('section[aria-label="Sub-agents"] a').first().click()
    await page.getByRole('heading', { name: /Look at (one|two)\./ }).waitFor()
    await page.close()
  })

  test('the place that was seen last is offered on the next visit', async () => {
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'long.jsonl' }).click()
    await page.getByRole('slider').click()
    await page.locator('article.here').waitFor()
    const [, place = ''] = /at=(\d+)/.exec(page.url()) ?? []
    await page.waitForTimeout(1_200)
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'long.jsonl' }).click()
    await page.getByRole('link', { name: `Continue where you were: item ${Number(place) + 1}` }).click()
    await page.locator('article.here').waitFor()
    expect(page.url()).toContain(`at=${place}`)
    await page.close()
  })

  test('filters and order are in the address, and the numbers are saved without texts', async () => {
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.locator('a.line', { hasText: 'own.jsonl' }).waitFor()
    await page.getByLabel('Compactions').selectOption('lost')
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
      page.getByRole('button', { name: 'Save the numbers' }).click(),
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
    const hidden = await startViewer({ paths: [folder.path], port: 0, env: {}, page: files, isContentHidden: true })
    const { page, seen } = await browser.open()
    await page.goto(hidden.url)
    const chip = page.locator('a.line', { hasText: '7 lost' }).first()
    await chip.click()
    await page.getByRole('heading', { level: 1, name: /^Session [0-9a-f]{6}$/ }).waitFor()
    await page.getByRole('link', { name: 'Compaction 1', exact: true }).click()
    await page.getByText('Gone (7)').waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/Migrate|orders_2019|ClickHouse|lossy/)
    expect(seen.problems).toEqual([])
    await page.close()
    await hidden.close()
  })

  describe('by keyboard alone', () => {
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

    test('from the list into a session, through the chart to an answer', async () => {
      const { page } = await browser.open()
      await page.goto(viewer.url)
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

    test('find, select and copy in the conversation; then the compaction, a sentence with its source, a tab, the original', async () => {
      const { page } = await browser.open()
      const [, session = ''] = await paths(page)
      await page.goto(at(session))
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
      await press(page, 'Compaction 1')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Compaction 1 of 1' }).waitFor()
      await page.getByText('12 rows into the warehouse').first().waitFor()
      await press(page, '12 rows into the warehouse')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Item 8' }).waitFor()
      await press(page, 'The user’s words')
      await page.keyboard.press('Enter')
      await page.getByText('not found').first().waitFor()
      await press(page, 'Gone (7)', 'Shift+Tab')
      await page.keyboard.press('Enter')
      await press(page, 'Show the original')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Hide the original' }).waitFor()
      await page.close()
    })

    test('the button for the theme, and the link that skips to the content', async () => {
      const { page } = await browser.open()
      await page.goto(viewer.url)
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

  test('on a phone nothing is wider than the screen', async () => {
    const { page } = await browser.open({ width: 375 })
    for (const path of await paths(page)) {
      await page.goto(at(path))
      await page.locator('h1, [role=alert]').first().waitFor()
      await page.waitForTimeout(500)
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 375])
    }
    await page.close()
  })

  /** One address of each view. */
  async function paths(page: Page): Promise<readonly string[]> {
    await page.goto(viewer.url)
    const link = page.locator('a.line', { hasText: 'project/lossy' })
    await link.waitFor()
    const session = (await link.getAttribute('data-link')) ?? ''
    return [
      '/',
      session,
      `${session}/compaction/1`,
      `${session}/compaction/1?tab=words`,
      `${session}/compaction/1?tab=restored`,
      `${session}/compaction/1?tab=everlong`,
      `${session}?find=table&at=2`,
      '/?everywhere=orders',
      '/session/0123456789abcdef',
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
